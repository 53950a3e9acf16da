//! `taskscout design`: a plan of samples over tasks, with its reasons and its certificate.
//!
//! 1. [`source`] reads where tasks come from and [`lens`] how they become embeddings `c = B ψ(w)`.
//! 2. [`need`] reads what the targets need, `A`, and what is given, `Σ n c cᵀ`.
//! 3. The library plans; [`refusal`] puts what it refuses into the words of the command.
//! 4. [`reason`] says why each task is there; [`outcome`] and [`files`] hand the plan out.

mod columns;
mod files;
mod lens;
mod names;
mod need;
pub(crate) mod options;
mod outcome;
mod reason;
mod refusal;
pub(crate) mod say;
mod source;
mod tidy;

use std::time::Instant;

use faer::Mat;
use rayon::prelude::*;
use taskscout::design::{Campaign, CampaignPlan, Candidates};
use taskscout::rng::{Purpose, derive};

use self::files::PlanFiles;
use self::need::{Wanted, add_outer};
use self::options::DesignOptions;
use self::outcome::{Outcome, Row, Setting};
use self::say::Notes;
use self::source::{Listed, Source, Tasks};
use self::tidy::Tidy;
use crate::error::{CliError, Result};
use crate::output;

/// Rows whose information one thread adds up at a time.
const BLOCK: usize = 4096;

/// Reads, plans, and hands the plan out.
pub(crate) fn execute(options: &DesignOptions) -> Result<()> {
    let files = options.out.as_deref();
    let files = files
        .map(|out| PlanFiles::open(out, options.force))
        .transpose()?;
    let mut notes = Notes::default();
    let mut source = Source::read(options, &mut notes)?;
    let wanted = Wanted::read(&source, options, &mut notes)?;
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
        plan_listed(costs, &source, &wanted, options, &mut setting, &mut notes)?
    } else {
        plan_space(&source, &wanted, options)?
    };
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

/// Plans over a table.
fn plan_listed(
    costs: Option<Vec<f64>>,
    source: &Source,
    wanted: &Wanted,
    options: &DesignOptions,
    setting: &mut Setting,
    notes: &mut Notes,
) -> Result<Outcome> {
    let Tasks::Listed(listed) = &source.tasks else {
        return plan_space(source, wanted, options);
    };
    let (k, d) = (source.lens.dim(), source.columns.len());
    let tidy = Tidy::new(
        source.lens.embed(&listed.rows),
        k,
        listed,
        costs.is_some(),
        notes,
    );
    let count = tidy.rows.len() / k;
    let clock = Instant::now();
    let refused = |error| refusal::refusal(error, source, count);
    let mut candidates = Candidates::new(k, &tidy.rows[..]).map_err(|error| {
        overflow(&tidy, k, source, &listed.file).unwrap_or_else(|| refused(error))
    })?;
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
    let planned = campaign.plan(&candidates);
    let mut plan = planned.map_err(|error| {
        too_few(&error, &campaign, &candidates).unwrap_or_else(|| refused(error))
    })?;
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
    assemble(&plan, Some(listed), solve_s, source, wanted, options)
}

/// What to say of a row whose features are too large; parameters themselves are finite.
fn overflow(tidy: &Tidy<'_>, k: usize, source: &Source, file: &str) -> Option<CliError> {
    let index = tidy.rows.iter().position(|value| !value.is_finite())?;
    Some(CliError::Input(format!(
        "{} of row {} of {file} is too large for a number: rescale the parameters",
        source.lens.value_name(index % k),
        tidy.in_file(index / k)
    )))
}

/// What to say of a campaign whose tasks are too few to reach all that the target needs.
fn too_few(
    error: &taskscout::Error,
    campaign: &Campaign<'_>,
    candidates: &Candidates<'_>,
) -> Option<CliError> {
    let taskscout::Error::Setting { key, problem } = error else {
        return None;
    };
    let reaches = key == "max_tasks" || problem.contains("that the target needs");
    if !reaches || !matches!(key.as_str(), "budget" | "max_tasks") {
        return None;
    }
    let free = Campaign {
        switch_cost: 0.0,
        max_tasks: None,
        min_samples: 1,
        capacities: None,
        ..campaign.clone()
    };
    let best = free.plan(candidates).ok()?.tasks.len();
    let least = campaign.min_samples.max(1);
    Some(CliError::Input(match campaign.max_tasks {
        Some(most) if most < best => format!(
            "--max-tasks {most}: no {most} tasks were found that reach all that the target needs within the budget; the best plan without limits uses {best}, so raise it"
        ),
        _ => format!(
            "--budget {} does not pay for the tasks that reach all that the target needs, each with its switch and at least {least} samples; the best plan without limits uses {best} tasks, so raise it",
            campaign.budget
        ),
    }))
}

/// Plans over a space.
fn plan_space(source: &Source, wanted: &Wanted, options: &DesignOptions) -> Result<Outcome> {
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
    let mut outcome = assemble(&plan, None, solve_s, source, wanted, options)?;
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
            let rows = block * BLOCK..((block + 1) * BLOCK).min(count);
            let mut sum = Mat::zeros(k, k);
            for row in rows {
                let share = (count as f64 * candidates.cost(row)).recip();
                add_outer(&mut sum, candidates.row(row), share);
            }
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
    wanted: &Wanted,
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
    let reasons = reason::reasons(plan, &tasks, &source.lens, wanted, required)?;
    let rows = plan.tasks.iter().zip(reasons).map(|(task, reason)| Row {
        task: task.atom.task.clone(),
        name: task.atom.row.and_then(|row| listed?.names.get(row)),
        row: task.atom.row,
        weight: task.atom.weight,
        n: task.n,
        similarity: task.atom.similarity.or(reason.similarity),
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
        solve_s,
        criterion: taskscout::design::Criterion::from(options.criterion).to_string(),
        budget: options.budget,
        plan_objective: plan.plan_objective,
        rounding_factor: plan.rounding_factor(),
        spent: plan.spent,
        plan: rows.collect(),
    })
}
