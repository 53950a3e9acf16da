//! How alike tasks turned out to be, and where the rows came from.
//!
//! Two tasks are alike if their forces go up and down together over the inputs of a recording
//! ([`TaskFunctionValues::similarity`]). Oracles without a posterior give the cosine of embeddings.

use faer::Mat;
use taskscout::Result;
use taskscout::features::apply_row;
use taskscout::metric::{BasisValues, TaskFunctionValues};
use taskscout::study::Study;
use taskscout::train::partial_pooling::HierarchicalModel;
use taskscout::train::{AveragedPredictor, Predictor, PredictorKind};
use taskscout_logs::Recorded;

use crate::record::{RelevantTask, TargetRelevance};

/// Rows of a recording that functions are compared on.
const ROWS: usize = 200;

/// How alike the source tasks are to a target, the most alike first; with all pairs, if asked for.
pub(super) fn of(
    recorded: &Recorded,
    study: &Study,
    target: usize,
    choice: &AveragedPredictor,
    all_pairs: bool,
) -> Result<TargetRelevance> {
    let own = recorded.targets()[target];
    let model = study.model()?;
    let hierarchy = match model.structure.hierarchical_models().first() {
        Some(hierarchy) => Some(hierarchy.refit_all_families(study.data())?),
        None => None,
    };
    let similarities = match (&hierarchy, choice.candidate(PredictorKind::Shared)) {
        (Some(hierarchy), Some(shared)) => {
            let functions = functions(recorded, hierarchy, (own, shared));
            Ground::of(recorded, hierarchy, &functions, own)?.compare(own)
        }
        _ => {
            let wanted = target_embedding(study, &model, choice)?;
            let tasks = recorded.tasks().iter();
            let cosines = tasks.map(|task| {
                let mut features = apply_row(recorded.task_features(), task.vector());
                features.resize(model.map.task_dim(), 0.0);
                let embedding = model.map.embedding(&features, 0)?;
                Ok(cosine(&embedding, &wanted).map(f64::abs))
            });
            cosines.collect::<Result<_>>()?
        }
    };
    let tasks = ranked(recorded, study, own, &similarities);
    let pairs = match (&hierarchy, choice.candidate(PredictorKind::Shared)) {
        (Some(hierarchy), Some(shared)) if all_pairs => {
            let functions = functions(recorded, hierarchy, (own, shared));
            Some(pairs(recorded, hierarchy, &functions)?)
        }
        _ => None,
    };
    Ok(TargetRelevance { tasks, pairs })
}

/// The source tasks with how alike they are, the most alike first.
fn ranked(
    recorded: &Recorded,
    study: &Study,
    own: usize,
    similarities: &[Option<f64>],
) -> Vec<RelevantTask> {
    let counts = study.data().rows_by_task();
    let total = study.data().source_rows().max(1) as f64;
    let mut tasks: Vec<RelevantTask> = recorded
        .tasks()
        .iter()
        .zip(similarities)
        .enumerate()
        .filter(|(index, _)| *index != own)
        .map(|(_, (task, similarity))| {
            let rows = counts
                .iter()
                .find(|(known, _)| known.id.as_str() == task.name);
            RelevantTask {
                task: task.name.clone(),
                similarity: similarity.unwrap_or(0.0),
                weight: rows.map_or(0.0, |(_, rows)| *rows as f64 / total),
            }
        })
        .collect();
    tasks.sort_by(|a, b| {
        let alike = b.similarity.total_cmp(&a.similarity);
        alike.then(b.weight.total_cmp(&a.weight))
    });
    tasks
}

/// A target's embedding: its column of the task map.
fn target_embedding(
    study: &Study,
    model: &taskscout::model::Model,
    choice: &AveragedPredictor,
) -> Result<Vec<f64>> {
    let targets = study.data().targets().iter();
    let own = targets.clone().find(|target| target.name == choice.target);
    own.map_or_else(
        || Ok(Vec::new()),
        |own| model.map.embedding(&own.features, 0),
    )
}

