//! Measured rows as compact bytes: columns instead of rows, the bytes of the numbers sorted by their place,
//! then compressed.
//!
//! Numbers of one column are alike: their signs, exponents and leading digits repeat. Put side by side (all
//! first bytes, then all second bytes, …) they compress several times better and faster than row by row. Every
//! bit comes back, that of −0.0 too. A chunk holds at most [`CHUNK`] rows, so that reading needs little memory.
//!
//! ```
//! use taskscout_store::rows;
//!
//! let chunks = rows::encode(&[1.0, 0.5, 2.0, -0.0], 2, &[0.1, 0.2], 1)?;
//! let back = rows::decode(&chunks[0])?;
//! assert_eq!(back.x, [1.0, 0.5, 2.0, -0.0]);
//! assert_eq!((back.inputs, back.y), (2, vec![0.1, 0.2]));
//! # Ok::<(), taskscout_store::Error>(())
//! ```

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Rows that a chunk has at most.
pub const CHUNK: usize = 65_536;

/// What a chunk begins with: the letters, the version of the layout, and the shape.
const HEAD: usize = 4 + 12;
const MARK: [u8; 4] = *b"tsr\x01";

/// Numbers of a row that are possible at most, so that a wrong head asks for no memory.
const WIDEST: usize = 1 << 20;

/// Bytes of a number.
const WORD: usize = 8;

/// Rows that were measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Inputs, row by row.
    pub x: Vec<f64>,
    /// Inputs of a row.
    pub inputs: usize,
    /// Outputs, row by row.
    pub y: Vec<f64>,
    /// Outputs of a row.
    pub outputs: usize,
}

/// Rows (`x` and `y` row by row) as chunks, which come back in the same order.
///
/// # Errors
/// Numbers that make no whole rows.
pub fn encode(x: &[f64], inputs: usize, y: &[f64], outputs: usize) -> Result<Vec<Vec<u8>>> {
    let rows = whole(x.len(), inputs, "inputs")?;
    let others = whole(y.len(), outputs, "outputs")?;
    let (rows, others) = match (inputs, outputs) {
        (0, _) => (others, others),
        (_, 0) => (rows, rows),
        _ => (rows, others),
    };
    if rows != others {
        return Err(Error::Invalid(format!(
            "there are inputs of {rows} rows and outputs of {others}: give both of every row"
        )));
    }
    if inputs + outputs > WIDEST {
        return Err(Error::Invalid(format!(
            "a row has {} numbers, and {WIDEST} fit: split the columns",
            inputs + outputs
        )));
    }
    let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
    let chunk = |&start: &usize| {
        let end = rows.min(start + CHUNK);
        let (x, y) = (
            &x[start * inputs..end * inputs],
            &y[start * outputs..end * outputs],
        );
        encode_chunk(end - start, (x, inputs), (y, outputs))
    };
    starts.par_iter().map(chunk).collect()
}

fn whole(numbers: usize, width: usize, what: &str) -> Result<usize> {
    match width {
        0 if numbers == 0 => Ok(0),
        0 => Err(Error::Invalid(format!(
            "there are {numbers} {what} in rows of none"
        ))),
        _ if numbers.is_multiple_of(width) => Ok(numbers / width),
        _ => Err(Error::Invalid(format!(
            "{numbers} {what} make no whole rows of {width}: a row is incomplete"
        ))),
    }
}

fn encode_chunk(rows: usize, x: (&[f64], usize), y: (&[f64], usize)) -> Result<Vec<u8>> {
    let columns = x.1 + y.1;
    let mut plain = vec![0_u8; rows * columns * WORD];
    let mut places = plain.chunks_exact_mut((rows * WORD).max(1));
    for (numbers, width) in [x, y] {
        for (column, bytes) in (0..width).zip(&mut places) {
            shuffle(numbers, width, column, bytes);
        }
    }
    let mut out = MARK.to_vec();
    for size in [rows, x.1, y.1] {
        out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    }
    let compressed = zstd::bulk::compress(&plain, 1);
    out.extend(
        compressed
            .map_err(|error| Error::Invalid(format!("rows cannot be compressed: {error}")))?,
    );
    Ok(out)
}

/// One column, the first bytes of all its numbers first.
fn shuffle(numbers: &[f64], width: usize, column: usize, bytes: &mut [u8]) {
    let rows = bytes.len() / WORD;
    let (b0, rest) = bytes.split_at_mut(rows);
    let (b1, rest) = rest.split_at_mut(rows);
    let (b2, rest) = rest.split_at_mut(rows);
    let (b3, rest) = rest.split_at_mut(rows);
    let (b4, rest) = rest.split_at_mut(rows);
    let (b5, rest) = rest.split_at_mut(rows);
    let (b6, b7) = rest.split_at_mut(rows);
    let values = numbers[column..].iter().step_by(width);
    for (row, value) in values.enumerate() {
        let word = value.to_le_bytes();
        b0[row] = word[0];
        b1[row] = word[1];
        b2[row] = word[2];
        b3[row] = word[3];
        b4[row] = word[4];
        b5[row] = word[5];
        b6[row] = word[6];
        b7[row] = word[7];
    }
}

/// The rows of one chunk.
///
/// # Errors
/// Bytes that are no chunk, or one of a newer version.
pub fn decode(chunk: &[u8]) -> Result<Table> {
    let damaged = |problem: &str| Error::Damaged {
        place: "a chunk of rows".into(),
        problem: problem.into(),
        remedy: "restore the database from a copy".into(),
    };
    let Some((head, compressed)) = chunk.split_at_checked(HEAD) else {
        return Err(damaged("it is too short"));
    };
    if head[..3] != MARK[..3] {
        return Err(damaged("it does not begin as one does"));
    }
    if head[3] != MARK[3] {
        return Err(Error::Newer {
            place: "a chunk of rows".into(),
            found: i64::from(head[3]),
            known: i64::from(MARK[3]),
        });
    }
    let size = |place: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&head[4 + 4 * place..8 + 4 * place]);
        usize::try_from(u32::from_le_bytes(word)).unwrap_or(usize::MAX)
    };
    let (rows, inputs, outputs) = (size(0), size(1), size(2));
    if rows > CHUNK || inputs > WIDEST || outputs > WIDEST {
        return Err(damaged("its shape is impossible"));
    }
    let length = rows * (inputs + outputs) * WORD;
    // The frame says how much it holds: no memory is asked for on the word of a wrong head.
    let said = zstd::bulk::Decompressor::upper_bound(compressed);
    if said != Some(length) {
        return Err(damaged("its length does not fit to its shape"));
    }
    let plain = zstd::bulk::decompress(compressed, length);
    let plain = plain.map_err(|_| damaged("it cannot be decompressed"))?;
    if plain.len() != length {
        return Err(damaged("it does not have the numbers that it should"));
    }
    let (x, y) = plain.split_at(rows * inputs * WORD);
    Ok(Table {
        x: unshuffle(x, rows, inputs),
        inputs,
        y: unshuffle(y, rows, outputs),
        outputs,
    })
}

fn unshuffle(bytes: &[u8], rows: usize, width: usize) -> Vec<f64> {
    let mut numbers = vec![0.0; rows * width];
    for (column, part) in bytes.chunks_exact((rows * WORD).max(1)).enumerate() {
        let planes: Vec<&[u8]> = part.chunks_exact(rows).collect();
        for row in 0..rows {
            let mut word = [0; WORD];
            for (byte, plane) in word.iter_mut().zip(&planes) {
                *byte = plane[row];
            }
            numbers[row * width + column] = f64::from_le_bytes(word);
        }
    }
    numbers
}
