//! Options whose values have names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads what is chosen by name among some that are known.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible(all, name, about)).try_map(move |given| {
        let known = all.iter().find(|&&value| name(value) == given);
        known.copied().ok_or("is not among them")
    })
}

/// Names with a few words on each, for the help.
pub(crate) fn possible<T: Copy>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> impl Iterator<Item = PossibleValue> {
    all.iter()
        .map(move |&value| PossibleValue::new(name(value)).help(about(value)))
}