/// What was learnt of a task.
#[derive(Clone)]
enum Function<'a> {
    /// Coefficients on the basis of the hierarchical model.
    Posterior {
        mean: Vec<f64>,
        covariance: Mat<f64>,
    },
    /// What the target got.
    Certain(&'a Predictor),
    /// Nothing.
    Unknown,
}

/// What was learnt of every task.
fn functions<'a>(
    recorded: &Recorded,
    hierarchy: &HierarchicalModel,
    (own, shared): (usize, &'a Predictor),
) -> Vec<Function<'a>> {
    let mut functions = vec![Function::Unknown; recorded.tasks().len()];
    for task in hierarchy.task_posteriors() {
        if let Some(index) = recorded.find(&task.task.id) {
            functions[index] = Function::Posterior {
                mean: task.posterior.mean,
                covariance: task.posterior.covariance,
            };
        }
    }
    functions[own] = Function::Certain(shared);
    functions
}

/// The functions of all tasks over the inputs of one of them.
struct Ground {
    functions: Vec<Option<TaskFunctionValues>>,
}

impl Ground {
    fn of(
        recorded: &Recorded,
        hierarchy: &HierarchicalModel,
        functions: &[Function<'_>],
        ground: usize,
    ) -> Result<Self> {
        // The same inputs look alike to all recordings of a vehicle.
        let mut views: Vec<(usize, View)> = Vec::new();
        let mut out = Vec::with_capacity(functions.len());
        for (task, function) in functions.iter().enumerate() {
            let same =
                |(known, _): &(usize, View)| recorded.scaling(*known) == recorded.scaling(task);
            let at = match views.iter().position(same) {
                Some(at) => at,
                None => {
                    let features = recorded.features_as(ground, task, ROWS);
                    views.push((task, View::new(hierarchy, features)?));
                    views.len() - 1
                }
            };
            let view = &views[at].1;
            out.push(match function {
                Function::Unknown => None,
                Function::Certain(predictor) => {
                    let values = predictor.predict(view.features.as_ref())?;
                    Some(TaskFunctionValues::exact(values))
                }
                Function::Posterior { mean, covariance } => {
                    let covariance = covariance.as_ref();
                    Some(TaskFunctionValues::posterior(&view.basis, mean, covariance))
                }
            });
        }
        Ok(Self { functions: out })
    }

    /// How alike each task is to one of them.
    fn compare(&self, task: usize) -> Vec<Option<f64>> {
        let own = self.functions[task].as_ref();
        let alike = |other: &Option<TaskFunctionValues>| Some(own?.similarity(other.as_ref()?));
        self.functions.iter().map(alike).collect()
    }
}

/// Inputs as the recordings of a vehicle see them.
struct View {
    features: Mat<f64>,
    /// The basis of the hierarchical model.
    basis: BasisValues,
}

impl View {
    fn new(hierarchy: &HierarchicalModel, features: Mat<f64>) -> Result<Self> {
        let basis = BasisValues::new(hierarchy.basis_values(features.as_ref())?);
        Ok(Self { features, basis })
    }
}

fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let size = (dot(a, a) * dot(b, b)).sqrt();
    (size > 0.0).then(|| dot(a, b) / size)
}

/// How alike all tasks are to each other: the mean of both ways to ask.
fn pairs(
    recorded: &Recorded,
    hierarchy: &HierarchicalModel,
    functions: &[Function<'_>],
) -> Result<Vec<Vec<Option<f64>>>> {
    let count = functions.len();
    let mut one_way = Vec::with_capacity(count);
    for task in 0..count {
        one_way.push(Ground::of(recorded, hierarchy, functions, task)?.compare(task));
    }
    let both = |i: usize, j: usize| Some(0.5 * (one_way[i][j]? + one_way[j][i]?));
    Ok((0..count)
        .map(|i| (0..count).map(|j| both(i, j)).collect())
        .collect())
}
