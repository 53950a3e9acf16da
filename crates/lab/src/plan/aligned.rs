//! Tables for the terminal.

use std::fmt::Write as _;

use taskscout_io::tables::visible;

/// Cells in columns: numbers to the right, the first names and the last words to the left.
#[must_use]
pub fn aligned(lines: &[Vec<String>]) -> String {
    let shown = |line: &Vec<String>| line.iter().map(|cell| visible(cell).into_owned()).collect();
    let lines: Vec<Vec<String>> = lines.iter().map(shown).collect();
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (column, cell) in line.iter().enumerate() {
            let pad = widths[column] - cell.chars().count();
            let gap = if column == 0 { "" } else { "  " };
            let _ = if column == 1 {
                write!(text, "{gap}{cell}{:pad$}", "")
            } else if column + 1 == columns {
                write!(text, "{gap}{cell}")
            } else {
                write!(text, "{gap}{:pad$}{cell}", "")
            };
        }
        text.push('\n');
    }
    text
}
