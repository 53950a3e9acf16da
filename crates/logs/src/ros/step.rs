//! Steps through the bytes of a message.

use super::cursor::{Cursor, Short};
use super::definition::{Kind, Primitive};
use super::layout::{Context, MOST_ELEMENTS};
use crate::series_builder::{Place, SeriesBuilder};

/// A step through the bytes of a message.
#[derive(Debug)]
pub(super) enum Step {
    Number(Primitive, Place),
    /// As many as there are places.
    Numbers(Primitive, Vec<Option<Place>>),
    SkipNumbers(Primitive, usize),
    SkipText,
    SkipWideText,
    /// One after the other.
    All(Vec<Step>),
    /// The same so many times.
    Skip(Box<Step>, usize),
    SkipSequence(Box<Step>),
    /// Numbers, with the places of those seen so far.
    NumberSequence(Lengths, Primitive, Vec<Option<Place>>),
    /// Messages of a type, with the steps for those seen so far and one that passes over any other.
    Sequence(Lengths, String, Vec<Step>, Box<Step>),
}

/// What was seen of a sequence.
#[derive(Debug)]
pub(super) struct Lengths {
    pub(super) name: String,
    pub(super) shortest: usize,
    pub(super) longest: usize,
    left_out: bool,
}

impl Lengths {
    /// Nothing seen yet.
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            shortest: usize::MAX,
            longest: 0,
            left_out: false,
        }
    }

    /// Takes note of a length; how many elements there may be columns for.
    fn see(&mut self, length: usize, columns: usize, left_out: &mut Vec<(String, usize)>) -> usize {
        if !self.left_out && columns == 0 && length > MOST_ELEMENTS {
            self.left_out = true;
            left_out.push((self.name.clone(), length));
        }
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        match (self.left_out, length > MOST_ELEMENTS) {
            (true, _) => 0,
            (false, true) => columns,
            (false, false) => length,
        }
    }
}

impl Step {
    /// Sets what is wanted in the row that is being read.
    pub(super) fn read(
        &mut self,
        cursor: &mut Cursor<'_>,
        context: &mut Context,
        rows: &mut SeriesBuilder,
    ) -> Result<(), Short> {
        match self {
            Self::Number(primitive, place) => rows.set(*place, cursor.number(*primitive)?),
            Self::Numbers(primitive, places) => {
                read_numbers(cursor, *primitive, places, places.len(), rows)?;
            }
            Self::All(steps) => {
                for step in steps {
                    step.read(cursor, context, rows)?;
                }
            }
            Self::NumberSequence(lengths, primitive, places) => {
                let length = cursor.length()?;
                if length > cursor.left() {
                    return Err(Short);
                }
                let columns = lengths.see(length, places.len(), &mut context.left_out);
                for index in places.len()..columns {
                    places.push(context.place(&format!("{}[{index}]", lengths.name), rows));
                }
                read_numbers(cursor, *primitive, &places[..columns], length, rows)?;
            }
            Self::Sequence(lengths, element, steps, passing) => {
                let length = cursor.length()?;
                if length > cursor.left() && !passing.is_empty() {
                    return Err(Short);
                }
                let columns = lengths.see(length, steps.len(), &mut context.left_out);
                while steps.len() < columns {
                    let name = format!("{}[{}]", lengths.name, steps.len());
                    match context.one(&Kind::Message(element.clone()), &name, rows) {
                        Ok(step) => steps.push(step),
                        Err(_) => break,
                    }
                }
                let read = columns.min(steps.len());
                for step in &mut steps[..read] {
                    step.read(cursor, context, rows)?;
                }
                passing.skip_many(cursor, length - read)?;
            }
            skipped => skipped.skip(cursor)?,
        }
        Ok(())
    }

