//! What a log says of itself: facts (`char[5] sys_name` = `PX4`) and parameters (`float MPC_XY_P` = 0.95).

use std::collections::BTreeMap;

use super::super::packed::{Field, Kind, Packed};
use super::definition::number;

/// Letters of the longest fact that is kept.
const LONGEST: usize = 4096;

/// Adds a fact or a parameter as text; false where the message makes no sense.
///
/// A parameter keeps its first value: later ones are changes in flight.
pub(super) fn add(kind: u8, content: &[u8], facts: &mut BTreeMap<String, String>) -> bool {
    let Some((key, value)) = parts(content) else {
        return false;
    };
    let Some((type_name, name)) = key.split_once(' ') else {
        return false;
    };
    let Some(value) = text(type_name, value) else {
        return false;
    };
    if kind == b'P' {
        facts.entry(format!("parameter.{name}")).or_insert(value);
    } else if value.len() <= LONGEST {
        facts.insert(name.to_owned(), value);
    }
    true
}

fn parts(content: &[u8]) -> Option<(&str, &[u8])> {
    let (&length, rest) = content.split_first()?;
    let (key, value) = rest.split_at_checked(usize::from(length))?;
    Some((std::str::from_utf8(key).ok()?, value))
}

fn text(type_name: &str, value: &[u8]) -> Option<String> {
    if type_name.starts_with("char[") {
        let text = String::from_utf8_lossy(value);
        return Some(text.trim_end_matches('\0').to_owned());
    }
    let kind = number(type_name)?;
    if value.len() < kind.size() {
        return None;
    }
    if kind == Kind::F32 {
        // In the digits of single precision: 0.95 and not 0.949999988079071.
        let bytes = value.first_chunk()?;
        return Some(f32::from_le_bytes(*bytes).to_string());
    }
    let field = Field {
        name: String::new(),
        unit: None,
        at: 0,
        kind,
        divisor: 1.0,
    };
    let mut packed = Packed::new(kind.size(), Some(field), Vec::new());
    packed.push(value);
    let series = packed.finish(String::new(), None);
    series.time.first().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_text() {
        let mut facts = BTreeMap::new();
        let mut tell = |kind, key: &str, value: &[u8]| {
            let mut content = vec![key.len() as u8];
            content.extend(key.bytes());
            content.extend(value);
            add(kind, &content, &mut facts)
        };
        assert!(tell(b'I', "char[4] sys_name", b"PX4\0"));
        assert!(tell(b'I', "uint32_t ver", &7u32.to_le_bytes()));
        assert!(tell(b'P', "float MPC_XY_P", &0.95f32.to_le_bytes()));
        assert!(tell(b'P', "float MPC_XY_P", &2f32.to_le_bytes()));
        assert!(!tell(b'P', "float MPC", &[0, 0]));
        assert!(!tell(b'I', "MPC", &[0, 0]));
        let found: Vec<(&str, &str)> = facts.iter().map(|(a, b)| (&**a, &**b)).collect();
        let expected = [
            ("parameter.MPC_XY_P", "0.95"),
            ("sys_name", "PX4"),
            ("ver", "7"),
        ];
        assert_eq!(found, expected);
        assert!(!add(b'I', &[200, b'a'], &mut facts) && !add(b'I', &[], &mut facts));
    }
}
