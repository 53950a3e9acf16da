//! Messages of Protocol Buffers, by the descriptors that come with the file.
//!
//! Numbers and truth values become columns, enumerations their numbers. A field that a message does not have is 0 where
//! the schema means that (proto3 without `optional`), else NaN.

mod descriptor;
mod wire;

use self::descriptor::{Descriptors, Kind};
use self::wire::{Bad, Value, Wire};
use crate::ros::{MOST_ELEMENTS, join};
use crate::series::Selection;
use crate::series_builder::{Place, SeriesBuilder};

/// Messages inside messages.
const DEEPEST: usize = 64;

/// Fields of all messages inside each other.
const MOST_FIELDS: usize = 1 << 16;

/// Reads messages of one type.
#[derive(Debug)]
pub(super) struct Protobuf {
    context: Context,
    root: Message,
}

#[derive(Debug)]
struct Context {
    descriptors: Descriptors,
    series: String,
    selection: Selection,
    fields: usize,
    left_out: Vec<String>,
}

/// A message at a place of the messages around it.
#[derive(Debug)]
struct Message {
    type_index: usize,
    /// In the order of the type's fields.
    fields: Vec<State>,
}

/// What is known of a field at its place.
#[derive(Debug, Default)]
struct State {
    name: String,
    wanted: bool,
    /// Where numbers go: one place, or those of the elements seen so far.
    places: Vec<Option<Place>>,
    messages: Vec<Message>,
    /// Values in the message that is being read.
    seen: usize,
    too_long: bool,
}

impl Protobuf {
    /// What reads a type of a set of descriptors.
    ///
    /// # Errors
    /// Descriptors that are damaged or lack the type.
    pub(super) fn new(
        descriptors: &[u8],
        type_name: &str,
        (series, selection): (&str, &Selection),
        rows: &mut SeriesBuilder,
    ) -> Result<Self, String> {
        let descriptors = Descriptors::parse(descriptors)?;
        let type_index = descriptors.find(type_name).ok_or_else(|| {
            format!("the type {type_name} is not in the descriptors of the file: write the whole FileDescriptorSet as its schema")
        })?;
        let mut context = Context {
            descriptors,
            series: series.to_owned(),
            selection: selection.clone(),
            fields: 0,
            left_out: Vec::new(),
        };
        let root = context
            .message(type_index, "", rows)
            .ok_or("its schema has too many fields")?;
        Ok(Self { context, root })
    }

    /// Sets the numbers of a message.
    ///
    /// # Errors
    /// A message that is damaged.
    pub(super) fn read(&mut self, message: &[u8], rows: &mut SeriesBuilder) -> Result<(), String> {
        let read = self.root.read(message, &mut self.context, rows, 0);
        read.map_err(|Bad(problem)| format!("is damaged: {problem}"))
    }

    pub(super) fn sets_anything(&self) -> bool {
        self.root.fields.iter().any(|state| state.wanted)
    }

    pub(super) fn order(&self) -> Vec<Place> {
        let mut places = Vec::new();
        self.root.order(&mut places);
        places
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.context.descriptors.names(self.root.type_index)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let sentence = |name: &String| {
            format!(
                "{}.{name} is left out: it has more than {MOST_ELEMENTS} elements, the most that become columns",
                self.context.series
            )
        };
        self.context.left_out.iter().map(sentence).collect()
    }
}

impl Context {
    /// A message at a new place, with columns for its single numbers; none if there are too many fields.
    fn message(
        &mut self,
        type_index: usize,
        outer: &str,
        rows: &mut SeriesBuilder,
    ) -> Option<Message> {
        let fields = self.descriptors.fields(type_index).to_vec();
        self.fields += fields.len() + 1;
        if self.fields > MOST_FIELDS {
            return None;
        }
        let fields = fields.iter().map(|field| {
            let name = join(outer, &field.name);
            let mut state = State {
                wanted: field.kind != Kind::Other && self.selection.touches(&self.series, &name),
                name,
                ..State::default()
            };
            if state.wanted && !field.repeated && matches!(field.kind, Kind::Number(_)) {
                state.places.push(self.place(&state.name, rows));
            }
            state
        });
        let fields = fields.collect();
        Some(Message { type_index, fields })
    }

