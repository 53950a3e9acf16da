//! No file makes the readers panic or take memory without measure, and a file that was cut gives what is intact.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use taskscout_logs::{RawRecording, Result};

use super::{bits, fixture, read_all, refusal};

const MCAP: [&str; 10] = [
    "zstd.mcap",
    "lz4_chunks.mcap",
    "plain.mcap",
    "unchunked.mcap",
    "big_endian.mcap",
    "unordered.mcap",
    "idl.mcap",
    "ros1.mcap",
    "json.mcap",
    "protobuf.mcap",
];

fn read_bytes(folder: &Path, name: &str, bytes: &[u8]) -> Result<RawRecording> {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    read_all(&path)
}

/// Whatever comes out has one shape; whatever does not is said in a sentence.
fn sane(outcome: &Result<RawRecording>) {
    match outcome {
        Ok(recording) => {
            for series in &recording.series {
                assert!(
                    series
                        .columns
                        .iter()
                        .all(|column| column.values.len() == series.rows())
                );
                assert!(series.time.is_sorted());
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() > 20, "{message}");
        }
    }
}

/// Whether all rows of one recording are the first rows of the other.
fn is_beginning(part: &RawRecording, whole: &RawRecording) -> bool {
    part.series.iter().all(|series| {
        let all = whole.series(&series.name).unwrap();
        let rows = series.rows();
        bits(&series.time) == bits(&all.time[..rows])
            && series.columns.iter().all(|column| {
                let values = all.column(&column.name).unwrap();
                bits(&column.values) == bits(&values[..rows])
            })
    })
}

#[test]
fn a_file_cut_at_any_byte_gives_what_is_intact() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "unchunked.mcap",
        "lz4_chunks.mcap",
        "zstd.mcap",
        "plain.mcap",
        "json.mcap",
    ] {
        let bytes = fs::read(fixture(name)).unwrap();
        let whole = read_all(&fixture(name)).unwrap();
        let total: usize = whole.series.iter().map(|series| series.rows()).sum();
        let mut before = 0;
        for end in (0..bytes.len()).step_by(if bytes.len() > 8000 { 7 } else { 1 }) {
            let outcome = read_bytes(folder.path(), name, &bytes[..end]);
            sane(&outcome);
            if end < 8 {
                assert!(refusal(outcome).contains("is not an MCAP file"));
                continue;
            }
            let part = outcome.unwrap();
            assert!(is_beginning(&part, &whole), "{name} cut at {end}");
            let rows: usize = part.series.iter().map(|series| series.rows()).sum();
            assert!(rows >= before, "{name} cut at {end} lost rows");
            before = rows;
            let said = part
                .warnings
                .iter()
                .any(|warning| warning.starts_with("the file is cut off at byte"));
            assert!(said, "{name} cut at {end}");
        }
        assert_eq!(before, total, "{name}: only the index was cut last");
    }
}

#[test]
fn flipped_bytes_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in MCAP {
        let mut bytes = fs::read(fixture(name)).unwrap();
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 2000) {
            let byte = bytes[at];
            bytes[at] ^= if at % 2 == 0 { 0xff } else { 1 << (at % 8) };
            sane(&read_bytes(folder.path(), name, &bytes));
            bytes[at] = byte;
        }
    }
}

/// Inside a chunk every change shows, because chunks have checksums.
#[test]
fn no_change_in_a_chunk_goes_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(fixture("plain.mcap")).unwrap();
    let whole = read_all(&fixture("plain.mcap")).unwrap();
    let length = bytes.len();
    for at in (3000..length / 2).step_by(5) {
        bytes[at] ^= 0x10;
        let message = refusal(read_bytes(folder.path(), "plain.mcap", &bytes));
        assert!(
            message.contains("is damaged at byte ")
                && message.contains("a chunk with a wrong checksum"),
            "{message}"
        );
        bytes[at] ^= 0x10;
    }
    assert!(is_beginning(
        &read_bytes(folder.path(), "plain.mcap", &bytes).unwrap(),
        &whole
    ));
}