    /// Passes over all of it.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>) -> Result<(), Short> {
        match self {
            Self::Number(primitive, _) => cursor.skip_numbers(*primitive, 1),
            Self::Numbers(primitive, places) => cursor.skip_numbers(*primitive, places.len()),
            Self::SkipNumbers(primitive, count) => cursor.skip_numbers(*primitive, *count),
            Self::SkipText => cursor.skip_text(),
            Self::SkipWideText => cursor.skip_wide_text(),
            Self::All(steps) => steps.iter().try_for_each(|step| step.skip(cursor)),
            Self::Skip(element, count) => element.skip_many(cursor, *count),
            Self::NumberSequence(_, primitive, _) => {
                let length = cursor.length()?;
                cursor.skip_numbers(*primitive, length)
            }
            Self::SkipSequence(element) | Self::Sequence(_, _, _, element) => {
                let length = cursor.length()?;
                element.skip_many(cursor, length)
            }
        }
    }

    /// Passes over several; those that take no bytes are passed over at once, however many there are.
    fn skip_many(&self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Short> {
        match self {
            Self::SkipNumbers(primitive, each) => {
                let numbers = each.checked_mul(count).ok_or(Short)?;
                cursor.skip_numbers(*primitive, numbers)
            }
            step if step.is_empty() => Ok(()),
            step => (0..count).try_for_each(|_| step.skip(cursor)),
        }
    }

    /// Whether it takes no bytes.
    fn is_empty(&self) -> bool {
        match self {
            Self::All(steps) => steps.iter().all(Self::is_empty),
            Self::Skip(element, count) => *count == 0 || element.is_empty(),
            Self::SkipNumbers(_, count) => *count == 0,
            Self::Numbers(_, places) => places.is_empty(),
            _ => false,
        }
    }

    /// Whether there is text of wide letters in it.
    pub(super) fn has_wide_text(&self) -> bool {
        match self {
            Self::SkipWideText => true,
            Self::All(steps) => steps.iter().any(Self::has_wide_text),
            Self::Skip(element, _)
            | Self::SkipSequence(element)
            | Self::Sequence(_, _, _, element) => element.has_wide_text(),
            _ => false,
        }
    }

    /// Whether there is or could be a place in it.
    pub(super) fn sets_anything(&self) -> bool {
        match self {
            Self::Number(..) | Self::NumberSequence(..) | Self::Sequence(..) => true,
            Self::Numbers(_, places) => places.iter().any(Option::is_some),
            Self::All(steps) => steps.iter().any(Self::sets_anything),
            _ => false,
        }
    }

    /// The places in the order of the fields.
    pub(super) fn order(&self, places: &mut Vec<Place>) {
        match self {
            Self::Number(_, place) => places.push(*place),
            Self::Numbers(_, all) | Self::NumberSequence(_, _, all) => {
                places.extend(all.iter().flatten());
            }
            Self::All(steps) | Self::Sequence(_, _, steps, _) => {
                steps.iter().for_each(|step| step.order(places));
            }
            _ => {}
        }
    }

    /// The sequences whose length changed.
    pub(super) fn varying<'a>(&'a self, found: &mut Vec<&'a Lengths>) {
        let mut see = |lengths: &'a Lengths| {
            if lengths.shortest < lengths.longest && !lengths.left_out {
                found.push(lengths);
            }
        };
        match self {
            Self::NumberSequence(lengths, ..) => see(lengths),
            Self::Sequence(lengths, _, steps, _) => {
                see(lengths);
                steps.iter().for_each(|step| step.varying(found));
            }
            Self::All(steps) => steps.iter().for_each(|step| step.varying(found)),
            _ => {}
        }
    }
}

/// Reads `count` numbers, of which the first have places.
#[inline]
fn read_numbers(
    cursor: &mut Cursor<'_>,
    primitive: Primitive,
    places: &[Option<Place>],
    count: usize,
    rows: &mut SeriesBuilder,
) -> Result<(), Short> {
    cursor.numbers(primitive, places.len().min(count), |index, value| {
        if let Some(place) = places[index] {
            rows.set(place, value);
        }
    })?;
    cursor.skip_numbers(primitive, count.saturating_sub(places.len()))
}
