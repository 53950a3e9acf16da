//! The functions of expressions.

use taskscout_io::tables::nearest_name;

use super::Problem;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Sin,
    Cos,
    Tan,
    Sqrt,
    Abs,
    Exp,
    Log,
    Norm,
    Sum,
    Min,
    Max,
    Next,
    Diff,
}

/// All functions by their names.
const NAMES: [(&str, Function); 13] = [
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("sqrt", Function::Sqrt),
    ("abs", Function::Abs),
    ("exp", Function::Exp),
    ("log", Function::Log),
    ("norm", Function::Norm),
    ("sum", Function::Sum),
    ("min", Function::Min),
    ("max", Function::Max),
    ("next", Function::Next),
    ("diff", Function::Diff),
];

impl Function {
    /// The function of a name that stands at a byte.
    pub(super) fn named(name: &str, at: usize) -> Result<Self, Problem> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, function)| *function).ok_or_else(|| {
            let names = NAMES.map(|(name, _)| name);
            let meant = match nearest_name(name, &names) {
                Some(meant) => format!(" (did you mean `{meant}`?)"),
                None => String::new(),
            };
            let problem = format!(
                "there is no function `{name}`{meant}: the functions are {}",
                names.join(", ")
            );
            Problem::new(at, problem)
        })
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        let known = NAMES.iter().find(|(_, function)| *function == self);
        known.map_or("", |(name, _)| *name)
    }

    /// Whether it may have several arguments.
    pub(super) fn takes_several(self) -> bool {
        matches!(self, Self::Norm | Self::Sum | Self::Min | Self::Max)
    }

    /// How many rows it looks ahead.
    pub(super) fn lookahead(self) -> usize {
        usize::from(matches!(self, Self::Next | Self::Diff))
    }

    /// Its value for a number, if it takes one number to one.
    pub(super) fn of_number(self) -> Option<fn(f64) -> f64> {
        Some(match self {
            Self::Sin => f64::sin,
            Self::Cos => f64::cos,
            Self::Tan => f64::tan,
            Self::Sqrt => f64::sqrt,
            Self::Abs => f64::abs,
            Self::Exp => f64::exp,
            Self::Log => f64::ln,
            _ => return None,
        })
    }
}
