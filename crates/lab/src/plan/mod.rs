//! A plan of collection from a table or a space of tasks, outside of any experiment, with its reasons and
//! its certificate.
//!
//! 1. [`Planning::read`] reads: `source` where tasks come from, `lens` how they become embeddings
//!    `c = B ψ(w)`, `wanted` what the targets need, `A`, and what is given, `Σ n c cᵀ`; `size` refuses what
//!    does not fit into memory.
//! 2. [`Planning::solve`] lets the library plan; `refusal` puts what it refuses into words of options, and
//!    `reason` says why each task is there.
//! 3. [`Planned`] is the plan as it is handed out, and [`PlanFiles`] where it is written.
//!
//! ```
//! use taskscout::registry::Registry;
//! use taskscout_lab::plan::{PlanOptions, Planning};
//!
//! let folder = tempfile::tempdir()?;
//! let winds = folder.path().join("winds.csv");
//! std::fs::write(&winds, "name,north,east\ncalm,1,0\nstorm,0,5\nbreeze,1,1\n")?;
//! let options = PlanOptions { candidates: Some(winds), budget: 30.0, ..PlanOptions::default() };
//! let planned = Planning::read(&options, &Registry::new())?.solve()?;
//! assert!(planned.json().contains("\"storm\""));
//! assert!(planned.text().contains("spent        30 of 30 samples"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aligned;
mod centre;
mod columns;
mod files;
mod lens;
mod metric;
mod options;
mod outcome;
mod reason;
mod refusal;
mod say;
mod size;
mod source;
mod task_names;
mod tidy;
mod wanted;
pub mod words;

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use taskscout::design::{Campaign, CampaignPlan, Candidates};
use taskscout::registry::Registry;
use taskscout::rng::{Purpose, derive};
use taskscout::space::TaskSpace as _;

pub use self::aligned::aligned;
pub use self::files::PlanFiles;
use self::metric::Metric;
pub use self::options::{FeatureName, PlanOptions};
use self::outcome::{Outcome, Row, Setting};
use self::say::Notes;
use self::source::{Listed, Source, Tasks};
use self::tidy::Tidy;
use self::wanted::{Asked, Wanted};
use crate::error::{LabError, Result};

/// Rows whose information one thread adds up at a time.
const BLOCK: usize = 4096;
/// Tasks of a table, spread evenly, that say how alike two tasks are.
const COMPARED: usize = 20_000;

/// All that a plan needs, read and checked.
#[derive(Debug)]
pub struct Planning {
    options: PlanOptions,
    source: Source,
    asked: Asked,
    notes: Notes,
}

/// A plan with its certificate, and the words about it.
#[derive(Debug)]
pub struct Planned {
    outcome: Outcome,
    setting: Setting,
    notes: Notes,
    json: String,
}

impl Planning {
    /// Reads all files that the options name.
    ///
    /// # Errors
    /// If one cannot be read or does not fit the others, or the plan would need too much memory or work.
    pub fn read(options: &PlanOptions, registry: &Registry) -> Result<Self> {
        let mut notes = Notes::default();
        let source = Source::read(options, registry, &mut notes)?;
        let asked = Asked::read(&source, options)?;
        size::check(&source, &asked, options)?;
        Ok(Self {
            options: options.clone(),
            source,
            asked,
            notes,
        })
    }

    /// Plans.
    ///
    /// # Errors
    /// If no plan fits what was asked, or numbers are out of range.
    pub fn solve(self) -> Result<Planned> {
        let Self {
            options,
            mut source,
            asked,
            mut notes,
        } = self;
        let options = &options;
        let metric = settle(&mut source, &asked, options)?;
        let wanted = Wanted::new(&asked, &source, &mut notes)?;
        let mut setting = setting(&source, &wanted, options);
        let outcome = if let Tasks::Listed(listed) = &mut source.tasks {
            let costs = listed.costs.take();
            let seen = (&wanted, &metric);
            plan_listed(costs, &source, seen, options, &mut setting, &mut notes)?
        } else {
            plan_space(&source, (&wanted, &metric), options)?
        };
        if !outcome.is_finite() {
            return Err(LabError::Failure(
                "the plan's value is too large or too small for a number: rescale the parameters"
                    .into(),
            ));
        }
        let json = serde_json::to_string_pretty(&outcome)
            .map_err(|error| LabError::Failure(format!("cannot write the plan: {error}")))?;
        Ok(Planned {
            outcome,
            setting,
            notes,
            json: json + "\n",
        })
    }
}

impl Planned {
    /// The plan as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The plan as a table with its certificate, for people.
    #[must_use]
    pub fn text(&self) -> String {
        self.outcome.text(&self.setting)
    }

    /// Sentences that a person should read beside the plan.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        self.notes.all()
    }
}

