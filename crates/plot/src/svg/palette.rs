//! Colours, dashes and markers by strategy.
//!
//! The colours are Okabe and Ito's (2008), which colour-blind readers can tell apart, without their
//! yellow, which does not show on white, and with a dark purple as the eighth. A strategy has the same look in every plot; a save-task
//! variant has its strategy's colour and marker shape, hollow and with another dash. Dashes and
//! markers differ as well, so that plots survive a black-and-white printer.

use super::Theme;

/// What follows the name of a line that shows what no contender can reach. The line looks as its
/// name without this does, and its end is marked without this.
pub const OUT_OF_REACH: &str = " (out of reach)";

/// The name of a line at the loss of a design that knows the true task map, `B`, from the start. Its end is marked
/// `floor`.
pub const FLOOR: &str = "floor: design that knows B";

/// The suffix of the names of save-task variants.
const SAVE_TASK: &str = "+save-task";

/// Colours on white paper; the HTML page has its own for dark mode.
const COLOURS: [&str; 8] = [
    "#4d4d4d", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a",
];

const DASHES: [&str; 8] = [
    "9 4",
    "",
    "12 3 3 3",
    "5 3",
    "3 3",
    "12 3 3 3 3 3",
    "2 3",
    "16 4",
];

const MARKERS: [Marker; 8] = [
    Marker::Square,
    Marker::Circle,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Down,
    Marker::Cross,
    Marker::Plus,
    Marker::Star,
];

/// Strategies that always look the same, by palette entry.
const KNOWN: [(&str, usize); 10] = [
    ("passive", 0),
    ("aware", 1),
    ("agnostic", 2),
    ("discrete-l1", 3),
    ("discrete-l2", 4),
    ("target-only", 5),
    ("passive-fixed", 6),
    ("target-data", 7),
    ("oracle", 7),
    (FLOOR, 7),
];

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Square,
    Circle,
    Triangle,
    Diamond,
    Down,
    Cross,
    Plus,
    Star,
}

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: usize,
    pub(crate) dash: &'static str,
    pub(crate) marker: Marker,
    pub(crate) hollow: bool,
}

/// A style for each name: fixed for known strategies, else whatever is still free.
pub(crate) fn styles(names: &[&str]) -> Vec<Style> {
    let known = |name: &str| {
        let base = name.strip_suffix(OUT_OF_REACH).unwrap_or(name);
        let base = base.strip_suffix(SAVE_TASK).unwrap_or(base);
        KNOWN.iter().find(|(own, _)| *own == base).map(|own| own.1)
    };
    let taken: Vec<usize> = names.iter().filter_map(|name| known(name)).collect();
    let free = (0..COLOURS.len()).filter(|entry| !taken.contains(entry));
    // Once every colour is taken they come again, with the dash and marker of another entry.
    let mut spare = free
        .map(|entry| (entry, 0))
        .chain((1..COLOURS.len()).flat_map(|shift| (0..COLOURS.len()).map(move |e| (e, shift))));
    names
        .iter()
        .map(|name| {
            let (entry, shift) = match known(name) {
                Some(entry) => (entry, 0),
                None => spare.next().unwrap_or_default(),
            };
            style(entry, shift, name.ends_with(SAVE_TASK))
        })
        .collect()
}

fn style(entry: usize, shift: usize, save_task: bool) -> Style {
    let other = (entry + shift) % COLOURS.len();
    Style {
        colour: entry,
        dash: if save_task { "1.5 4" } else { DASHES[other] },
        marker: MARKERS[other],
        hollow: save_task,
    }
}

/// The colour of a group by its place: strong colours first, grey last, then from the start again.
pub(crate) fn group_paint(place: usize) -> Paint {
    Paint::Series((place + 1) % COLOURS.len())
}

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Ink,
    Muted,
    Grid,
    Surface,
    Series(usize),
}

impl Paint {
    /// What it is called in the classes of a page.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Ink => 'i',
            Self::Muted => 'm',
            Self::Grid => 'g',
            Self::Surface => 's',
            Self::Series(entry) => char::from(b'0' + (entry % COLOURS.len()) as u8),
        }
    }

    /// The colour as an attribute's value: a CSS variable of the page, or the colour itself.
    pub(crate) fn attribute(self, theme: Theme) -> String {
        let (name, colour) = match self {
            Self::Ink => ("ink".to_owned(), "#1c2126"),
            Self::Muted => ("muted".to_owned(), "#59636e"),
            Self::Grid => ("grid".to_owned(), "#dfe3e8"),
            Self::Surface => ("surface".to_owned(), "#ffffff"),
            Self::Series(entry) => (format!("c{entry}"), COLOURS[entry % COLOURS.len()]),
        };
        match theme {
            Theme::Page | Theme::Phone => format!("var(--ts-{name}, {colour})"),
            Theme::Standalone => colour.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_strategies_keep_their_look() {
        let alone = styles(&["aware"]);
        let among = styles(&["mine", "passive", "aware", "yours"]);
        assert_eq!(alone[0], among[2]);
        let colours: Vec<usize> = among.iter().map(|style| style.colour).collect();
        assert_eq!(colours, [2, 0, 1, 3]);
    }

    #[test]
    fn save_task_shares_the_colour_but_not_the_line() {
        let both = styles(&["aware", "aware+save-task"]);
        assert_eq!(both[0].colour, both[1].colour);
        assert!(both[1].hollow && both[0].dash != both[1].dash);
    }

    #[test]
    fn more_names_than_colours_still_look_different() {
        let names: Vec<String> = (0..20).map(|index| format!("s{index}")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("passive");
        let styles = styles(&names);
        for (index, style) in styles.iter().enumerate() {
            assert!(!styles[..index].contains(style), "{index}");
        }
    }
}
