//! A log read from its beginning to its end, a block at a time.

use std::io::{self, Read};

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Bytes of a file, of which only a block is in memory.
#[derive(Debug)]
pub(super) struct Stream<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where what is not yet consumed begins and ends in the buffer.
    start: usize,
    end: usize,
    /// Bytes consumed so far.
    position: u64,
}

impl<R: Read> Stream<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            buffer: vec![0; BLOCK],
            start: 0,
            end: 0,
            position: 0,
        }
    }

    /// Bytes consumed so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// What comes next, at least so many bytes of it unless the file ends before; at most a block is ever asked for.
    #[inline]
    pub(super) fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.end - self.start < bytes {
            self.fill(bytes)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Goes on behind so many bytes that were seen.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.end - self.start);
        self.start += bytes;
        self.position += bytes as u64;
    }

    #[cold]
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < bytes.min(self.buffer.len()) {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(()),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_once_whatever_is_asked() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 17)
            .map(|index| (index % 251) as u8)
            .collect();
        let mut stream = Stream::new(bytes.as_slice());
        let mut seen = Vec::new();
        let mut step = 1;
        loop {
            let next = stream.peek(step).unwrap();
            let taken = next.len().min(step);
            if taken == 0 {
                break;
            }
            seen.extend_from_slice(&next[..taken]);
            stream.consume(taken);
            step = (step * 7 + 3) % 70_000 + 1;
        }
        assert!(seen == bytes && stream.position() == bytes.len() as u64);
    }
}
