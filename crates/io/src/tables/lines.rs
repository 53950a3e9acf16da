//! Where rows stand in their file, at a cost only where the file is irregular.

/// The line of each row: after an entry `(row, line)`, rows and lines advance together.
///
/// A regular file needs one entry, whatever its length; every blank line, comment or cell of several
/// lines adds one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lines {
    breaks: Vec<(usize, usize)>,
}

impl Lines {
    /// Notes the line of a row; rows come in order.
    pub(crate) fn push(&mut self, row: usize, line: usize) {
        let expected = self.breaks.last().map(|&(start, at)| at + (row - start));
        if expected != Some(line) {
            self.breaks.push((row, line));
        }
    }

    /// The line of a row, if any row up to it has been noted.
    pub(crate) fn of(&self, row: usize) -> Option<usize> {
        let after = self.breaks.partition_point(|&(start, _)| start <= row);
        let (start, line) = *self.breaks.get(after.checked_sub(1)?)?;
        Some(line + (row - start))
    }

    /// Appends the lines of the next part of the file, which counts its rows and lines from 0.
    pub(crate) fn append(&mut self, part: &Lines, rows_before: usize, lines_before: usize) {
        for &(row, line) in &part.breaks {
            self.push(rows_before + row, lines_before + line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_rows_need_one_entry() {
        let mut lines = Lines::default();
        for row in 0..1000 {
            lines.push(row, row + 2);
        }
        assert_eq!(lines.breaks, [(0, 2)]);
        assert_eq!(lines.of(15), Some(17));
    }

    #[test]
    fn gaps_and_parts_are_kept() {
        let mut part = Lines::default();
        for (row, line) in [(0, 0), (1, 3), (2, 4)] {
            part.push(row, line);
        }
        let mut lines = Lines::default();
        lines.append(&part, 0, 2);
        lines.append(&part, 3, 7);
        let found: Vec<_> = (0..6).filter_map(|row| lines.of(row)).collect();
        assert_eq!(found, [2, 5, 6, 7, 10, 11]);
        assert_eq!(lines.breaks.len(), 3);
        assert_eq!(Lines::default().of(0), None);
    }
}
