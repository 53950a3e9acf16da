//! `taskscout design`: a plan of samples over tasks, with its reasons and its certificate.
//!
//! 1. [`source`] reads where tasks come from and [`lens`] how they become embeddings `c = B ψ(w)`;
//!    [`size`] refuses what does not fit into memory.
//! 2. [`need`] reads what the targets need, `A`, and what is given, `Σ n c cᵀ`.
//! 3. The library plans; [`refusal`] puts what it refuses into the words of the command.
//! 4. [`reason`] says why each task is there; [`outcome`] and [`files`] hand the plan out.

mod centre;
mod columns;
mod files;
mod lens;
mod metric;
mod names;
mod need;
pub(crate) mod options;
mod outcome;
mod reason;
mod refusal;
pub(crate) mod say;
mod size;
mod source;
mod tidy;

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use taskscout::design::{Campaign, CampaignPlan, Candidates};
use taskscout::registry::Registry;
use taskscout::rng::{Purpose, derive};
use taskscout::space::TaskSpace as _;

use self::files::PlanFiles;
use self::metric::Metric;
use self::need::{Asked, Wanted};
use self::options::DesignOptions;
use self::outcome::{Outcome, Row, Setting};
use self::say::Notes;
use self::size::Alive;
use self::source::{Listed, Source, Tasks};
use self::tidy::Tidy;
use crate::error::{CliError, Result};
use crate::output;

/// Rows whose information one thread adds up at a time.
const BLOCK: usize = 4096;
/// Tasks of a table, spread evenly, that say how alike two tasks are.
const COMPARED: usize = 20_000;

/// Reads, plans, and hands the plan out.
pub(crate) fn execute(options: &DesignOptions, registry: &Registry) -> Result<()> {
    let files = options.out.as_deref();
    let files = files
        .map(|out| PlanFiles::open(out, options.force))
        .transpose()?;
    let mut notes = Notes::default();
    let mut source = Source::read(options, registry, &mut notes)?;
    let asked = Asked::read(&source, options)?;
    size::check(&source, &asked, options)?;
    let alive = Alive::start("planning");
    let metric = settle(&mut source, &asked, options)?;
    let wanted = Wanted::new(&asked, &source, &mut notes)?;
    let mut setting = Setting {
        columns: source.columns.clone(),
        has_costs: options.cost.is_some() || options.switch_cost > 0.0,
        restricted: options.switch_cost > 0.0
            || options.max_tasks.is_some()
            || options.min_samples > 1,
        limited: options.capacity.is_some(),
        has_given: wanted.given.is_some(),
        cheapest: 1.0,
        ..Setting::default()
    };
    let outcome = if let Tasks::Listed(listed) = &mut source.tasks {
        let costs = listed.costs.take();
        let seen = (&wanted, &metric);
        plan_listed(costs, &source, seen, options, &mut setting, &mut notes)?
    } else {
        plan_space(&source, (&wanted, &metric), options)?
    };
    drop(alive);
    if !outcome.is_finite() {
        return Err(CliError::Failure(
            "the plan's value is too large or too small for a number: rescale the parameters"
                .into(),
        ));
    }
    let json = serde_json::to_string_pretty(&outcome)
        .map_err(|error| CliError::Failure(format!("cannot write the plan: {error}")))?;
    let json = json + "\n";
    if let Some(files) = &files {
        files.write(&outcome, &setting.columns, &json)?;
        notes.add(files.sentence());
    }
    notes.print();
    if options.json {
        return output::print(&json);
    }
    output::show(&outcome.text(&setting))
}

/// Chooses the coordinates of embeddings, and says how alike two of them are.
fn settle(source: &mut Source, asked: &Asked, options: &DesignOptions) -> Result<Metric> {
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
fn typical_tasks(source: &Source, options: &DesignOptions) -> Result<Vec<f64>> {
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
    options: &DesignOptions,
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
    if !(setting.restricted || setting.limited || options.json) {
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
    options: &DesignOptions,
) -> Result<Outcome> {
    let Tasks::Space(space) = &source.tasks else {
        return Err(CliError::Failure("a table is no space".into()));
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

fn campaign<'a>(wanted: &'a Wanted, options: &DesignOptions) -> Campaign<'a> {
    Campaign {
        given: wanted.given.as_ref().map(Mat::as_ref),
        switch_cost: options.switch_cost,
        max_tasks: options.max_tasks,
        min_samples: options.min_samples,
        tolerance: options.tolerance,
        ..Campaign::new(options.criterion.into(), wanted.need(), options.budget)
    }
}

/// The value of spending the budget evenly over all candidates, in the units of the objective.
fn even_split(
    candidates: &Candidates<'_>,
    wanted: &Wanted,
    options: &DesignOptions,
) -> Option<f64> {
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
    let criterion: taskscout::design::Criterion = options.criterion.into();
    criterion.value(scaled.as_ref(), need.as_ref()).ok()
}

/// The plan as it is handed out, with its reasons.
fn assemble(
    plan: &CampaignPlan,
    listed: Option<&Listed>,
    solve_s: f64,
    source: &Source,
    (wanted, metric): (&Wanted, &Metric),
    options: &DesignOptions,
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
        criterion: taskscout::design::Criterion::from(options.criterion).to_string(),
        budget: options.budget,
        plan_objective: plan.plan_objective,
        rounding_factor: plan.rounding_factor(),
        spent: plan.spent,
        plan: rows.collect(),
    })
}
