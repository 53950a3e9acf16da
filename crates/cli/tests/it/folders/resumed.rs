//! A run goes on with what it was made from, and with trials that are whole.

use crate::common::{Scratch, results, summary};
use crate::folders::setup::PROGRAM;

#[test]
fn a_run_goes_on_with_the_tables_it_was_made_from() {
    let scratch = Scratch::tables();
    scratch.run_well(&[]);
    let (before, table) = (results(&scratch.path("out")), scratch.text("logs/b.csv"));
    scratch.run_well(&["--resume"]);
    scratch.slope_table("b", -2.0);
    scratch.run_refused(
        &["--resume"],
        &["b.csv has changed", "--force", "--accept-changes"],
    );
    scratch.file("logs/b.csv", &table);
    scratch.slope_table("d", 0.7);
    scratch.run_refused(&["--resume"], &["d.csv is new"]);
    std::fs::remove_file(scratch.path("logs/d.csv")).unwrap();
    std::fs::rename(scratch.path("logs/a.csv"), scratch.path("logs/e.csv")).unwrap();
    scratch.run_refused(&["--resume"], &["a.csv is gone", "e.csv is new"]);
    std::fs::rename(scratch.path("logs/e.csv"), scratch.path("logs/a.csv")).unwrap();
    assert_eq!(results(&scratch.path("out")), before, "nothing was touched");

    // The user may know better, and readers are told.
    scratch.file("logs/b.csv", &(table + "1.0,0.5,0.25\n"));
    let said = scratch.run_well(&["--resume", "--accept-changes"]);
    assert!(said.contains("b.csv has changed"), "{said}");
    assert!(
        scratch
            .text("out/report.html")
            .contains("b.csv has changed")
    );
    let said = scratch.run_well(&["--resume"]);
    assert!(said.contains("b.csv has changed"), "for good: {said}");
}

#[test]
fn a_run_goes_on_with_the_program_it_was_made_from() {
    let scratch = Scratch::with_program("", "");
    scratch.run_well(&[]);
    let script = scratch.text("sim.sh");
    scratch.file("sim.sh", &script.replace("2 * p", "3 * p"));
    scratch.run_refused(&["--resume"], &["sim.sh has changed", "--accept-changes"]);
    scratch.file("sim.sh", &script);
    scratch.file("speed.txt", "4");
    scratch.run_refused(&["--resume"], &["speed.txt has changed"]);
    scratch.file("speed.txt", "3");
    scratch.file(
        "run.toml",
        &PROGRAM.replace("\"sim.sh\"", "\"sim.sh\", \"fast\""),
    );
    scratch.run_refused(&["--resume"], &["`source.command` has changed"]);
    // More time changes no row.
    scratch.file(
        "run.toml",
        &PROGRAM.replace("timeout_s = 20", "timeout_s = 30"),
    );
    scratch.run_well(&["--resume"]);
}

#[test]
fn a_trial_that_is_not_whole_is_run_again() {
    let scratch = Scratch::tables();
    scratch.run_well(&[]);
    let (before, name) = (results(&scratch.path("out")), "out/trials/passive-t0-0.csv");
    let whole = scratch.text(name);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 3, "two rounds");
    let cut = &whole[..whole.len() - 9];
    let with = |column: &str, value: &str| {
        let place = lines[0].split(',').position(|name| name == column).unwrap();
        let mut cells: Vec<&str> = lines[2].split(',').collect();
        cells[place] = value;
        format!("{}\n{}\n{}\n", lines[0], lines[1], cells.join(","))
    };
    for (number, (text, problem)) in [
        (
            format!("{}\n{}\n", lines[0], lines[1]),
            "lacks round 1 of c",
        ),
        (
            format!("{}\n{}\n", lines[0], lines[2]),
            "lacks round 0 of c",
        ),
        (format!("{whole}{}\n", lines[2]), "has round 1 of c twice"),
        (
            whole.replacen("passive", "active", 1),
            "another trial's row",
        ),
        (whole.replacen(",0,", ",zero,", 1), "cannot be read"),
        (cut.to_owned(), "breaks off"),
        (String::new(), "breaks off"),
        (with("returned_loss", "NaN"), "NaN as returned_loss"),
        (with("returned_loss", "inf"), "inf as returned_loss"),
        (with("returned_loss", "-1"), "-1 as returned_loss"),
        (with("returned_loss", ""), "no returned_loss in its row 2"),
        (with("test_loss", "-inf"), "-inf as test_loss"),
        (with("train_s", "NaN"), "NaN as train_s"),
    ]
    .into_iter()
    .enumerate()
    {
        scratch.file(name, &text);
        let said = scratch.run_well(&["--resume"]);
        assert!(said.contains(problem), "`{problem}` in: {said}");
        assert!(said.contains("run again"), "{said}");
        assert_eq!(results(&scratch.path("out")), before);
        let aside = format!("{name}.set-aside-{}", number + 1);
        assert_eq!(scratch.text(&aside), text, "kept for people");
    }
    let said = scratch.run_well(&["--resume"]);
    assert_eq!(
        said.matches("kept from the run before").count(),
        2,
        "{said}"
    );
    scratch.run_well(&["--force"]);
    let left = scratch.files("out");
    assert!(
        !left.iter().any(|name| name.contains("set-aside")),
        "{left:?}"
    );
}

#[test]
fn crashes_are_counted_and_standard_error_is_shown() {
    let crash =
        "if [ ! -e died ]; then touch died; read -r line; echo 'out of memory' >&2; exit 4; fi";
    let scratch = Scratch::with_program(&format!("echo hello >&2\n{crash}"), "");
    let said = scratch.run_well(&["--jobs", "1"]);
    for part in [
        "target-only-t0-0 | out of memory\n",
        "passive-t0-0 | hello\n",
        "exit status: 4",
        "warning: the program crashed 1 time and was restarted 1 time\n",
    ] {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
    let counted = serde_json::json!({"crashes": 1, "restarts": 1});
    assert_eq!(summary(&scratch.path("out"))["program"], counted);
    assert!(scratch.text("out/report.html").contains("crashed 1 time"));
    scratch.run_well(&["--resume"]);
    assert_eq!(
        summary(&scratch.path("out"))["program"],
        counted,
        "for good"
    );
}
