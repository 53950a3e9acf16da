//! The tasks by name: parsing, the help page, and a suggestion for a misspelt one.

/// Something `cargo xtask` can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// List the tasks.
    Help,
    /// Run every check.
    Test,
    /// Run the tests of networks that Burn differentiates.
    TestBurn,
    /// Try the live page in a real browser.
    Browser,
    /// Build the Python package and try it.
    Wheel,
    /// Run the benchmarks.
    Bench,
    /// Measure the figures of the documentation.
    Figures,
    /// Make the Python environment of the benchmarks and print its interpreter.
    BenchPython,
}

/// Every task with its name and one line of help, in the order of the help page.
const TASKS: [(&str, Task, &str); 8] = [
    (
        "test",
        Task::Test,
        "every check a change has to pass: format, lints, docs, tests, repository hygiene",
    ),
    (
        "test-burn",
        Task::TestBurn,
        "lints and tests of the feature `burn`, which takes long to build and is off by default",
    ),
    (
        "browser",
        Task::Browser,
        "the live page in a real browser: every view, both themes, a phone, uploads, two people at once",
    ),
    (
        "wheel",
        Task::Wheel,
        "build the Python package, install it into a new environment and run the lines of the README",
    ),
    (
        "bench",
        Task::Bench,
        "the benchmarks, side by side with numpy, cvxpy and PyTorch",
    ),
    (
        "figures",
        Task::Figures,
        "measure the main figures of the documentation, all or those named (`figures --list`), and write docs/results/measured.md",
    ),
    (
        "bench-python",
        Task::BenchPython,
        "make the Python environment of the benchmarks, print its interpreter",
    ),
    ("help", Task::Help, "this list"),
];

/// Reads the command line (without the program's own name). No argument asks for help.
///
/// The error is one sentence that says what was not understood, with the nearest task.
pub(crate) fn parse(arguments: &[String]) -> Result<Task, String> {
    let (name, rest) = match arguments {
        [] => return Ok(Task::Help),
        [name, rest @ ..] => (name.as_str(), rest),
    };
    let wanted = match name {
        "-h" | "--help" => "help",
        other => other,
    };
    let Some((_, task, _)) = TASKS.iter().find(|(known, ..)| *known == wanted) else {
        return Err(format!("unknown task `{name}`; {}", suggestion(name)));
    };
    match rest.first() {
        None => Ok(*task),
        Some(_) if *task == Task::Figures => Ok(*task),
        Some(extra) => Err(format!(
            "task `{name}` takes no arguments, found `{extra}`; leave it out"
        )),
    }
}

/// The help page.
pub(crate) fn help() -> String {
    let mut page = String::from("Usage: cargo xtask <TASK>\n\nTasks:\n");
    for (name, _, line) in TASKS {
        page.push_str(&format!("  {name:<14}{line}\n"));
    }
    page
}

/// The nearest task if one is near, else all of them.
fn suggestion(name: &str) -> String {
    let nearest = TASKS
        .iter()
        .map(|(known, ..)| (edit_distance(name, known), *known))
        .min();
    match nearest {
        Some((distance, known)) if distance <= 2 => format!("did you mean `{known}`?"),
        _ => {
            let names: Vec<&str> = TASKS.iter().map(|(known, ..)| *known).collect();
            format!("the tasks are {}", names.join(", "))
        }
    }
}

/// Levenshtein distance: insertions, deletions and substitutions that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, right) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&arguments)
    }

    #[test]
    fn every_listed_task_is_understood_and_in_the_help() {
        for (name, task, _) in TASKS {
            assert_eq!(parsed(name), Ok(task));
            assert!(help().contains(name));
        }
    }

    #[test]
    fn nothing_and_the_usual_flags_ask_for_help() {
        for line in ["", "-h", "--help"] {
            assert_eq!(parsed(line), Ok(Task::Help));
        }
    }

    #[test]
    fn a_misspelt_task_gets_the_nearest() {
        let message = parsed("tset").unwrap_err();
        assert_eq!(message, "unknown task `tset`; did you mean `test`?");
    }

    #[test]
    fn a_far_word_gets_the_whole_list() {
        let message = parsed("deploy").unwrap_err();
        assert!(
            message.contains("the tasks are test, test-burn, browser, wheel, bench"),
            "{message}"
        );
    }

    #[test]
    fn an_argument_too_many_is_named() {
        let message = parsed("test --fast").unwrap_err();
        assert!(message.contains("found `--fast`"), "{message}");
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, distance) in [("", "", 0), ("", "ab", 2), ("bench", "bnch", 1)] {
            assert_eq!(edit_distance(a, b), distance);
            assert_eq!(edit_distance(b, a), distance);
        }
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
