//! `taskscout design`: a plan of samples over tasks, with its reasons and its certificate.

pub(crate) mod options;

use taskscout::registry::Registry;
use taskscout_lab::plan::{PlanFiles, Planning};

use self::options::DesignOptions;
use crate::error::Result;
use taskscout_terminal::Alive;
use taskscout_terminal::{print_json, show, tell};

/// Reads, plans, and hands the plan out.
pub(crate) fn execute(options: &DesignOptions, registry: &Registry) -> Result<()> {
    let files = options.out.as_deref();
    let files = files
        .map(|out| PlanFiles::open(out, options.force))
        .transpose()?;
    let planning = Planning::read(&options.plan(), registry)?;
    let alive = Alive::start("planning");
    let planned = planning.solve()?;
    drop(alive);
    if let Some(files) = &files {
        files.write(&planned)?;
    }
    let written = files.iter().map(PlanFiles::sentence);
    for note in planned.notes().iter().cloned().chain(written) {
        tell(&format!("note: {note}"));
    }
    if options.json {
        return print_json(planned.json());
    }
    show(&planned.text())
}
