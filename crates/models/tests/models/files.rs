//! Files: bit for bit there and back, and named errors for everything else.

use std::sync::Arc;

use faer::MatRef;
use proptest::prelude::*;
use serde_json::{Value, json};
use taskscout::features::{FeatureMap, Identity};
use taskscout::model::{AnyRepresentation, Representation};
use taskscout_models::{Error, SavedModel};

use crate::common::{KINDS, Kind, inputs, maps, random};

/// The bytes of a file with another header.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    // As in a file without a checksum, so that what is wrong is found by other means.
    header["__metadata__"]
        .as_object_mut()
        .unwrap()
        .remove("checksum");
    change(&mut header);
    let text = header.to_string();
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.extend(text.as_bytes());
    out.extend(&bytes[8 + length..]);
    out
}

/// The bytes of a file with another description.
fn with_description(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    with_header(bytes, |header| {
        let text = header["__metadata__"]["model"].as_str().unwrap();
        let mut model: Value = serde_json::from_str(text).unwrap();
        change(&mut model);
        header["__metadata__"]["model"] = json!(model.to_string());
    })
}

fn network() -> SavedModel {
    let (_, map) = maps().swap_remove(1);
    random(&map, KINDS[3], true, 1)
}

fn refusal(bytes: &[u8]) -> String {
    let message = SavedModel::from_bytes(bytes).unwrap_err().to_string();
    assert!(!message.contains('\n'), "one sentence: {message}");
    message
}

#[test]
fn every_kind_of_model_comes_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, map) in maps() {
        for (index, kind) in KINDS.into_iter().enumerate() {
            for scaled in [false, true] {
                let model = random(&map, kind, scaled, 7);
                let path = folder.path().join(format!("{name}{index}.safetensors"));
                model.save(&path).unwrap();
                let loaded = SavedModel::load(&path).unwrap();
                assert_eq!(loaded, model, "{name} {kind:?}");
                assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&path).unwrap());
                let rows = inputs(&model, 5, 2);
                let bits = |model: &SavedModel| -> Vec<u64> {
                    let all = model.predict(&rows).unwrap();
                    all.iter()
                        .flat_map(|one| [one.mean, one.std, one.model_std])
                        .map(f64::to_bits)
                        .collect()
                };
                assert_eq!(bits(&loaded), bits(&model), "{name} {kind:?}");
            }
        }
    }
}

#[test]
fn what_is_no_model_is_named() {
    let bytes = network().to_bytes().unwrap();
    assert!(refusal(b"").contains("cut short, 0 bytes"));
    assert!(refusal(b"abc").contains("no safetensors file (3 bytes"));
    assert!(refusal(b"this is a text, not a model").contains("no safetensors file"));
    let other = with_header(&bytes, |header| header["__metadata__"] = json!({"a": "b"}));
    assert!(refusal(&other).contains("holds no taskscout model"));
    let folder = tempfile::tempdir().unwrap();
    let missing = SavedModel::load(folder.path().join("none.safetensors")).unwrap_err();
    assert!(matches!(missing, Error::Read { .. }));
    assert!(missing.to_string().contains("none.safetensors"));
    let path = folder.path().join("cut.safetensors");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let message = SavedModel::load(&path).unwrap_err().to_string();
    assert!(
        message.contains("cut.safetensors: the file is cut short"),
        "{message}"
    );
}

#[test]
fn a_later_format_says_which_and_what_to_do() {
    let later = with_header(&network().to_bytes().unwrap(), |header| {
        header["__metadata__"]["format_version"] = json!("7");
    });
    let message = refusal(&later);
    assert!(
        message.contains("format version 7") && message.contains("update taskscout"),
        "{message}"
    );
}

