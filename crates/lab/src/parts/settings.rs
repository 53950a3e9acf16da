//! Settings of a part of the user's own, as a table of a file has them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A table whose keys only the part itself knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Settings(Map<String, Value>);

impl Settings {
    /// What a table says; an error names the key that cannot be kept.
    pub(super) fn of(table: toml::Table) -> Result<Self, String> {
        let entry = |(key, value)| {
            let value = json(value).map_err(|problem| format!("`{key}` {problem}"))?;
            Ok((key, value))
        };
        table
            .into_iter()
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a text out of them.
    pub(crate) fn take_text(&mut self, key: &str) -> Option<String> {
        let Value::String(text) = self.0.get(key)? else {
            return None;
        };
        let text = text.clone();
        self.0.remove(key);
        Some(text)
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(toml::Table::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The same value as JSON, which is what studies keep; times become text.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) if !number.is_finite() => {
            return Err(format!(
                "is {number}, which a study's file cannot hold: give a finite number"
            ));
        }
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.into_iter().map(json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => Settings::of(table)?.into_value(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_becomes_settings() {
        let text = "kind = \"far\"\nn = 3\nx = 0.5\nday = 2026-01-02\nlist = [1, { a = true }]";
        let mut settings: Settings = toml::from_str(text).unwrap();
        assert_eq!(settings.take_text("kind").unwrap(), "far");
        assert_eq!(settings.take_text("n"), None);
        let expected = json!({"n": 3, "x": 0.5, "day": "2026-01-02", "list": [1, {"a": true}]});
        assert_eq!(settings.into_value(), expected);
    }

    #[test]
    fn what_cannot_be_kept_is_refused_by_its_key() {
        let message = toml::from_str::<Settings>("a = { b = [inf] }").unwrap_err();
        assert!(message.message().contains("`b` is inf"), "{message}");
    }
}
