//! Definitions in the language of `.msg` files.
//!
//! ```text
//! # A comment.
//! uint8 OK=0                    a constant: no bytes in a message
//! float64[36] covariance        a fixed number of them
//! string<=20[<=5] names []      bounds and defaults, which do not change the bytes
//! Point position                a type of the same package
//! ```

use super::definition::{Count, Definitions, Field, Kind, Primitive, Section, short_name};

/// Adds the type that a section defines; a service has its request, its response and its event.
pub(super) fn parse(
    name: &str,
    section: &Section<'_>,
    found: &mut Definitions,
) -> Result<(), String> {
    let parts: Vec<&[&str]> = section.lines.split(|line| line.trim() == "---").collect();
    let package = name.split('/').next().unwrap_or_default();
    let mut before = section.before;
    let mut defined = Vec::with_capacity(parts.len());
    for lines in &parts {
        defined.push(fields(package, lines, before)?);
        before += lines.len() + 1;
    }
    let mut defined = defined.into_iter();
    match (defined.next(), defined.next()) {
        (Some(fields), None) => found.add(name.to_owned(), fields),
        (Some(request), Some(response)) => {
            // Bags name the event, and define the service.
            let name = name.strip_suffix("_Event").unwrap_or(name);
            found.add(format!("{name}_Request"), request);
            found.add(format!("{name}_Response"), response);
            found.add(format!("{name}_Event"), event(name));
        }
        (None, _) => {}
    }
    Ok(())
}

/// What ROS 2 records of a service that is called.
fn event(service: &str) -> Vec<Field> {
    let field = |name: &str, kind: String, count| Field {
        name: name.to_owned(),
        kind: Kind::Message(kind),
        count,
    };
    vec![
        field("info", "service_msgs/ServiceEventInfo".into(), Count::One),
        field("request", format!("{service}_Request"), Count::Sequence),
        field("response", format!("{service}_Response"), Count::Sequence),
    ]
}

fn fields(package: &str, lines: &[&str], before: usize) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let wrong = |what: &str| {
            format!(
                "line {} of its definition, `{}`, {what}",
                before + index + 1,
                line.trim()
            )
        };
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        let (kind, rest) = line
            .split_once(char::is_whitespace)
            .ok_or_else(|| wrong("has a type and no name"))?;
        let rest = rest.trim_start();
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = rest.find(|letter| !word(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            return Err(wrong("has a type and no name"));
        }
        if after.trim_start().starts_with('=') {
            continue;
        }
        let (kind, count) = field_type(package, kind)
            .ok_or_else(|| wrong("has a type that cannot be understood"))?;
        fields.push(Field {
            name: name.to_owned(),
            kind,
            count,
        });
    }
    Ok(fields)
}

/// The line up to its comment; `#` in quotes is none.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    // A constant of text is not quoted in ROS 1, so an apostrophe may never be closed.
    match (quote, line.find('#')) {
        (Some(_), Some(at)) => &line[..at],
        _ => line,
    }
}

/// Type and number of `string<=20[<=5]` and the like.
fn field_type(package: &str, text: &str) -> Option<(Kind, Count)> {
    let (base, count) = match text.strip_suffix(']') {
        None => (text, Count::One),
        Some(open) => {
            let (base, inside) = open.rsplit_once('[')?;
            let count = match inside.trim() {
                "" => Count::Sequence,
                bound if bound.starts_with("<=") => Count::Sequence,
                number => Count::Fixed(number.parse().ok()?),
            };
            (base, count)
        }
    };
    let base = base.split("<=").next().unwrap_or(base).trim();
    if base.is_empty() {
        return None;
    }
    let kind = primitive(base).unwrap_or_else(|| match base {
        "string" => Kind::Text,
        "wstring" => Kind::WideText,
        "Header" => Kind::Message("std_msgs/Header".into()),
        // Types of ROS 1 that ROS 2 has as messages of the same bytes.
        "time" => Kind::Message("builtin_interfaces/Time".into()),
        "duration" => Kind::Message("builtin_interfaces/Duration".into()),
        other if other.contains('/') => Kind::Message(short_name(other)),
        other => Kind::Message(format!("{package}/{other}")),
    });
    Some((kind, count))
}

/// The numbers by their names in `.msg` files.
fn primitive(name: &str) -> Option<Kind> {
    Some(Kind::Number(match name {
        "bool" => Primitive::Bool,
        "byte" | "char" | "uint8" => Primitive::U8,
        "int8" => Primitive::I8,
        "int16" => Primitive::I16,
        "uint16" => Primitive::U16,
        "int32" => Primitive::I32,
        "uint32" => Primitive::U32,
        "int64" => Primitive::I64,
        "uint64" => Primitive::U64,
        "float32" => Primitive::F32,
        "float64" => Primitive::F64,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fields(text: &str) -> Vec<Field> {
        let found = Definitions::parse("p/msg/T", text, false).unwrap();
        found.fields("p/T").to_vec()
    }

    #[test]
    fn lines_are_fields_unless_they_are_constants_or_comments() {
        let text = "# one\nuint8 A=1\nuint8 B = 2 # two\nstring S=\"a # b\"\n  float32 x 0.5 # half\nstring s 'it # is'\nbyte[] data\n";
        let names: Vec<String> = fields(text)
            .iter()
            .map(|field| field.name.clone())
            .collect();
        assert_eq!(names, ["x", "s", "data"]);
        // ROS 1 does not quote texts, so an apostrophe is a letter.
        assert_eq!(fields("string S=don't # so\nint8 a\n").len(), 1);
    }

    #[test]
    fn types_have_bounds_packages_and_numbers() {
        let text = "string<=5[<=3] a\ng/msg/P[4] b\nP[] c\nHeader h\nwstring w\ntime t\n";
        let found = fields(text);
        let message = |name: &str| Kind::Message(name.into());
        assert_eq!(
            (&found[0].kind, found[0].count),
            (&Kind::Text, Count::Sequence)
        );
        assert_eq!(
            (&found[1].kind, found[1].count),
            (&message("g/P"), Count::Fixed(4))
        );
        assert_eq!(
            (&found[2].kind, found[2].count),
            (&message("p/P"), Count::Sequence)
        );
        assert_eq!(found[3].kind, message("std_msgs/Header"));
        assert_eq!(found[4].kind, Kind::WideText);
        assert_eq!(found[5].kind, message("builtin_interfaces/Time"));
    }

    #[test]
    fn a_service_gives_its_event() {
        let mut found = Definitions::parse(
            "p/srv/Add_Event",
            "int64 a\nint64 b\n---\nint64 sum\n",
            false,
        )
        .unwrap();
        found.resolve("p/srv/Add_Event").unwrap();
        assert_eq!(found.fields("p/Add_Response")[0].name, "sum");
        assert_eq!(found.fields("p/Add_Event")[1].count, Count::Sequence);
    }

    #[test]
    fn what_makes_no_sense_is_told_with_its_line() {
        let message = |text: &str| Definitions::parse("p/T", text, false).unwrap_err();
        assert_eq!(
            message("int8 a\n\nfloat64\n"),
            "line 3 of its definition, `float64`, has a type and no name"
        );
        assert!(
            message("int8[x] a")
                .starts_with("line 1 of its definition, `int8[x] a`, has a type that cannot")
        );
        let second = "P a\n====\nMSG: p/P\n[] b\n";
        assert!(
            message(second).starts_with("line 4 "),
            "{}",
            message(second)
        );
    }
}
