//! What `--force` removes.

use crate::common::Scratch;

#[test]
fn force_removes_what_the_run_wrote_and_nothing_else() {
    let scratch = Scratch::tables();
    scratch.run_well(&["--save-models"]);
    let written = scratch.files("out");
    for name in [
        "manifest.json",
        "figures/relevant.svg",
        "models/passive-t0-seed0.safetensors",
    ] {
        assert!(written.contains(&name.to_owned()), "{name} in {written:?}");
    }
    let mine = [
        "notes.txt",
        "figures/mine.svg",
        "models/mine.safetensors",
        "trials/mine.csv",
        "trials/.mine.csv.12-3.tmp",
        "collected/mine.jsonl",
        "loss-theirs.svg",
    ];
    for name in mine {
        scratch.file(&format!("out/{name}"), "mine");
    }
    // What a killed process left of the run's own files.
    for name in ["trials/.passive-t0-0.csv.12-3.tmp", ".results.csv.9-9.tmp"] {
        scratch.file(&format!("out/{name}"), "half");
    }
    scratch.run_well(&["--force", "--strategies", "aware"]);
    let left = scratch.files("out");
    for name in mine {
        assert_eq!(scratch.text(&format!("out/{name}")), "mine");
    }
    for name in [
        "trials/passive-t0-0.csv",
        "models/passive-t0-seed0.safetensors",
        "trials/.passive-t0-0.csv.12-3.tmp",
        ".results.csv.9-9.tmp",
    ] {
        assert!(!left.contains(&name.to_owned()), "{name} in {left:?}");
    }
    assert!(left.contains(&"trials/aware-t0-0.csv".to_owned()));

    // Nothing behind a link.
    scratch.file("elsewhere/aware-t0-0.csv", "mine");
    std::fs::remove_dir_all(scratch.path("out/trials")).unwrap();
    std::os::unix::fs::symlink(scratch.path("elsewhere"), scratch.path("out/trials")).unwrap();
    scratch.run_refused(&["--force"], &["out/trials is a symbolic link"]);
    assert_eq!(scratch.text("elsewhere/aware-t0-0.csv"), "mine");
}

#[test]
fn force_needs_a_manifest() {
    let scratch = Scratch::tables();
    scratch.file("out/results.csv", "mine");
    scratch.run_refused(&["--force"], &["no manifest.json", "another --out"]);
    scratch.run_refused(&["--resume"], &["manifest.json", "another --out"]);
    scratch.run_refused(&[], &["holds a run already", "another --out"]);
    assert_eq!(scratch.files("out"), ["results.csv"], "not even a lock");
    std::fs::rename(
        scratch.path("out/results.csv"),
        scratch.path("out/thesis.tex"),
    )
    .unwrap();
    scratch.run_refused(&["--force"], &["no manifest.json"]);
    assert_eq!(scratch.files("out"), ["thesis.tex"]);
    std::fs::remove_file(scratch.path("out/thesis.tex")).unwrap();
    // Killed at its very start, a run leaves no more than this.
    scratch.file("out/.lock", "");
    scratch.file("out/.manifest.json.77-0.tmp", "{");
    scratch.run_well(&["--force"]);
    assert!(!scratch.path("out/.manifest.json.77-0.tmp").exists());
}

#[test]
fn force_trusts_no_other_programs_manifest() {
    let scratch = Scratch::tables();
    scratch.file("out/manifest.json", r#"{"files": ["thesis.tex"]}"#);
    scratch.file("out/thesis.tex", "mine");
    for options in [&["--force"][..], &["--resume"], &[]] {
        scratch.run_refused(options, &["another program wrote it", "another --out"]);
    }
    assert_eq!(scratch.files("out"), ["manifest.json", "thesis.tex"]);
    assert_eq!(scratch.text("out/thesis.tex"), "mine");
}
