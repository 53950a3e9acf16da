//! Figures on the page: drawn for a desk and for a phone, with their numbers and pictures to take along.

use maud::{Markup, PreEscaped, html};
use taskscout_plot::{LinePlot, Numbers, Theme};

use super::parts::tied;
use crate::additions::{Drawing, NARROW};

/// Whether pictures can be taken along too; they make a page longer by a third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pictures {
    Offered,
    InFolders,
    /// Nor are figures other than curves drawn for phones, where they can be moved sideways instead.
    Lean,
    /// Every figure is drawn once.
    Once,
}

/// Bytes of numbers or a picture that a page holds for taking along.
const LONGEST: usize = 40_000;

/// Whatever can be drawn.
pub(super) trait Draw {
    fn wide(&self, theme: Theme, id: &str) -> String;
    fn narrow(&self, theme: Theme, id: &str) -> Option<String>;
    fn table(&self) -> Numbers;
    /// Whether it is drawn for phones on the longest pages too.
    fn always_narrow(&self) -> bool {
        false
    }
}

impl Draw for Drawing {
    fn wide(&self, theme: Theme, id: &str) -> String {
        self.to_svg(theme, id)
    }

    fn narrow(&self, theme: Theme, id: &str) -> Option<String> {
        self.to_narrow_svg(theme, id)
    }

    fn table(&self) -> Numbers {
        self.numbers()
    }
}

impl Draw for LinePlot {
    fn wide(&self, theme: Theme, id: &str) -> String {
        self.to_svg(theme, id)
    }

    fn narrow(&self, theme: Theme, id: &str) -> Option<String> {
        let narrow = Self {
            width: NARROW,
            height: 340.0,
            ..self.clone()
        };
        Some(narrow.to_svg(theme, id))
    }

    fn always_narrow(&self) -> bool {
        true
    }

    fn table(&self) -> Numbers {
        self.numbers()
    }
}

/// A figure with its caption and the way to its numbers; `id` keeps it apart from others, `name` is that of its files.
pub(super) fn figure(
    drawn: &dyn Draw,
    (id, name): (&str, &str),
    caption: &str,
    pictures: Pictures,
) -> Markup {
    let wide = drawn.wide(Theme::Page, id);
    let narrow = match pictures {
        Pictures::Once => None,
        Pictures::Lean if !drawn.always_narrow() => None,
        _ => drawn.narrow(Theme::Phone, &format!("{id}-narrow")),
    };
    let picture = match pictures {
        Pictures::Offered => Some(drawn.wide(Theme::Standalone, name)),
        Pictures::InFolders | Pictures::Lean | Pictures::Once => None,
    };
    html! {
        figure {
            @match &narrow {
                Some(narrow) => {
                    div.wide { div.scroll tabindex="0" { (PreEscaped(&wide)) } }
                    div.narrow { (PreEscaped(narrow)) }
                }
                None => { div.scroll tabindex="0" { (PreEscaped(&wide)) } }
            }
            figcaption { (tied(caption)) }
            (downloads(name, &drawn.table(), picture.as_deref()))
        }
        "\n"
    }
}

/// Links to numbers, and to a picture if there is one, without any request. What is long would make the page slow.
pub(super) fn downloads(name: &str, numbers: &Numbers, picture: Option<&str>) -> Markup {
    let table = numbers.to_short_csv();
    html! {
        p.data {
            "Take along: "
            @if table.len() <= LONGEST {
                a download={ (name) ".csv" } href=(address("text/csv", &table)) { (name) ".csv" }
            } @else {
                (name) ".csv has " (numbers.rows.len()) " rows; "
                code { "taskscout report … --figures DIR" } " writes it"
            }
            @if let Some(picture) = picture.filter(|picture| picture.len() <= LONGEST) {
                " · "
                a download={ (name) ".svg" } href=(address("image/svg+xml", picture)) { (name) ".svg" }
            }
        }
        "\n"
    }
}

/// Numbers as a table to download; markup.
#[must_use]
pub fn csv_link(name: &str, numbers: &Numbers) -> Markup {
    downloads(name, numbers, None)
}

/// A text as an address.
fn address(kind: &str, text: &str) -> String {
    let mut address = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => address.push(char::from(byte)),
            b'-' | b'_' | b'.' | b',' | b'=' | b'/' | b':' | b';' | b'(' | b')' => {
                address.push(char::from(byte));
            }
            other => address += &format!("%{other:02X}"),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_left_to_files() {
        let numbers = Numbers {
            head: vec!["a".to_owned()],
            rows: vec![vec!["0.123456789".to_owned()]; 9000],
        };
        let said = csv_link("t", &numbers).into_string();
        assert!(
            said.contains("t.csv has 9000 rows") && said.len() < 300,
            "{said}"
        );
    }

    #[test]
    fn numbers_can_be_taken_along() {
        let numbers = Numbers {
            head: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec!["1".to_owned(), "x, \"<y>\"".to_owned()]],
        };
        let link = csv_link("<t>", &numbers).into_string();
        let wanted =
            "href=\"data:text/csv;charset=utf-8,a,b%0A1,%22x,%20%22%22%3Cy%3E%22%22%22%0A\"";
        assert!(link.contains(wanted), "{link}");
        assert!(link.contains("download=\"&lt;t&gt;.csv\""), "{link}");
    }
}