#[test]
fn wrong_tensors_are_named() {
    let bytes = network().to_bytes().unwrap();
    let renamed = with_header(&bytes, |header| {
        let header = header.as_object_mut().unwrap();
        let tensor = header.remove("representation.1.weights").unwrap();
        header.insert("representation.9.weights".into(), tensor);
    });
    let message = refusal(&renamed);
    assert!(
        message.contains("`representation.1.weights` is missing"),
        "{message}"
    );
    let reshaped = with_header(&bytes, |header| {
        let shape = &mut header["representation.0.weights"]["shape"];
        let (rows, columns) = (shape[0].as_u64().unwrap(), shape[1].as_u64().unwrap());
        *shape = json!([rows * 2, columns / 2]);
    });
    let message = refusal(&reshaped);
    assert!(message.contains("values where"), "{message}");
    let flat = with_header(&bytes, |header| {
        let shape = &mut header["coefficients"]["shape"];
        let size = shape[0].as_u64().unwrap() * shape[1].as_u64().unwrap();
        *shape = json!([size]);
    });
    let message = refusal(&flat);
    assert!(
        message.contains("tensor `coefficients` is of shape [60]"),
        "{message}"
    );
    let single = with_header(&bytes, |header| {
        header["noise"]["dtype"] = json!("F32");
        header["noise"]["shape"] = json!([4]);
    });
    let message = refusal(&single);
    assert!(
        message.contains("`noise` is of type F32 where F64"),
        "{message}"
    );
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    let mut bytes = with_header(&network().to_bytes().unwrap(), |_| ());
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&f64::NAN.to_le_bytes());
    let message = refusal(&bytes);
    assert!(
        message.contains("is NaN: a model needs finite numbers"),
        "{message}"
    );
}

#[test]
fn features_that_do_not_fit_are_refused() {
    let bytes = network().to_bytes().unwrap();
    let narrow = with_description(&bytes, |model| {
        model["input_features"] = json!({"kind": "identity", "dim": 4});
    });
    let message = refusal(&narrow);
    assert!(
        message.contains("has 30 values where the feature map gives 4"),
        "{message}"
    );
    let wide = with_description(&bytes, |model| {
        model["input_features"]["dim"] = json!(90_000);
        model["input_features"]["input_dim"] = json!(1_400);
    });
    assert!(refusal(&wide).contains("tensor `features.matrix` is of shape [30, 4]"));
    let redrawn = with_description(&bytes, |model| {
        model["input_features"]["seed"] = json!(4);
    });
    assert!(refusal(&redrawn).contains("use the version that saved the model"));
    let unknown = with_description(&bytes, |model| model["more"] = json!(1));
    assert!(refusal(&unknown).contains("unknown field `more`"));
}

#[test]
fn random_features_inside_other_maps_are_checked_too() {
    let (_, map) = maps()
        .into_iter()
        .find(|(name, _)| *name == "standardised-stacked")
        .unwrap();
    let bytes = random(&map, Kind::Features, false, 1).to_bytes().unwrap();
    let fourier = "/input_features/inner/parts/1/inner";
    let with = |key: &str, value: u64| {
        with_description(&bytes, |model| {
            model.pointer_mut(fourier).unwrap()[key] = json!(value);
        })
    };
    let message = refusal(&with("dim", 90_000));
    assert!(
        message.contains("tensor `features.inner.1.inner.matrix` is of shape [20, 3]"),
        "{message}"
    );
    assert!(refusal(&with("seed", 6)).contains("use the version that saved the model"));
}

#[test]
fn code_of_the_users_own_cannot_be_saved() {
    #[derive(Debug)]
    struct Same(usize);
    impl Representation for Same {
        fn input_dim(&self) -> usize {
            self.0
        }
        fn dim(&self) -> usize {
            self.0
        }
        fn apply(&self, features: MatRef<'_, f64>) -> taskscout::Result<faer::Mat<f64>> {
            Ok(features.to_owned())
        }
    }
    let (_, map) = maps().swap_remove(0);
    let mut parts = random(&map, Kind::Features, false, 1).into_parts();
    parts.representation = Some(AnyRepresentation::custom(Arc::new(Same(5))));
    parts.tasks = None;
    let in_memory = SavedModel::in_memory(parts.clone()).unwrap();
    in_memory.predict(&[0.5; 5]).unwrap();
    for refused in [
        SavedModel::new(parts.clone()).map(|_| ()),
        in_memory.to_bytes().map(|_| ()),
    ] {
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains("the shared representation is code of your own"),
            "{message}"
        );
    }
    parts.representation = None;
    parts.input_features = FeatureMap::custom("mine", Arc::new(Identity::new(5).unwrap())).unwrap();
    let message = SavedModel::new(parts).unwrap_err().to_string();
    assert!(
        message.contains("`mine` is code of your own") && message.contains("identity map"),
        "{message}"
    );
}