/// What the words about a plan depend on, as far as it is known before.
fn setting(source: &Source, wanted: &Wanted, options: &PlanOptions) -> Setting {
    Setting {
        columns: source.columns.clone(),
        has_costs: options.cost.is_some() || options.switch_cost > 0.0,
        restricted: options.switch_cost > 0.0
            || options.max_tasks.is_some()
            || options.min_samples > 1,
        limited: options.capacity.is_some(),
        has_given: wanted.given.is_some(),
        cheapest: 1.0,
        ..Setting::default()
    }
}

/// Chooses the coordinates of embeddings, and says how alike two of them are.
fn settle(source: &mut Source, asked: &Asked, options: &PlanOptions) -> Result<Metric> {
    let tasks = typical_tasks(source, options)?;
    let metric = |lens: &lens::Lens| Metric::new(&lens.embed(&tasks), lens.dim());
    let has_need = asked.has_target() || source.learnt.is_some();
    let features = source.lens.dim();
    source.lens.centre_on(&tasks)?;
    if let Tasks::Listed(listed) = &source.tasks {
        let mut rows: Vec<&[f64]> = vec![&listed.rows];
        rows.extend(asked.parameters());
        let count = rows.iter().map(|rows| rows.len()).sum::<usize>() / source.columns.len().max(1);
        if count < features {
            // All that these rows span is the same everywhere, the length of its directions is not.
            if !has_need {
                source.lens.uncentre();
            }
            source.lens.span(&rows)?;
        }
    }
    let found = metric(&source.lens)?;
    if has_need || source.lens.spanned || found.rank() == source.lens.dim() {
        return Ok(found);
    }
    // `A = I` where tasks do not reach everything is a projection in the user's own coordinates.
    source.lens.uncentre();
    metric(&source.lens)
}

/// Tasks that may be chosen: those of the table, evenly spread, or some of the space.
fn typical_tasks(source: &Source, options: &PlanOptions) -> Result<Vec<f64>> {
    let d = source.columns.len();
    match &source.tasks {
        Tasks::Listed(listed) => {
            let step = (listed.rows.len() / d).div_ceil(COMPARED).max(1);
            let rows = listed.rows.chunks_exact(d).step_by(step);
            Ok(rows.flatten().copied().collect())
        }
        Tasks::Space(space) => {
            let mut rng = derive(options.seed, Purpose::Search, &[1]);
            let mut rows = Vec::new();
            for _ in 0..256 + 8 * source.lens.names.len() {
                rows.extend(space.sample(&mut rng)?);
            }
            Ok(rows)
        }
    }
}

/// Plans over a table.
fn plan_listed(
    costs: Option<Vec<f64>>,
    source: &Source,
    (wanted, metric): (&Wanted, &Metric),
    options: &PlanOptions,
    setting: &mut Setting,
    notes: &mut Notes,
) -> Result<Outcome> {
    let Tasks::Listed(listed) = &source.tasks else {
        return plan_space(source, (wanted, metric), options);
    };
    let (k, d) = (source.lens.dim(), source.columns.len());
    let embeddings = source.lens.embed(&listed.rows);
    let place = |row| format!("row {row} of {}", listed.file);
    source.lens.check(&listed.rows, &embeddings, place)?;
    let tidy = Tidy::new(embeddings, k, listed, costs.is_some(), notes);
    let count = tidy.rows.len() / k;
    let clock = Instant::now();
    let refused = |error| refusal::refusal(error, source, count);
    let mut candidates = Candidates::new(k, &tidy.rows[..]).map_err(refused)?;
    if let Some(costs) = costs {
        candidates = candidates.with_costs(costs).map_err(refused)?;
    }
    let required = tidy.of_file(&listed.required);
    let forbidden = tidy.of_file(&listed.forbidden);
    let campaign = Campaign {
        capacities: listed.capacities.as_deref(),
        required: &required,
        forbidden: &forbidden,
        ..campaign(wanted, options)
    };
    let mut plan = campaign.plan(&candidates).map_err(refused)?;
    let solve_s = clock.elapsed().as_secs_f64();
    setting.candidates = Some(count);
    let rows = plan.tasks.iter().filter_map(|task| task.atom.row);
    setting.cheapest = rows
        .map(|row| candidates.cost(row))
        .fold(f64::INFINITY, f64::min);
    if options.even_split && !(setting.restricted || setting.limited) {
        setting.even_split = even_split(&candidates, wanted, options);
    }
    for task in &mut plan.tasks {
        if let Some(row) = task.atom.row.map(|row| tidy.in_file(row)) {
            task.atom.row = Some(row);
            task.atom.task = listed.rows[row * d..(row + 1) * d].to_vec();
        }
    }
    assemble(
        &plan,
        Some(listed),
        solve_s,
        source,
        (wanted, metric),
        options,
    )
}

