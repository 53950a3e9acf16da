//! Where the numbers of a message are, and how to get them out.
//!
//! A layout is a definition turned into steps, made once a topic. What nobody asked for is passed over. Sequences are
//! the one thing that a definition leaves open: their columns come up when the first message has them.

use super::cursor::{Cursor, Short, Wide, Wire};
use super::definition::{Count, Definitions, Field, Kind, Primitive, short_name};
use super::step::{Lengths, Step};
use crate::series::Selection;
use crate::series_builder::{Place, SeriesBuilder};

/// Elements of a sequence or array that become columns.
pub(crate) const MOST_ELEMENTS: usize = 4096;

/// Steps of one layout.
const MOST_STEPS: usize = 1 << 18;

/// Bytes after the last field that alignment explains.
const PADDING: usize = 7;

/// Steps that read a message.
#[derive(Debug)]
pub(crate) struct Layout {
    root: Step,
    context: Context,
    wire: Wire,
    has_wide_text: bool,
    /// Messages with more bytes than their definition has fields for.
    pub(crate) longer: usize,
}

/// What steps are made from.
#[derive(Debug)]
pub(super) struct Context {
    definitions: Definitions,
    selection: Selection,
    series: String,
    wire: Wire,
    steps: usize,
    /// Fields of too many elements, and how many they have.
    pub(super) left_out: Vec<(String, usize)>,
}

/// `outer.inner`.
pub(crate) fn join(outer: &str, inner: &str) -> String {
    match outer {
        "" => inner.to_owned(),
        _ => format!("{outer}.{inner}"),
    }
}

impl Layout {
    /// The steps for a type, with columns in `rows` for what is selected.
    ///
    /// # Errors
    /// A type that is missing or too large.
    pub(crate) fn new(
        mut definitions: Definitions,
        root: &str,
        wire: Wire,
        (series, selection): (&str, &Selection),
        rows: &mut SeriesBuilder,
    ) -> Result<Self, String> {
        definitions.resolve(root)?;
        let mut context = Context {
            definitions,
            selection: selection.clone(),
            series: series.to_owned(),
            wire,
            steps: 0,
            left_out: Vec::new(),
        };
        let root = short_name(root);
        let step = match context.definitions.fields(&root) {
            [] => Step::All(Vec::new()),
            _ => context.one(&Kind::Message(root), "", rows)?,
        };
        Ok(Self {
            has_wide_text: step.has_wide_text(),
            root: step,
            context,
            wire,
            longer: 0,
        })
    }

    /// Reads the numbers of a message into the row that is being read.
    ///
    /// # Errors
    /// What is wrong with the message; part of the row may be set.
    pub(crate) fn read(&mut self, message: &[u8], rows: &mut SeriesBuilder) -> Result<(), String> {
        let mut cursor = Cursor::new(message, self.wire)?;
        if self.has_wide_text {
            cursor.wide = self.wide(message)?;
        }
        let read = self.root.read(&mut cursor, &mut self.context, rows);
        read.map_err(|Short| format!("has {} bytes, too few for its definition", message.len()))?;
        self.longer += usize::from(cursor.left() > PADDING);
        Ok(())
    }

    /// How wide letters are written: so that the message ends where its definition does.
    fn wide(&self, message: &[u8]) -> Result<Wide, String> {
        for wide in [Wide::Four, Wide::Two, Wide::Bytes] {
            let mut cursor = Cursor::new(message, self.wire)?;
            cursor.wide = wide;
            if self.root.skip(&mut cursor).is_ok() && cursor.left() <= PADDING {
                return Ok(wide);
            }
        }
        Err("has wide text in a form that is not known".into())
    }

    /// Whether there is anything that it looks for.
    pub(crate) fn sets_anything(&self) -> bool {
        self.root.sets_anything()
    }

    /// The columns in the order of the fields.
    pub(crate) fn order(&self) -> Vec<Place> {
        let mut places = Vec::new();
        self.root.order(&mut places);
        places
    }

    /// Sentences on what could not become columns.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let series = &self.context.series;
        let mut warnings: Vec<String> = (self.context.left_out.iter())
            .map(|(name, length)| {
                format!("{series}.{name} is left out: it has {length} elements, and {MOST_ELEMENTS} are the most that become columns")
            })
            .collect();
        let mut varying = Vec::new();
        self.root.varying(&mut varying);
        warnings.extend(varying.into_iter().map(|lengths| {
            let Lengths { name, shortest, longest, .. } = lengths;
            format!("{series}.{name} has between {shortest} and {longest} elements: those that a message lacks are NaN")
        }));
        warnings
    }

    /// The names of all fields that could be asked for, sequences by their own name.
    pub(crate) fn names(&self, root: &str) -> Vec<String> {
        let mut names = Vec::new();
        let root = Kind::Message(short_name(root));
        names_inside(&self.context.definitions, &root, "", &mut names);
        names
    }
}

/// Names of a message that are suggested at most.
const MOST_NAMES: usize = 2000;

