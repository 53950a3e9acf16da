//! Spaces and feature maps of files: the library's by their kind, the user's own by their name.
//!
//! A file is read before anybody asks the registry, so what is read of a name is a part without code and
//! without dimensions, until [`attach_space`] and [`attach_features`] put the registered one in its place.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use taskscout::Error;
use taskscout::features::FeatureMap;
use taskscout::registry::Registry;
use taskscout::space::Space;

use super::{Settings, make, unknown};

/// The library's spaces, as files call them.
pub(super) const SPACES: &[&str] = &["ball", "box", "list", "one-hot", "product", "constrained"];

/// The library's feature maps, as files call them.
pub(super) const FEATURES: &[&str] = &[
    "identity",
    "fourier",
    "polynomial",
    "monomials",
    "one-hot-polynomial",
    "standardised",
    "stacked",
    "trees",
    "network",
];

/// Reads a space.
///
/// # Errors
/// If the table is none.
pub fn space<'de, D: Deserializer<'de>>(from: D) -> Result<Space, D::Error> {
    let table = toml::Table::deserialize(from)?;
    let Some((name, rest)) = own(&table, SPACES) else {
        return read(table);
    };
    let settings = Settings::of(rest).map_err(D::Error::custom)?;
    let own = json!({ "name": name, "settings": settings });
    serde_json::from_value(json!({ "kind": "own", "dim": 1, "own": own })).map_err(D::Error::custom)
}

/// Reads a space that may be left out.
///
/// # Errors
/// As [`space`].
pub fn optional_space<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Space>, D::Error> {
    space(from).map(Some)
}

/// Reads a feature map.
///
/// # Errors
/// If the table is none.
pub fn features<'de, D: Deserializer<'de>>(from: D) -> Result<FeatureMap, D::Error> {
    let table = toml::Table::deserialize(from)?;
    let Some((name, rest)) = own(&table, FEATURES) else {
        return read(table);
    };
    if let Some(key) = rest.keys().next() {
        return Err(D::Error::custom(format!(
            "`{key}` is given with the kind `{name}`, but a feature map of your own takes no settings: leave it out, or use one of {}",
            FEATURES.join(", ")
        )));
    }
    let map = json!({ "kind": "custom", "name": name, "input_dim": 1, "dim": 1 });
    serde_json::from_value(map).map_err(D::Error::custom)
}

/// Reads a feature map that may be left out.
///
/// # Errors
/// As [`features`].
pub fn optional_features<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<FeatureMap>, D::Error> {
    features(from).map(Some)
}

/// The name of what is none of the library's, with all else that the table says.
fn own(table: &toml::Table, ours: &[&str]) -> Option<(String, toml::Table)> {
    let name = table.get("kind")?.as_str()?;
    if ours.contains(&name) {
        return None;
    }
    let mut rest = table.clone();
    rest.remove("kind");
    Some((name.to_owned(), rest))
}

fn read<T: for<'a> Deserialize<'a>, E: serde::de::Error>(table: toml::Table) -> Result<T, E> {
    T::deserialize(toml::Value::Table(table)).map_err(|error| E::custom(error.message()))
}

/// Puts the registered space in the place of its name.
///
/// # Errors
/// If none of that name is registered, or it does not take the settings of the file.
pub fn attach_space(key: &str, space: &mut Space, registry: &Registry) -> taskscout::Result<()> {
    let Space::Own(own) = &*space else {
        return Ok(());
    };
    let (name, settings) = (&own.own().name, &own.own().settings);
    if !registry.space_names().any(|known| known == name) {
        return Err(not_registered(key, name, |kind| {
            unknown(kind, SPACES, registry.space_names())
        }));
    }
    let settings: Settings = serde_json::from_value(settings.clone())
        .map_err(|error| Error::setting(key, error.to_string()))?;
    let made = make(Some(&settings), |value| registry.make_space(name, value));
    *space = made.map_err(|error| under(key, error))?;
    Ok(())
}

/// Puts the registered feature map in the place of its name.
///
/// # Errors
/// If none of that name is registered.
pub fn attach_features(
    key: &str,
    map: &mut FeatureMap,
    registry: &Registry,
) -> taskscout::Result<()> {
    let FeatureMap::Custom(own) = &*map else {
        return Ok(());
    };
    let name = own.name();
    if !registry.feature_names().any(|known| known == name) {
        return Err(not_registered(key, name, |kind| {
            unknown(kind, FEATURES, registry.feature_names())
        }));
    }
    let made = registry.make_features(name);
    *map = made
        .and_then(|made| FeatureMap::custom(name, made))
        .map_err(|error| under(key, error))?;
    Ok(())
}

fn not_registered(key: &str, name: &str, known: impl Fn(&str) -> String) -> Error {
    let kind = if key.ends_with("features") {
        "features"
    } else {
        "space"
    };
    Error::setting(
        key,
        format!("has the kind `{name}`, which is not known: {}", known(kind)),
    )
}

/// An error about a part, under the key of the file that asks for it.
fn under(key: &str, error: Error) -> Error {
    match error {
        Error::Setting { problem, .. } => Error::setting(key, format!("cannot be made: {problem}")),
        other => Error::setting(key, format!("cannot be made: {other}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The kinds that the library itself names, without those that stand for the user's own.
    fn kinds<T: for<'a> Deserialize<'a> + std::fmt::Debug>(own: &str) -> Vec<String> {
        let message = toml::from_str::<T>("kind = \"?\"").unwrap_err().to_string();
        let (_, list) = message.rsplit_once("expected one of").unwrap();
        let mut names: Vec<String> = list.split('`').skip(1).step_by(2).map(Into::into).collect();
        names.retain(|name| name != own);
        names
    }

    #[test]
    fn every_kind_of_the_library_is_known() {
        assert_eq!(kinds::<Space>("own"), SPACES);
        assert_eq!(kinds::<FeatureMap>("custom"), FEATURES);
    }
}
