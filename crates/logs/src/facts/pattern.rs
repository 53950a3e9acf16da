//! Names of recordings that follow a pattern: `{vehicle}_{trajectory}_{wind:number m/s}`.

use super::{Facts, Known, Parameter};
use crate::error::{Error, Result};

/// What the parts of a recording's name are: `{name}` is a label, `{name:number}` a parameter, `{name:number unit}` one
/// with a unit, and everything else stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    pattern: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Label(String),
    Number(String, Option<String>),
}

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Braces that do not match, a field without a name or named twice, or two fields without a text between them.
    pub fn parse(pattern: &str) -> Result<Self> {
        let refuse = |problem: String| {
            Err(Error::Pattern {
                pattern: pattern.to_owned(),
                problem,
            })
        };
        let (mut parts, mut rest) = (Vec::new(), pattern);
        while !rest.is_empty() {
            let Some(open) = rest.find(['{', '}']) else {
                parts.push(Part::Text(rest.to_owned()));
                break;
            };
            if open > 0 {
                parts.push(Part::Text(rest[..open].to_owned()));
            }
            let inner = rest[open..]
                .strip_prefix('{')
                .and_then(|r| r.split_once('}'));
            let Some((field, after)) = inner else {
                return refuse("has a brace without its other half: write fields as {name}".into());
            };
            match Part::field(field) {
                Ok(part) => parts.push(part),
                Err(problem) => return refuse(problem),
            }
            rest = after;
        }
        let names: Vec<&str> = parts.iter().filter_map(Part::name).collect();
        if names.is_empty() {
            return refuse(
                "has no field: write labels as {vehicle} and numbers as {wind:number}".into(),
            );
        }
        if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return refuse(format!("names the field {} twice: name it once", names[at]));
        }
        let touching = parts
            .windows(2)
            .find(|pair| pair.iter().all(|part| part.name().is_some()));
        if let Some([first, second]) = touching {
            return refuse(format!(
                "has nothing between the fields {} and {}: put the text there that separates them",
                first.name().unwrap_or_default(),
                second.name().unwrap_or_default()
            ));
        }
        Ok(Self {
            pattern: pattern.to_owned(),
            parts,
        })
    }

    /// The pattern itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// What a name says; nothing if it does not follow the pattern. A number that is none is unknown.
    #[must_use]
    pub fn facts(&self, name: &str) -> Option<Facts> {
        let mut facts = Facts::default();
        let mut rest = name;
        for (at, part) in self.parts.iter().enumerate() {
            let (field, unit) = match part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(text.as_str())?;
                    continue;
                }
                Part::Label(field) => (field, None),
                Part::Number(field, unit) => (field, Some(unit)),
            };
            let end = match self.parts.get(at + 1) {
                Some(Part::Text(text)) => rest.find(text.as_str())?,
                _ => rest.len(),
            };
            let (value, after) = rest.split_at(end);
            if value.is_empty() {
                return None;
            }
            rest = after;
            match unit {
                None => {
                    facts.labels.insert(field.clone(), value.to_owned());
                }
                Some(unit) => {
                    let value = Known::parse(value).unwrap_or(Known::Unknown);
                    let unit = unit.clone();
                    facts
                        .parameters
                        .insert(field.clone(), Parameter { value, unit });
                }
            }
        }
        rest.is_empty().then_some(facts)
    }
}

impl Part {
    fn field(text: &str) -> std::result::Result<Self, String> {
        let (name, kind) = match text.split_once(':') {
            Some((name, kind)) => (name.trim(), Some(kind.trim())),
            None => (text.trim(), None),
        };
        if name.is_empty() || name.contains('{') {
            return Err("has a field without a name: write fields as {name}".into());
        }
        match kind {
            None | Some("text") => Ok(Self::Label(name.to_owned())),
            Some(kind) => match kind.strip_prefix("number") {
                Some("") => Ok(Self::Number(name.to_owned(), None)),
                Some(unit) if unit.starts_with(' ') => {
                    Ok(Self::Number(name.to_owned(), Some(unit.trim().to_owned())))
                }
                _ => Err(format!(
                    "says that {name} is `{kind}`: a field is text, number, or number with its unit as in {{wind:number m/s}}"
                )),
            },
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Label(name) | Self::Number(name, _) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_give_labels_and_numbers() {
        let pattern = NamePattern::parse("run-{robot}_{load:number kg}kg_{day}").unwrap();
        let facts = pattern.facts("run-arm2_1.5kg_mon_day").unwrap();
        assert_eq!(facts.labels["robot"], "arm2");
        assert_eq!(facts.labels["day"], "mon_day");
        assert_eq!(facts.parameters["load"].to_string(), "1.5 kg");
        // A number that is none is unknown, a name of another form says nothing.
        let facts = pattern.facts("run-arm2_heavykg_mon").unwrap();
        assert_eq!(facts.parameters["load"].value, Known::Unknown);
        for other in [
            "arm2_1.5kg_mon",
            "run-_1kg_mon",
            "run-arm2_1.5_mon",
            "run-arm2_1kg_",
        ] {
            assert_eq!(pattern.facts(other), None, "{other}");
        }
    }

    #[test]
    fn patterns_that_cannot_be_meant_are_refused() {
        for (pattern, words) in [
            ("plain", "no field"),
            ("{a", "other half"),
            ("a}", "other half"),
            ("{}", "without a name"),
            ("{a}{b}", "nothing between the fields a and b"),
            ("{a}_{a}", "twice"),
            ("{a:float}", "`float`"),
            ("{a:numbers}", "`numbers`"),
        ] {
            let message = NamePattern::parse(pattern).unwrap_err().to_string();
            assert!(message.contains(words), "{pattern}: {message}");
        }
    }
}
