//! Messages in JSON: every number by its path, `pose.x` and `ranges[3]`.
//!
//! A schema need not be there and is not looked at. Truth values are 0 and 1; text and null are no numbers. Messages are
//! read in one pass, without a tree of values in between.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::ros::{MOST_ELEMENTS, join};
use crate::series::Selection;
use crate::series_builder::{Place, SeriesBuilder};

/// Places of all messages of a topic, with or without numbers.
const MOST_SHAPES: usize = 1 << 16;

/// What was seen of the messages of a topic.
#[derive(Debug)]
pub(super) struct Json {
    root: Shape,
    context: Context,
}

#[derive(Debug)]
struct Context {
    series: String,
    selection: Selection,
    shapes: usize,
    left_out: Vec<String>,
    /// Whether no message was read yet: all of the first is looked at, so that names can be suggested.
    first: bool,
}

/// A place in a message: a number, an object or an array, or now one and now the other.
#[derive(Debug, Default)]
struct Shape {
    name: String,
    /// Whether anything in it was asked for.
    wanted: bool,
    number: Option<Option<Place>>,
    fields: Vec<Shape>,
    index: HashMap<String, usize>,
    elements: Vec<Shape>,
    too_long: bool,
}

impl Json {
    pub(super) fn new(series: &str, selection: &Selection) -> Self {
        let root = Shape {
            wanted: true,
            ..Shape::default()
        };
        Self {
            root,
            context: Context {
                series: series.to_owned(),
                selection: selection.clone(),
                shapes: 0,
                left_out: Vec::new(),
                first: true,
            },
        }
    }

    /// Sets the numbers of a message.
    ///
    /// # Errors
    /// A message that is no JSON.
    pub(super) fn read(&mut self, message: &[u8], rows: &mut SeriesBuilder) -> Result<(), String> {
        let mut text = serde_json::Deserializer::from_slice(message);
        let value = Value {
            shape: &mut self.root,
            context: &mut self.context,
            rows,
        };
        let read = value.deserialize(&mut text).and_then(|()| text.end());
        self.context.first = false;
        read.map_err(|error| format!("is not JSON: {error}"))
    }

    /// Whether it looks for anything: there is no telling before messages come.
    pub(super) fn sets_anything(&self) -> bool {
        true
    }

    pub(super) fn order(&self) -> Vec<Place> {
        let mut places = Vec::new();
        self.root
            .walk(&mut |shape| places.extend(shape.number.flatten()));
        places
    }

    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.root.walk(&mut |shape| {
            if shape.number.is_some() {
                names.push(shape.name.clone());
            }
        });
        names
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
    /// A new place; none if there are too many.
    fn shape(&mut self, name: String) -> Option<Shape> {
        self.shapes += 1;
        (self.shapes <= MOST_SHAPES).then(|| Shape {
            wanted: self.selection.touches(&self.series, &name),
            name,
            ..Shape::default()
        })
    }
}

impl Shape {
    /// Calls a function for this and all that is in it, in order.
    fn walk(&self, each: &mut impl FnMut(&Self)) {
        each(self);
        for inner in self.fields.iter().chain(&self.elements) {
            inner.walk(each);
        }
    }

    /// The field of this key; none if there are too many of them.
    fn field(&mut self, key: &str, expected: usize, context: &mut Context) -> Option<usize> {
        let name = self
            .fields
            .get(expected)
            .map(|field| last(&field.name, &self.name));
        if name == Some(key) {
            return Some(expected);
        }
        if let Some(index) = self.index.get(key) {
            return Some(*index);
        }
        self.fields.push(context.shape(join(&self.name, key))?);
        self.index.insert(key.to_owned(), self.fields.len() - 1);
        Some(self.fields.len() - 1)
    }
}

/// The part of a name that is not that of the object around it.
fn last<'a>(name: &'a str, outer: &str) -> &'a str {
    let rest = &name[outer.len()..];
    match outer {
        "" => rest,
        _ => rest.strip_prefix('.').unwrap_or(rest),
    }
}

/// A value that is being read.
struct Value<'a> {
    shape: &'a mut Shape,
    context: &'a mut Context,
    rows: &'a mut SeriesBuilder,
}

impl Value<'_> {
    fn number(self, value: f64) {
        let place = match self.shape.number {
            Some(place) => place,
            None => {
                let name = &self.shape.name;
                let wanted =
                    !name.is_empty() && self.context.selection.column(&self.context.series, name);
                let place = wanted.then(|| self.rows.column(name.clone())).flatten();
                self.shape.number = Some(place);
                place
            }
        };
        if let Some(place) = place {
            self.rows.set(place, value);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let looked_at = self.shape.wanted || self.context.first;
        match looked_at && !self.shape.too_long {
            true => deserializer.deserialize_any(self),
            false => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
        }
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.number(f64::from(u8::from(value)));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.number(value);
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self {
            shape,
            context,
            rows,
        } = self;
        let mut expected = 0;
        loop {
            let key = Key {
                shape: &mut *shape,
                expected,
                context: &mut *context,
            };
            let Some(field) = map.next_key_seed(key)? else {
                return Ok(());
            };
            match field.and_then(|index| shape.fields.get_mut(index)) {
                Some(shape) => map.next_value_seed(Value {
                    shape,
                    context: &mut *context,
                    rows: &mut *rows,
                })?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
            expected = field.map_or(expected, |index| index + 1);
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self {
            shape,
            context,
            rows,
        } = self;
        for index in 0.. {
            if index >= MOST_ELEMENTS {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(());
                }
                if !shape.too_long {
                    shape.too_long = true;
                    shape.walk(&mut |shape| {
                        shape
                            .number
                            .flatten()
                            .into_iter()
                            .for_each(|place| rows.discard(place));
                    });
                    shape.elements.clear();
                    context.left_out.push(shape.name.clone());
                }
                continue;
            }
            if index == shape.elements.len() {
                shape
                    .elements
                    .extend(context.shape(format!("{}[{index}]", shape.name)));
            }
            let next = match shape.elements.get_mut(index) {
                Some(shape) => list.next_element_seed(Value {
                    shape,
                    context: &mut *context,
                    rows: &mut *rows,
                })?,
                None => list.next_element::<IgnoredAny>()?.map(drop),
            };
            if next.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A key that is being read.
struct Key<'a> {
    shape: &'a mut Shape,
    expected: usize,
    context: &'a mut Context,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.shape.field(key, self.expected, self.context))
    }
}
