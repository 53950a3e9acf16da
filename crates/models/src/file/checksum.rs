//! A checksum of what a file holds, so that a flipped bit in a weight does not go unnoticed.
//!
//! It is taken of the content and not of the bytes of the file: metadata by their keys and tensors by
//! their names. A file that another library has written again, with its header in another order, is
//! still the same model. FNV-1a with 64 bits notices every change of a single byte for certain, since
//! each step is a bijection of the state (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>).

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A checksum under construction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(OFFSET)
    }
}

impl Checksum {
    /// Adds an entry of the metadata; entries come in the order of their keys.
    pub(super) fn entry(&mut self, key: &str, text: &str) {
        self.block(key.as_bytes());
        self.block(text.as_bytes());
    }

    /// Adds a tensor; tensors come in the order of their names.
    pub(super) fn tensor(&mut self, name: &str, kind: &str, shape: &[usize]) {
        self.block(name.as_bytes());
        self.block(kind.as_bytes());
        self.number(shape.len() as u64);
        for &size in shape {
            self.number(size as u64);
        }
    }

    /// Adds bytes of the tensor that was added last.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// The checksum as a file has it.
    pub(super) fn text(self) -> String {
        format!("fnv1a64:{:016x}", self.0)
    }

    /// Bytes with their number, so that the end of one block is not the beginning of the next.
    fn block(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes(bytes);
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the authors of the function give.
    #[test]
    fn known_texts_have_known_checksums() {
        for (text, expected) in [
            ("", "fnv1a64:cbf29ce484222325"),
            ("a", "fnv1a64:af63dc4c8601ec8c"),
            ("foobar", "fnv1a64:85944171f73967e8"),
        ] {
            let mut checksum = Checksum::default();
            checksum.bytes(text.as_bytes());
            assert_eq!(checksum.text(), expected);
        }
    }
}
