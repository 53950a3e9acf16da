//! What is not there is told with the nearest that is, and what cannot be read with a remedy.

use std::fs;

use taskscout_logs::{Selection, is_bag, read_bag};

use super::{fixture, read_all, refusal};

#[test]
fn unknown_topics_and_fields_suggest_the_nearest() {
    let message =
        |file: &str, wanted: &str| refusal(read_bag(&fixture(file), &Selection::of([wanted])));
    let topic = message("zstd.mcap", "/imus");
    assert!(
        topic.ends_with("zstd.mcap has no `/imus`: did you mean `/imu`, `/kinds` or `/joints`?"),
        "{topic}"
    );
    let field = message("defined.db3", "/imu.angular_velocty.z");
    assert!(
        field.contains("has no `/imu.angular_velocty.z`: did you mean `/imu.angular_velocity.z`"),
        "{field}"
    );
    let field = message("json.mcap", "pose.pose.z");
    assert!(field.contains("did you mean `pose.pose.x`"), "{field}");
    let field = message("protobuf.mcap", "/leg.torque");
    assert!(field.contains("did you mean `/leg.torques`"), "{field}");
    // Text is no number.
    let text = message("zstd.mcap", "/kinds.text");
    assert!(
        text.contains("has no `/kinds.text`: did you mean"),
        "{text}"
    );
}

#[test]
fn a_missing_definition_is_an_error_for_who_needs_it() {
    let message = refusal(read_bag(
        &fixture("undefined.db3"),
        &Selection::of(["/kinds.last"]),
    ));
    assert!(
        message.contains("undefined.db3 topic /kinds cannot be read: the type shapes/Kinds is neither defined in the file nor a standard one: record with ROS 2 Iron"),
        "{message}"
    );
    read_bag(&fixture("undefined.db3"), &Selection::of(["/imu"])).unwrap();
}

#[test]
fn other_files_are_no_bags() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        refusal(read_all(&path))
    };
    assert!(message("a.mcap", b"hello").ends_with(
        "a.mcap is not an MCAP file: it does not begin as one, so check that it was copied whole"
    ));
    assert!(message("b.mcap", b"").contains("is not an MCAP file"));
    assert!(
        message("c.db3", b"hello, this is no database at all")
            .contains("is not a rosbag2 database")
    );
    assert!(message("d.db3", b"").contains("it has no table `topics`"));
    let none = refusal(read_all(&folder.path().join("none.mcap")));
    assert!(none.starts_with("cannot read "), "{none}");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(
        refusal(read_all(&empty))
            .contains("has no logs: looked in it and its subfolders for *.mcap and *.db3")
    );
    assert!(is_bag(&fixture("split")) && !is_bag(&empty));
}

#[test]
fn views_do_not_pass_for_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless.db3");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);
             INSERT INTO topics VALUES (1, '/a', 'std_msgs/msg/Bool', 'cdr');
             CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT 1 AS topic_id, i AS timestamp, x'00010000ff' AS data FROM n;",
        )
        .unwrap();
    drop(database);
    assert!(refusal(read_all(&path)).ends_with("it has no table `messages`"));
}