fn names_inside(definitions: &Definitions, kind: &Kind, outer: &str, names: &mut Vec<String>) {
    let Kind::Message(name) = kind else {
        names.push(outer.to_owned());
        return;
    };
    for field in definitions.fields(name) {
        if names.len() >= MOST_NAMES || !definitions.has_numbers(&field.kind) {
            continue;
        }
        let inner = join(outer, &field.name);
        match field.count {
            Count::One => names_inside(definitions, &field.kind, &inner, names),
            Count::Fixed(_) | Count::Sequence => names.push(inner),
        }
    }
}

impl Context {
    /// Counts a step.
    fn step(&mut self, step: Step) -> Result<Step, String> {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => Err(format!(
                "its definition unfolds to more than {MOST_STEPS} fields"
            )),
            false => Ok(step),
        }
    }

    fn field(
        &mut self,
        field: &Field,
        outer: &str,
        rows: &mut SeriesBuilder,
    ) -> Result<Step, String> {
        let name = join(outer, &field.name);
        let wanted = self.definitions.has_numbers(&field.kind)
            && self.selection.touches(&self.series, &name)
            && !rows.is_full();
        if !wanted {
            return self.skip_field(field);
        }
        match (field.count, &field.kind) {
            (Count::One, kind) => self.one(kind, &name, rows),
            (Count::Fixed(count), _) if count > MOST_ELEMENTS => {
                self.left_out.push((name, count));
                self.skip_field(field)
            }
            (Count::Fixed(count), Kind::Number(primitive)) => {
                let place = |index| self.place(&format!("{name}[{index}]"), rows);
                let places = (0..count).map(place).collect();
                self.step(Step::Numbers(*primitive, places))
            }
            (Count::Fixed(count), kind) => {
                let elements =
                    (0..count).map(|index| self.one(kind, &format!("{name}[{index}]"), rows));
                let elements = elements.collect::<Result<_, String>>()?;
                self.step(Step::All(elements))
            }
            (Count::Sequence, Kind::Number(primitive)) => self.step(Step::NumberSequence(
                Lengths::new(name),
                *primitive,
                Vec::new(),
            )),
            (Count::Sequence, kind) => {
                let passing = Box::new(self.skip(kind)?);
                let Kind::Message(element) = kind else {
                    return Ok(Step::SkipSequence(passing));
                };
                self.step(Step::Sequence(
                    Lengths::new(name),
                    element.clone(),
                    Vec::new(),
                    passing,
                ))
            }
        }
    }

    /// A column, if it is wanted.
    pub(super) fn place(&self, name: &str, rows: &mut SeriesBuilder) -> Option<Place> {
        let wanted = self.selection.column(&self.series, name);
        wanted.then(|| rows.column(name.to_owned())).flatten()
    }

    /// The step for one value of a type.
    pub(super) fn one(
        &mut self,
        kind: &Kind,
        name: &str,
        rows: &mut SeriesBuilder,
    ) -> Result<Step, String> {
        let wanted = self.definitions.has_numbers(kind)
            && (name.is_empty() || self.selection.touches(&self.series, name));
        if !wanted || rows.is_full() {
            return self.skip(kind);
        }
        match kind {
            Kind::Number(primitive) => match self.place(name, rows) {
                Some(place) => self.step(Step::Number(*primitive, place)),
                None => self.step(Step::SkipNumbers(*primitive, 1)),
            },
            Kind::Message(inner) => {
                let fields = self.definitions.fields(inner).to_vec();
                let steps = fields.iter().map(|field| self.field(field, name, rows));
                let steps = steps.collect::<Result<_, String>>()?;
                self.step(Step::All(steps))
            }
            Kind::Text | Kind::WideText => self.skip(kind),
        }
    }

    /// The step that passes over one value of a type.
    fn skip(&mut self, kind: &Kind) -> Result<Step, String> {
        match kind {
            Kind::Number(primitive) => self.step(Step::SkipNumbers(*primitive, 1)),
            Kind::Text => self.step(Step::SkipText),
            Kind::WideText => self.step(Step::SkipWideText),
            Kind::Message(inner) => {
                let fields = self.definitions.fields(inner).to_vec();
                // DDS has no empty messages: ROS 2 writes a byte in place of nothing.
                if fields.is_empty() && self.wire == Wire::Cdr {
                    return self.step(Step::SkipNumbers(Primitive::U8, 1));
                }
                let steps = fields.iter().map(|field| self.skip_field(field));
                let steps = steps.collect::<Result<_, String>>()?;
                self.step(Step::All(steps))
            }
        }
    }

    fn skip_field(&mut self, field: &Field) -> Result<Step, String> {
        match (field.count, &field.kind) {
            (Count::One, kind) => self.skip(kind),
            (Count::Fixed(count), Kind::Number(primitive)) => {
                self.step(Step::SkipNumbers(*primitive, count))
            }
            (Count::Fixed(count), kind) => {
                let element = Box::new(self.skip(kind)?);
                self.step(Step::Skip(element, count))
            }
            (Count::Sequence, kind) => {
                let element = Box::new(self.skip(kind)?);
                self.step(Step::SkipSequence(element))
            }
        }
    }
}