    fn place(&self, name: &str, rows: &mut SeriesBuilder) -> Option<Place> {
        let wanted = self.selection.column(&self.series, name);
        wanted.then(|| rows.column(name.to_owned())).flatten()
    }
}

impl Message {
    fn read(
        &mut self,
        bytes: &[u8],
        context: &mut Context,
        rows: &mut SeriesBuilder,
        depth: usize,
    ) -> Result<(), Bad> {
        if depth > DEEPEST {
            return Err(Bad("its messages are inside each other without end"));
        }
        self.fields.iter_mut().for_each(|state| state.seen = 0);
        let mut wire = Wire::new(bytes);
        while let Some((number, value)) = wire.next()? {
            let Some(index) = context.descriptors.index(self.type_index, number) else {
                continue;
            };
            let field = &context.descriptors.fields(self.type_index)[index];
            let kind = (field.kind, field.repeated);
            self.fields[index].take(kind, value, context, rows, depth)?;
        }
        for (state, field) in self
            .fields
            .iter()
            .zip(context.descriptors.fields(self.type_index))
        {
            if let (0, [Some(place)], false, false) = (
                state.seen,
                &state.places[..],
                field.repeated,
                field.presence,
            ) {
                rows.set(*place, 0.0);
            }
        }
        Ok(())
    }

    fn order(&self, places: &mut Vec<Place>) {
        for state in &self.fields {
            places.extend(state.places.iter().flatten());
            state
                .messages
                .iter()
                .for_each(|message| message.order(places));
        }
    }

    fn discard(&self, rows: &mut SeriesBuilder) {
        let mut places = Vec::new();
        self.order(&mut places);
        places.into_iter().for_each(|place| rows.discard(place));
    }
}

impl State {
    fn take(
        &mut self,
        (kind, repeated): (Kind, bool),
        value: Value<'_>,
        context: &mut Context,
        rows: &mut SeriesBuilder,
        depth: usize,
    ) -> Result<(), Bad> {
        if !self.wanted || self.too_long {
            return Ok(());
        }
        match (kind, value) {
            (Kind::Number(number), Value::Bytes(packed)) => {
                let mut numbers = Wire::new(packed);
                while !numbers.is_empty() {
                    let value = numbers.value(number.wire_type())?;
                    self.number(number.decode(&value)?, repeated, context, rows);
                }
            }
            (Kind::Number(number), value) => {
                self.number(number.decode(&value)?, repeated, context, rows);
            }
            (Kind::Message(inner), Value::Bytes(bytes)) => {
                let index = if repeated { self.seen } else { 0 };
                self.seen += 1;
                if self.grow_too_long(index, context, rows) {
                    return Ok(());
                }
                if index == self.messages.len() {
                    let name = match repeated {
                        true => format!("{}[{index}]", self.name),
                        false => self.name.clone(),
                    };
                    self.messages.extend(context.message(inner, &name, rows));
                }
                if let Some(message) = self.messages.get_mut(index) {
                    message.read(bytes, context, rows, depth + 1)?;
                }
            }
            (Kind::Message(_), _) => return Err(Bad("a message inside is no message")),
            (Kind::Other, _) => {}
        }
        Ok(())
    }

    fn number(
        &mut self,
        value: f64,
        repeated: bool,
        context: &mut Context,
        rows: &mut SeriesBuilder,
    ) {
        let index = if repeated { self.seen } else { 0 };
        self.seen += 1;
        if self.grow_too_long(index, context, rows) {
            return;
        }
        if index == self.places.len() {
            self.places
                .push(context.place(&format!("{}[{index}]", self.name), rows));
        }
        if let Some(Some(place)) = self.places.get(index) {
            rows.set(*place, value);
        }
    }

    /// Whether a repeated field has too many elements to be columns.
    fn grow_too_long(
        &mut self,
        index: usize,
        context: &mut Context,
        rows: &mut SeriesBuilder,
    ) -> bool {
        if index < MOST_ELEMENTS || self.too_long {
            return self.too_long;
        }
        self.too_long = true;
        self.places
            .drain(..)
            .flatten()
            .for_each(|place| rows.discard(place));
        self.messages
            .drain(..)
            .for_each(|message| message.discard(rows));
        context.left_out.push(self.name.clone());
        true
    }
}