/// Plans over a space.
fn plan_space(
    source: &Source,
    (wanted, metric): (&Wanted, &Metric),
    options: &PlanOptions,
) -> Result<Outcome> {
    let Tasks::Space(space) = &source.tasks else {
        return Err(LabError::Failure("a table is no space".into()));
    };
    let clock = Instant::now();
    let map = source.lens.map.as_ref().map(Mat::as_ref);
    let mut rng = derive(options.seed, Purpose::Search, &[]);
    let plan = campaign(wanted, options)
        .plan_space(space, &source.lens.features, map, &mut rng)
        .map_err(|error| refusal::refusal(error, source, usize::MAX))?;
    let solve_s = clock.elapsed().as_secs_f64();
    let mut outcome = assemble(&plan, None, solve_s, source, (wanted, metric), options)?;
    for row in &mut outcome.plan {
        row.name = space.name_of(&row.task).map(str::to_owned);
    }
    Ok(outcome)
}

fn campaign<'a>(wanted: &'a Wanted, options: &PlanOptions) -> Campaign<'a> {
    Campaign {
        given: wanted.given.as_ref().map(Mat::as_ref),
        switch_cost: options.switch_cost,
        max_tasks: options.max_tasks,
        min_samples: options.min_samples,
        tolerance: options.tolerance,
        ..Campaign::new(options.criterion, wanted.need(), options.budget)
    }
}

/// The value of spending the budget evenly over all candidates, in the units of the objective.
fn even_split(candidates: &Candidates<'_>, wanted: &Wanted, options: &PlanOptions) -> Option<f64> {
    let (k, count) = (candidates.dim(), candidates.len());
    let blocks: Vec<Mat<f64>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let (first, last) = (block * BLOCK, ((block + 1) * BLOCK).min(count));
            let share = |j: usize| (count as f64 * candidates.cost(first + j)).recip();
            let entry = |i: usize, j: usize| candidates.row(first + j)[i];
            let columns = Mat::from_fn(k, last - first, entry);
            let weighted = Mat::from_fn(k, last - first, |i, j| entry(i, j) * share(j));
            let mut sum = Mat::zeros(k, k);
            let add = Accum::Replace;
            matmul(
                sum.as_mut(),
                add,
                &weighted,
                columns.transpose(),
                1.0,
                Par::Seq,
            );
            sum
        })
        .collect();
    let mut information: Mat<f64> = blocks.into_iter().fold(Mat::zeros(k, k), |a, b| a + b);
    if let Some(given) = &wanted.given {
        information += faer::Scale(options.budget.recip()) * given;
    }
    // Neither criterion changes with the units, but rounding does.
    let unit = |i: usize| information[(i, i)].max(f64::MIN_POSITIVE).sqrt();
    let units: Vec<f64> = (0..k).map(unit).collect();
    let scaled = Mat::from_fn(k, k, |i, j| information[(i, j)] / units[i] / units[j]);
    let identity = Mat::identity(k, k);
    let moment = wanted.moment.as_ref().unwrap_or(&identity);
    let need = Mat::from_fn(k, k, |i, j| moment[(i, j)] / units[i] / units[j]);
    let criterion = options.criterion;
    criterion.value(scaled.as_ref(), need.as_ref()).ok()
}

/// The plan as it is handed out, with its reasons.
fn assemble(
    plan: &CampaignPlan,
    listed: Option<&Listed>,
    solve_s: f64,
    source: &Source,
    (wanted, metric): (&Wanted, &Metric),
    options: &PlanOptions,
) -> Result<Outcome> {
    let tasks: Vec<f64> = plan
        .tasks
        .iter()
        .flat_map(|task| task.atom.task.clone())
        .collect();
    let row = |index: usize| plan.tasks[index].atom.row;
    let required = |index: usize| {
        let rows = listed.map_or(&[][..], |listed| &listed.required[..]);
        row(index).is_some_and(|row| rows.contains(&row))
    };
    let reasons = reason::reasons(plan, &tasks, &source.lens, (wanted, metric), required)?;
    let rows = plan.tasks.iter().zip(reasons).map(|(task, reason)| Row {
        task: task.atom.task.clone(),
        name: task.atom.row.and_then(|row| listed?.names.get(row)),
        row: task.atom.row,
        weight: task.atom.weight,
        n: task.n,
        similarity: reason.similarity,
        risk_share: task.atom.risk_share,
        cost: task.cost,
        reason: reason.words,
    });
    let lower_bound = plan.lower_bound.map(|bound| bound.min(plan.objective));
    Ok(Outcome {
        objective: plan.objective,
        lower_bound,
        gap: lower_bound.map(|bound| (plan.objective - bound) / plan.objective),
        iterations: plan.iterations,
        stopped_at: plan.stopped_at,
        solve_s,
        criterion: options.criterion.to_string(),
        budget: options.budget,
        plan_objective: plan.plan_objective,
        rounding_factor: plan.rounding_factor(),
        spent: plan.spent,
        plan: rows.collect(),
    })
}
