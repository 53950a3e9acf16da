//! Candidates that teach nothing, or nothing that another does not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};

use super::say::Notes;
use super::source::Listed;

/// Tables beyond this are not searched for repeated rows.
const SEARCHED: usize = 200_000;

/// Candidates with repeated rows left out.
#[derive(Debug)]
pub(super) struct Tidy<'a> {
    /// Embeddings, row-major.
    pub(super) rows: Cow<'a, [f64]>,
    /// Rows of the file that are kept, where some are not.
    kept: Option<Vec<usize>>,
}

impl<'a> Tidy<'a> {
    /// Leaves out repeated rows, unless they are different logs, with capacities or costs of their
    /// own, or somebody asked for them.
    pub(super) fn new(
        rows: Cow<'a, [f64]>,
        k: usize,
        listed: &Listed,
        has_costs: bool,
        notes: &mut Notes,
    ) -> Self {
        tell_of_zeros(&rows, k, notes);
        let distinct = has_costs || listed.capacities.is_some();
        if distinct || rows.len() / k > SEARCHED {
            return Self { rows, kept: None };
        }
        let mut asked = vec![false; rows.len() / k];
        for &row in listed.required.iter().chain(&listed.forbidden) {
            asked[row] = true;
        }
        let hasher = std::collections::hash_map::RandomState::new();
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut kept = Vec::new();
        let mut first: Option<(usize, usize)> = None;
        for (index, row) in rows.chunks_exact(k).enumerate() {
            let mut hash = hasher.build_hasher();
            // A zero less than zero is zero.
            row.iter()
                .for_each(|value| hash.write_u64((value + 0.0).to_bits()));
            let hash = hash.finish();
            let earlier = seen.get(&hash).copied();
            let earlier = earlier.filter(|&other| equal(&rows[other * k..(other + 1) * k], row));
            match earlier {
                Some(earlier) if !asked[index] => first = first.or(Some((index, earlier))),
                _ => {
                    kept.push(index);
                    // A forbidden row must not stand for one that is allowed.
                    if !asked[index] || listed.required.contains(&index) {
                        seen.entry(hash).or_insert(index);
                    }
                }
            }
        }
        let Some((row, earlier)) = first else {
            return Self { rows, kept: None };
        };
        notes.add(format!(
            "{} left out; the first is row {row}, which repeats row {earlier} (rows count from 0)",
            counted(
                rows.len() / k - kept.len(),
                "candidate repeats an earlier one and is",
                "candidates repeat an earlier one and are"
            )
        ));
        let fewer: Vec<f64> = kept
            .iter()
            .flat_map(|&row| &rows[row * k..(row + 1) * k])
            .copied()
            .collect();
        Self {
            rows: Cow::Owned(fewer),
            kept: Some(kept),
        }
    }

    /// The row of the file that a candidate stands for.
    pub(super) fn in_file(&self, index: usize) -> usize {
        self.kept.as_ref().map_or(index, |kept| kept[index])
    }

    /// The candidates that rows of the file have become; all of them are kept.
    pub(super) fn of_file(&self, rows: &[usize]) -> Vec<usize> {
        match &self.kept {
            None => rows.to_vec(),
            Some(kept) => rows
                .iter()
                .filter_map(|row| kept.binary_search(row).ok())
                .collect(),
        }
    }
}

fn is_zero(row: &[f64]) -> bool {
    row.iter().all(|value| value.abs() < f64::MIN_POSITIVE)
}

fn equal(left: &[f64], right: &[f64]) -> bool {
    let bits = |value: &f64| (value + 0.0).to_bits();
    left.iter().map(bits).eq(right.iter().map(bits))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Says which candidates are nothing but zeros.
fn tell_of_zeros(rows: &[f64], k: usize, notes: &mut Notes) {
    let zeros = rows.chunks_exact(k).filter(|row| is_zero(row)).count();
    if zeros > 0 {
        let first = rows.chunks_exact(k).position(is_zero).unwrap_or(0);
        notes.add(format!(
            "{} nothing but zeros, which give no information; the first is row {first} (rows count from 0)",
            counted(zeros, "candidate has", "candidates have")
        ));
    }
}
