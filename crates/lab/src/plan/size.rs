//! How much memory a design takes, before it is taken.

use taskscout::design::Criterion;
use taskscout::features::Features as _;
use taskscout::space::{Space, TaskSpace as _};

use super::options::PlanOptions;
use super::source::{Source, Tasks};
use super::wanted::Asked;
use crate::error::{LabError, Result};
use crate::memory::{allowed, available};

/// Bytes of a number.
const NUMBER: f64 = 8.0;
/// Square matrices of the size of an embedding that are there at once.
const MATRICES: f64 = 16.0;
/// Rows whose sums of squares are one matrix.
const SUMMED: f64 = 4096.0;
/// Copies of all embeddings at once.
const COPIES: f64 = 2.0;
/// The same where their features outnumber the tasks and are replaced by as many directions as there are tasks.
const WIDE_COPIES: f64 = 4.5;
/// Features from which a design takes work that grows with their cube.
const WIDE: f64 = 64.0;
/// Products of all tasks with themselves that such a design takes at least.
const PRODUCTS: f64 = 12.0;
/// Multiplications that it may take, some seconds' worth.
const MOST_WORK: f64 = 1e11;

/// Refuses a design that needs more memory than it may take, with both numbers.
pub(super) fn check(source: &Source, asked: &Asked, options: &PlanOptions) -> Result<()> {
    let most = allowed()?.min(available().unwrap_or(f64::INFINITY));
    let features = source.lens.features.dim();
    let (rows, width) = shape(source, asked);
    let listed = match &source.tasks {
        Tasks::Space(space) => rows as f64 * space.dim() as f64,
        // Read already; what identity features see is not copied.
        Tasks::Listed(_) => 0.0,
    };
    let (rows, width) = (rows as f64, width as f64);
    let embedded = if width < features as f64 {
        WIDE_COPIES * rows * features as f64
    } else {
        COPIES * rows * width
    };
    let matrices = (MATRICES + rows / SUMMED) * width * width;
    let bytes = NUMBER * (listed + embedded + matrices);
    let work = PRODUCTS * (rows + 2.0 * width) * width * width;
    let fits = bytes <= most;
    if fits && width >= WIDE && work > MOST_WORK && !is_separate(source, asked, options) {
        return Err(LabError::Input(format!(
            "a design over {rows} tasks with {width} features takes at least {work:.0e} multiplications, where {MOST_WORK:.0e} are the most: use fewer tasks or features"
        )));
    }
    if fits {
        return Ok(());
    }
    Err(LabError::Input(format!(
        "a design over {rows} tasks with {features} features takes about {:.1} GB of memory, of which {:.1} GB may be used: use fewer tasks or features, or allow more with --memory",
        bytes / 1e9,
        most / 1e9
    )))
}

/// How many tasks a design looks at, and how many numbers it has for each.
fn shape(source: &Source, asked: &Asked) -> (usize, usize) {
    let inputs = source.columns.len();
    match &source.tasks {
        Tasks::Listed(listed) => {
            let rows = listed.rows.len() / inputs.max(1);
            let others: usize = asked.parameters().map(<[f64]>::len).sum();
            let all = rows + others / inputs.max(1);
            let most = match source.lens.map {
                None => all,
                Some(_) => usize::MAX,
            };
            (rows, source.lens.dim().min(most))
        }
        // A finite space is listed, another one sampled.
        Tasks::Space(space) => {
            let drawn = 256 + 8 * source.lens.features.dim();
            (space.count().unwrap_or(drawn), source.lens.dim())
        }
    }
}

/// Whether every task has one feature at most, with nothing but a budget: then there is a closed form.
fn is_separate(source: &Source, asked: &Asked, options: &PlanOptions) -> bool {
    let plain = source.lens.map.is_none() && source.lens.features.is_identity();
    let free = options.switch_cost <= 0.0
        && options.max_tasks.is_none()
        && options.min_samples <= 1
        && options.capacity.is_none()
        && options.require.is_empty()
        && options.given.is_none();
    let solvable = !asked.has_target() || options.criterion == Criterion::Trace;
    plain
        && free
        && solvable
        && match &source.tasks {
            Tasks::Space(space) => matches!(&**space, Space::OneHot(_)),
            Tasks::Listed(listed) => listed
                .rows
                .chunks_exact(source.columns.len().max(1))
                .all(|row| row.iter().filter(|x| **x != 0.0).count() <= 1),
        }
}
