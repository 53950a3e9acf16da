//! Tests of a crate are modules of one program, `tests/it/main.rs`: a file that it does not name is never run.

use std::fs;
use std::path::Path;

use crate::steps::Failure;

/// Checks that `main.rs` of every such program names all files and folders beside it.
pub(crate) fn check(root: &Path) -> Result<Option<String>, Failure> {
    let (mut modules, mut forgotten) = (0, Vec::new());
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path().join("tests/it");
        let Ok(main) = fs::read_to_string(folder.join("main.rs")) else {
            continue;
        };
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if name == "main" {
                continue;
            }
            modules += 1;
            if !names(&main, &name) {
                let shown = path.strip_prefix(root).unwrap_or(&path).display();
                forgotten.push(shown.to_string());
            }
        }
    }
    if forgotten.is_empty() {
        return Ok(Some(format!("{modules} modules")));
    }
    forgotten.sort();
    Err(Failure::new(format!("never run: {}", forgotten.join(", ")))
        .with_remedy("name each as `mod NAME;` in the main.rs beside it"))
}

/// Whether a program has a module.
fn names(main: &str, module: &str) -> bool {
    let wanted = format!("mod {module};");
    main.lines().any(|line| line.trim() == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_named_by_a_line_of_its_own() {
        let main = "//! mod hidden;\nmod study;\n    mod inner;\n";
        assert!(names(main, "study") && names(main, "inner"));
        assert!(!names(main, "hidden") && !names(main, "stud"));
    }

    #[test]
    fn forgotten_files_are_named() {
        let root = std::env::temp_dir().join(format!("xtask-it-{}", std::process::id()));
        let folder = root.join("crates/a/tests/it");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.rs"), "mod one;\n").unwrap();
        fs::write(folder.join("one.rs"), "").unwrap();
        assert_eq!(check(&root), Ok(Some("1 modules".into())));
        fs::write(folder.join("two.rs"), "").unwrap();
        let failure = check(&root).unwrap_err().to_string();
        fs::remove_dir_all(&root).unwrap();
        assert!(failure.contains("crates/a/tests/it/two.rs"), "{failure}");
    }
}
