//! A map that keeps the order in which its entries were put in, in memory and in JSON.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Named values in order of insertion; serialises as a map.
///
/// ```
/// use taskscout_report::OrderedMap;
/// let map: OrderedMap<u32> = [("passive", 1), ("aware", 2)].into_iter().collect();
/// assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"passive":1,"aware":2}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedMap<T>(Vec<(String, T)>);

impl<T> OrderedMap<T> {
    /// The value under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter()
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Puts a value in, in the place of one of the same name or else at the end.
    pub fn insert(&mut self, name: impl Into<String>, value: T) {
        let name = name.into();
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> + Clone {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for OrderedMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, N: Into<String>> FromIterator<(N, T)> for OrderedMap<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut map = Self::default();
        for (name, value) in entries {
            map.insert(name, value);
        }
        map
    }
}

impl<T: Serialize> Serialize for OrderedMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor(PhantomData))
    }
}

struct EntryVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntryVisitor<T> {
    type Value = OrderedMap<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map from names to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = OrderedMap::default();
        while let Some((name, value)) = entries.next_entry::<String, T>()? {
            map.insert(name, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_json_both_ways() {
        let text = r#"{"z":1,"a":2,"m":3}"#;
        let map: OrderedMap<u32> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&map).unwrap(), text);
    }

    #[test]
    fn insert_replaces_in_place() {
        let mut map: OrderedMap<u32> = [("a", 1), ("b", 2)].into_iter().collect();
        map.insert("a", 9);
        assert_eq!(map.iter().collect::<Vec<_>>(), [("a", &9), ("b", &2)]);
        assert_eq!((map.len(), map.get("b"), map.get("c")), (2, Some(&2), None));
    }
}
