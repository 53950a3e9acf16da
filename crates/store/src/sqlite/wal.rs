//! Whether the write-ahead log ends in the middle of a write.
//!
//! SQLite reads the log up to the last commit whose checksums fit, and leaves out the rest without a word: right
//! after a crash, and wrong if the log was damaged. So the rest is looked for here, and the user is told.
//! Layout: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const HEAD: usize = 32;
const FRAME: usize = 24;

/// Checksums of the log: two sums over words of four bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sums(u32, u32);

impl Sums {
    fn add(self, bytes: &[u8], big: bool) -> Self {
        let word = |four: &[u8]| {
            let mut word = [0; 4];
            word.copy_from_slice(four);
            if big {
                u32::from_be_bytes(word)
            } else {
                u32::from_le_bytes(word)
            }
        };
        let Self(mut a, mut b) = self;
        for pair in bytes.chunks_exact(8) {
            a = a.wrapping_add(word(&pair[..4])).wrapping_add(b);
            b = b.wrapping_add(word(&pair[4..])).wrapping_add(a);
        }
        Self(a, b)
    }
}

fn word(bytes: &[u8], place: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[4 * place..4 * place + 4]);
    u32::from_be_bytes(word)
}

/// Whether there is something after the last complete write that belongs to this log and not to an earlier
/// one in the same file.
pub(super) fn remains(wal: &Path) -> bool {
    File::open(wal).is_ok_and(|file| remains_in(&mut BufReader::new(file)))
}

fn remains_in(file: &mut impl Read) -> bool {
    let head = part(file, HEAD);
    if head.len() < HEAD {
        return !head.is_empty();
    }
    let big = word(&head, 0) & 1 == 1;
    let mut sums = Sums(0, 0).add(&head[..24], big);
    if sums != Sums(word(&head, 6), word(&head, 7)) {
        return true;
    }
    let size = usize::try_from(word(&head, 2)).unwrap_or(0).min(1 << 16);
    let (mut valid, mut open) = (true, false);
    loop {
        let frame = part(file, FRAME);
        if frame.is_empty() {
            return open;
        }
        let page = part(file, size);
        if frame.len() < FRAME || page.len() < size {
            return true;
        }
        let ours = [2, 3].map(|place| word(&frame, place) == word(&head, place + 2));
        if valid && ours == [true, true] {
            sums = sums.add(&frame[..8], big).add(&page, big);
            if sums == Sums(word(&frame, 4), word(&frame, 5)) {
                // A frame that commits says how long the file is then.
                open = word(&frame, 1) == 0;
                continue;
            }
        }
        valid = false;
        // Frames of an earlier log have other marks, both of them.
        if ours != [false, false] {
            return true;
        }
    }
}

/// So many bytes, or fewer where the file ends.
fn part(file: &mut impl Read, bytes: usize) -> Vec<u8> {
    let mut part = Vec::with_capacity(bytes);
    let read = file.take(bytes as u64).read_to_end(&mut part);
    read.map_or_else(|_| Vec::new(), |_| part)
}