#[test]
fn damaged_databases_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(fixture("defined.db3")).unwrap();
    for end in (0..good.len()).step_by(509) {
        sane(&read_bytes(folder.path(), "cut.db3", &good[..end]));
    }
    let mut bytes = good.clone();
    for at in (0..good.len()).step_by(23).chain(0..200) {
        bytes[at] ^= 0xff;
        sane(&read_bytes(folder.path(), "flipped.db3", &bytes));
        bytes[at] = good[at];
    }
}

/// Records of a file: kind and content.
fn mcap(records: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"\x89MCAP0\r\n".to_vec();
    for (kind, content) in records {
        bytes.push(*kind);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    bytes.extend(b"\x89MCAP0\r\n");
    bytes
}

fn chunk(size: u64, compression: &str, packed: &[u8]) -> Vec<u8> {
    let mut content = vec![0; 16];
    content.extend(size.to_le_bytes());
    content.extend([0; 4]);
    content.extend((compression.len() as u32).to_le_bytes());
    content.extend(compression.bytes());
    content.extend((packed.len() as u64).to_le_bytes());
    content.extend(packed);
    content
}

#[test]
fn chunks_that_unpack_to_far_too_much_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let zeros = vec![0; 64 << 20];
    let bomb = zstd::bulk::compress(&zeros, 1).unwrap();
    for (size, problem) in [
        (64 << 20, "that says it unpacks to 67108864"),
        (u64::MAX, "that says it unpacks to"),
        (1000, "unpacks to another size than 1000 bytes"),
    ] {
        let bytes = mcap(&[(6, chunk(size, "zstd", &bomb))]);
        let message = refusal(read_bytes(folder.path(), "bomb.mcap", &bytes));
        assert!(message.contains(problem), "{message}");
    }
    let bytes = mcap(&[(6, chunk(4, "brotli", b"abcd"))]);
    let message = refusal(read_bytes(folder.path(), "other.mcap", &bytes));
    assert!(
        message.contains("in the compression `brotli`, and zstd and lz4"),
        "{message}"
    );
}

fn text(value: &str) -> Vec<u8> {
    let mut bytes = (value.len() as u32).to_le_bytes().to_vec();
    bytes.extend(value.bytes());
    bytes
}

/// A file with one topic of one definition.
fn with_definition(definition: &str, encoding: &str, messages: &[&[u8]]) -> Vec<u8> {
    let schema = [vec![1, 0], text("a/T"), text(encoding), text(definition)].concat();
    let wire = if encoding == "ros1msg" { "ros1" } else { "cdr" };
    let channel = [vec![1, 0, 1, 0], text("/t"), text(wire), text("")].concat();
    let message = |data: &&[u8]| (5, [vec![1, 0], vec![0; 20], data.to_vec()].concat());
    let mut records = vec![(3, schema), (4, channel)];
    records.extend(messages.iter().map(message));
    mcap(&records)
}

#[test]
fn definitions_that_unfold_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let read = |definition: &str, encoding: &str, messages: &[&[u8]]| {
        read_bytes(
            folder.path(),
            "t.mcap",
            &with_definition(definition, encoding, messages),
        )
    };
    let own = refusal(read("T again", "ros2msg", &[]));
    assert!(own.contains("a/T in a/T without end"), "{own}");
    // Thirty types, each with the next one ten times over.
    let mut doubling = String::from("T1 a\n");
    for level in 1..30 {
        doubling += &format!("===\nMSG: a/T{level}\n");
        (0..10).for_each(|field| doubling += &format!("T{} f{field}\n", level + 1));
    }
    doubling += "===\nMSG: a/T30\nstring s\n";
    let deep = refusal(read(&doubling, "ros2msg", &[]));
    assert!(deep.contains("unfolds to more than"), "{deep}");
    let wide = read(
        "float64[4000000000] x\nuint8 y",
        "ros2msg",
        &[&[0, 1, 0, 0, 1]],
    );
    assert!(refusal(wide).contains("all its 1 messages are bad"));
    // Nothing takes no bytes in ROS 1, so any number of them may be there.
    let nothing = "E[] e\nE[4000000000] f\nuint8 y\n===\nMSG: a/E\n";
    let recording = read(nothing, "ros1msg", &[&[255, 255, 255, 255, 7]]).unwrap();
    assert_eq!(recording.series[0].column("y").unwrap(), [7.0]);
    let message = refusal(read("float64", "ros2msg", &[]));
    assert!(
        message.contains("line 1 of its definition, `float64`, has a type and no name"),
        "{message}"
    );
}

