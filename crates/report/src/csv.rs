//! The little CSV that results tables need: RFC 4180 quoting, with line numbers kept for errors.

use crate::error::{Error, Result};

/// One record and the line it starts on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Record {
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

/// Appends one record, quoting the cells that need it.
pub(crate) fn push_record(text: &mut String, cells: &[String]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let special = cell.contains([',', '"', '\n', '\r']) || cell.trim().len() != cell.len();
        if special {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(cell);
        }
    }
    text.push('\n');
}

/// Splits a text into records; blank lines are skipped.
pub(crate) fn parse(text: &str, table: &str) -> Result<Vec<Record>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser {
        line: 1,
        record: Record {
            line: 1,
            cells: Vec::new(),
        },
        cell: String::new(),
        records: Vec::new(),
    };
    let mut chars = text.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '"' if parser.cell.is_empty() => parser.quoted(&mut chars, table)?,
            ',' => parser.end_cell(),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => parser.end_record(),
            other => parser.cell.push(other),
        }
    }
    parser.end_record();
    Ok(parser.records)
}

struct Parser {
    line: usize,
    record: Record,
    cell: String,
    records: Vec<Record>,
}

impl Parser {
    /// Reads the rest of a quoted cell, the opening quote being gone.
    fn quoted(
        &mut self,
        chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
        table: &str,
    ) -> Result<()> {
        let start = self.line;
        while let Some(next) = chars.next() {
            match next {
                '"' if chars.peek() == Some(&'"') => {
                    chars.next();
                    self.cell.push('"');
                }
                '"' => return self.after_quote(chars.peek().copied(), table),
                other => {
                    self.line += usize::from(other == '\n');
                    self.cell.push(other);
                }
            }
        }
        Err(self.error(table, start, "the quotation mark is never closed"))
    }

    fn after_quote(&self, next: Option<char>, table: &str) -> Result<()> {
        match next {
            None | Some(',' | '\n' | '\r') => Ok(()),
            Some(_) => Err(self.error(
                table,
                self.line,
                "text follows the closing quotation mark; double the marks inside a cell",
            )),
        }
    }

    fn error(&self, table: &str, line: usize, problem: &str) -> Error {
        Error::Csv {
            table: table.to_owned(),
            line,
            column: (self.record.cells.len() + 1).to_string(),
            problem: problem.to_owned(),
        }
    }

    fn end_cell(&mut self) {
        self.record.cells.push(std::mem::take(&mut self.cell));
    }

    fn end_record(&mut self) {
        if !self.cell.is_empty() || !self.record.cells.is_empty() {
            self.end_cell();
            self.records.push(std::mem::take(&mut self.record));
        }
        self.line += 1;
        self.record.line = self.line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        let records = parse(text, "t").unwrap();
        records.into_iter().map(|record| record.cells).collect()
    }

    #[test]
    fn reads_quotes_line_ends_and_marks() {
        assert_eq!(
            cells("\u{feff}a,b\r\n\"x,\"\"y\"\"\",\"1\n2\"\n\n,\n"),
            [vec!["a", "b"], vec!["x,\"y\"", "1\n2"], vec!["", ""]]
        );
    }

    #[test]
    fn keeps_line_numbers_past_quoted_newlines() {
        let records = parse("a\n\"x\ny\"\n\nz", "t").unwrap();
        let lines: Vec<_> = records.iter().map(|record| record.line).collect();
        assert_eq!(lines, [1, 2, 5]);
    }

    #[test]
    fn refuses_broken_quotes() {
        let open = parse("a,b\nc,\"d\n", "t").unwrap_err().to_string();
        assert_eq!(
            open,
            "t, line 2, column `2`: the quotation mark is never closed"
        );
        let after = parse("\"d\"e", "t").unwrap_err().to_string();
        assert!(after.contains("line 1, column `1`: text follows"));
    }
}
