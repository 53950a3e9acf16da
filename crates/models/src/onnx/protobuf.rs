//! The few bytes of Protocol Buffers that an ONNX file needs: numbers, bytes, nested messages.
//!
//! A field is a key, `number << 3 | kind`, and its value: kind 0 a variable-length integer, kind 2 a
//! length and so many bytes (text, tensors, messages). See
//! <https://protobuf.dev/programming-guides/encoding/>.

/// A message under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Adds an integer.
    #[must_use]
    pub(super) fn integer(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// Adds bytes.
    #[must_use]
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// Adds text.
    #[must_use]
    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    #[must_use]
    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// Adds several messages under one number.
    #[must_use]
    pub(super) fn messages(self, field: u32, messages: &[Self]) -> Self {
        messages
            .iter()
            .fold(self, |all, message| all.message(field, message))
    }

    /// The bytes of the whole.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits a byte, the lowest first; the top bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own documentation.
    #[test]
    fn known_messages_have_known_bytes() {
        let a = Message::default().integer(1, 150);
        assert_eq!(a.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let b = Message::default().text(2, "testing");
        assert_eq!(b.into_bytes(), b"\x12\x07testing");
        let c = Message::default().message(3, &a);
        assert_eq!(c.into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let most = Message::default().integer(1, u64::MAX).into_bytes();
        assert_eq!(most.len(), 11);
        assert_eq!(most.last(), Some(&1));
    }
}