#[test]
fn bad_messages_are_counted_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let good: &[u8] = &[0, 1, 0, 0, 2, 0, 0, 0, 5, 6];
    let (short, long): (&[u8], &[u8]) = (
        &[0, 1, 0, 0, 3, 0, 0, 0, 1],
        &[0, 1, 0, 0, 255, 255, 255, 255, 1],
    );
    let bytes = with_definition("uint8[] x", "ros2msg", &[good, short, long, &[], good]);
    let recording = read_bytes(folder.path(), "t.mcap", &bytes).unwrap();
    assert_eq!(recording.series[0].column("x[1]").unwrap(), [6.0, 6.0]);
    assert_eq!(
        recording.warnings,
        [
            "topic /t: 3 of 5 messages are left out, message 2 has 9 bytes, too few for its definition"
        ]
    );
}

#[test]
fn long_sequences_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut image = vec![0, 1, 0, 0, 0x88, 0x13, 0, 0];
    image.extend([7; 5000]);
    image.push(9);
    let bytes = with_definition("uint8[] data\nuint8 y", "ros2msg", &[&image, &image]);
    let recording = read_bytes(folder.path(), "t.mcap", &bytes).unwrap();
    assert_eq!(recording.series[0].columns.len(), 1);
    assert_eq!(recording.series[0].column("y").unwrap(), [9.0, 9.0]);
    assert_eq!(
        recording.warnings,
        ["/t.data is left out: it has 5000 elements, and 4096 are the most that become columns"]
    );
}

proptest! {
    #[test]
    fn several_damages_at_once_do_not_panic(
        file in prop::sample::select(MCAP.to_vec()),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..10),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = fs::read(fixture(file)).unwrap();
        for (at, byte, kind) in damages {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 => bytes.truncate(at.max(8)),
                1 => bytes.insert(at, byte),
                2 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ => bytes.get_mut(at).into_iter().for_each(|there| *there ^= byte),
            }
        }
        sane(&read_bytes(folder.path(), "t.mcap", &bytes));
    }

    #[test]
    fn arbitrary_definitions_and_messages_do_not_panic(
        lines in prop::collection::vec("(u?int(8|16|32|64)|float(32|64)|bool|string|wstring|B|T)(<=3)?(\\[(<=)?[0-9]{0,3}\\])? [a-z]{1,3}( ?=? ?[0-9])?", 0..8),
        inner in prop::collection::vec("(int8|float64|string)(\\[\\])? [a-z]", 0..3),
        messages in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u8), Just(1), any::<u8>()], 0..80), 0..6),
        encoding in prop::sample::select(vec!["ros2msg", "ros1msg"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let definition = format!("{}\n===\nMSG: a/B\n{}", lines.join("\n"), inner.join("\n"));
        let messages: Vec<Vec<u8>> = messages.iter().map(|message| [&[0, 1, 0, 0], &message[..]].concat()).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        sane(&read_bytes(folder.path(), "t.mcap", &with_definition(&definition, encoding, &messages)));
    }

    #[test]
    fn arbitrary_records_do_not_panic(records in prop::collection::vec((0..16_u8, prop::collection::vec(any::<u8>(), 0..60)), 0..10)) {
        let folder = tempfile::tempdir().unwrap();
        sane(&read_bytes(folder.path(), "t.mcap", &mcap(&records)));
    }
}