#[test]
fn every_truncation_is_refused() {
    let bytes = network().to_bytes().unwrap();
    for end in 0..bytes.len() {
        let error = SavedModel::from_bytes(&bytes[..end]).unwrap_err();
        if end > 8 {
            assert!(matches!(error, Error::CutShort { .. }), "{end}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens to a file, reading it gives a model or an error.
    #[test]
    fn damaged_files_do_no_harm(
        which in any::<prop::sample::Index>(),
        kind in 0_usize..6,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_header in any::<bool>(),
    ) {
        let maps = maps();
        let (_, map) = which.get(&maps);
        let bytes = random(map, KINDS[kind], true, 3).to_bytes().unwrap();
        // Without its checksum, which would end most cases at once.
        let mut bytes = with_header(&bytes, |_| ());
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for (at, value) in flips {
            let end = if in_header { header } else { bytes.len() };
            let at = at.index(end);
            // In the header, digits for digits: damage that is still JSON goes deepest.
            bytes[at] = if in_header && bytes[at].is_ascii_digit() { b'0' + value % 10 } else { value };
        }
        if let Ok(model) = SavedModel::from_bytes(&bytes) {
            let rows = vec![0.5; model.input_dim()];
            let _ = model.predict(&rows);
            let _ = model.to_onnx(true);
        }
    }
}

/// Where the numbers of a file begin.
fn body(bytes: &[u8]) -> usize {
    8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize
}

#[test]
fn every_flipped_bit_of_a_number_is_refused() {
    let model = network();
    let bytes = model.to_bytes().unwrap();
    for at in (body(&bytes)..bytes.len()).step_by(7) {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let message = refusal(&flipped);
            assert!(
                message.starts_with("the file is damaged, its checksum"),
                "{message}"
            );
        }
    }
}

#[test]
fn a_flipped_bit_of_the_header_never_gives_another_model() {
    let model = network();
    let bytes = model.to_bytes().unwrap();
    for at in 0..body(&bytes) {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(loaded) = SavedModel::from_bytes(&flipped) {
                // Only the word `checksum` itself, without which the rest is as it was.
                assert_eq!(loaded, model, "byte {at}, bit {bit}");
            }
        }
    }
}

#[test]
fn files_without_checksum_and_names_are_read() {
    let model = network();
    let bytes = model.to_bytes().unwrap();
    let older = with_header(&bytes, |header| {
        let metadata = header["__metadata__"].as_object_mut().unwrap();
        assert!(metadata.remove("inputs").is_some() && metadata.remove("outputs").is_some());
        assert!(!metadata.contains_key("checksum"));
    });
    let loaded = SavedModel::from_bytes(&older).unwrap();
    assert!(loaded.parts().names.inputs.is_empty());
    let mut parts = loaded.into_parts();
    parts.names = model.parts().names.clone();
    assert_eq!(SavedModel::new(parts).unwrap(), model);
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let refused = |change: fn(&mut Vec<String>)| {
        let mut parts = network().into_parts();
        change(&mut parts.names.inputs);
        SavedModel::new(parts).unwrap_err().to_string()
    };
    let message = refused(|names| drop(names.pop()));
    assert!(message.contains("the list of input names"), "{message}");
    let message = refused(|names| names[1] = names[0].clone());
    assert!(message.starts_with("two inputs are called `"), "{message}");
    assert!(!message.contains('\n'), "{message}");
}
