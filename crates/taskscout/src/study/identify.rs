//! Hidden targets as members of the source family.

use std::sync::{Arc, PoisonError};

use super::Study;
use crate::data::{FoldSelection, Stage, Statistics};
use crate::design::block;
use crate::error::Result;
use crate::features::{Features as _, apply_row};
use crate::identify::{IdentifiedParameters, ParameterSearch, TargetIdentification, TaskFamily};
use crate::linalg;
use crate::model::{AnyRepresentation, Model, Representation as _};
use crate::rng::{Purpose, Rng, derive};
use crate::space::{Space, TaskSpace as _};
use crate::strategy::outputs::{embedding, source_maps};
use crate::strategy::{Exploit, Nearest};
use crate::target::{Target, TargetParameters};
use crate::task::Task;
use crate::train::candidates::IdentifiedFamilyMember;

/// A family, and what it was fitted to: the version of the data, and whether exploitation was left
/// out.
pub(super) type KnownFamily = (u64, bool, Option<Arc<TaskFamily>>);

impl Study {
    /// What the rows of each target say about its parameters, with a region that holds them at
    /// 90 %; nothing for targets that are known or have no rows, and where the space and its
    /// features do not allow to tell.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn identify(&self) -> Result<Vec<Option<IdentifiedParameters>>> {
        let known = &self.cache.identified;
        known.get(self.data.version(), || self.find_targets())
    }

    fn find_targets(&self) -> Result<Vec<Option<IdentifiedParameters>>> {
        (0..self.config.targets.len())
            .map(|target| {
                if self.data.target_rows(target) == 0 || !self.can_identify(target) {
                    return Ok(None);
                }
                let model = self.model()?;
                let phi = &model.representation;
                let found = self.member(target, FoldSelection::All, phi, false)?;
                Ok(found.map(|member| member.identified))
            })
            .collect()
    }

    /// Whether members of the family can be told apart: not on a ball of plain parameters, where
    /// many fit alike.
    fn can_identify(&self, target: usize) -> bool {
        let config = &self.config;
        let distinct = !config.task_features.is_identity() || config.space.count().is_some();
        config.identify
            && distinct
            && self.data.source_rows() > 0
            && matches!(config.targets[target].kind, TargetParameters::Unknown)
    }

    /// Whether the family is small enough to be fitted on the features themselves.
    pub(super) fn on_features(&self) -> bool {
        TaskFamily::can_be_fitted(self.data.feature_dim(), self.config.source_features())
    }

    /// A target as a member of the family, from some of its rows. The family is that of the
    /// features where `φ` is a matrix that leaves out little of it, else that of `φ`, which then
    /// has far fewer unknowns.
    pub(super) fn member(
        &self,
        target: usize,
        rows: FoldSelection,
        phi: &AnyRepresentation,
        stable: bool,
    ) -> Result<Option<IdentifiedFamilyMember>> {
        if !self.can_identify(target) {
            return Ok(None);
        }
        let full = phi.as_linear().is_some() && 2 * phi.dim() >= self.config.source_features();
        if full && self.on_features() {
            let Some(family) = self.family(stable)? else {
                return Ok(None);
            };
            let search = self.search(&family);
            let found = match rows {
                FoldSelection::All => self.known_member(target, stable, &search)?,
                part => {
                    let statistics = self.data.target_statistics(target, part)?;
                    search.identify_roughly_with_posterior(
                        &statistics,
                        &mut self.finder(target, part),
                    )?
                }
            };
            return Ok(Some(IdentifiedFamilyMember {
                identified: found.identified,
                posteriors: found.posteriors,
                representation: None,
            }));
        }
        if !TaskFamily::can_be_fitted(phi.dim(), self.config.source_features()) {
            return Ok(None);
        }
        let under = self.data.transformed_by(phi)?;
        let stages = stable.then_some([Stage::WarmUp, Stage::Explore]);
        let sources = self.config.source_features();
        let family = TaskFamily::fit(&under, sources, stages.as_ref().map(<[_; 2]>::as_slice))?;
        let Some(family) = family else {
            return Ok(None);
        };
        let statistics = under.target_statistics(target, rows)?;
        let (search, mut rng) = (self.search(&family), self.finder(target, rows));
        let found = match rows {
            FoldSelection::All => search.identify_with_posterior(&statistics, &mut rng)?,
            _ => search.identify_roughly_with_posterior(&statistics, &mut rng)?,
        };
        Ok(Some(IdentifiedFamilyMember {
            identified: found.identified,
            posteriors: found.posteriors,
            representation: Some(phi.clone()),
        }))
    }

    fn search<'a>(&'a self, family: &'a TaskFamily) -> ParameterSearch<'a> {
        ParameterSearch {
            family,
            space: &self.config.space,
            features: &self.config.task_features,
        }
    }

    fn finder(&self, target: usize, rows: FoldSelection) -> Rng {
        let rows = match rows {
            FoldSelection::Without(fold) => 1 + fold as u64,
            _ => 0,
        };
        derive(self.config.seed, Purpose::Identify, &[target as u64, rows])
    }

    /// What all rows of a target say, kept for this version of the data.
    fn known_member(
        &self,
        target: usize,
        stable: bool,
        search: &ParameterSearch<'_>,
    ) -> Result<TargetIdentification> {
        let key = (target, stable);
        let version = self.data.version();
        let lock = || {
            self.cache
                .members
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((at, known)) = lock().get(&key)
            && *at == version
        {
            return Ok(known.clone());
        }
        let rows = self.data.target_statistics(target, FoldSelection::All)?;
        let found =
            search.identify_with_posterior(&rows, &mut self.finder(target, FoldSelection::All))?;
        lock().insert(key, (version, found.clone()));
        Ok(found)
    }

    /// The family of the features, kept for this version of the data.
    pub(super) fn family(&self, stable: bool) -> Result<Option<Arc<TaskFamily>>> {
        let version = self.data.version();
        let lock = || {
            self.cache
                .family
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = lock()
            .iter()
            .find(|(at, kind, _)| (*at, *kind) == (version, stable))
            .map(|(_, _, family)| family.clone());
        if let Some(family) = known {
            return Ok(family);
        }
        let stages = stable.then_some([Stage::WarmUp, Stage::Explore]);
        let family = TaskFamily::fit(
            &self.data,
            self.config.source_features(),
            stages.as_ref().map(<[_; 2]>::as_slice),
        )?
        .map(Arc::new);
        let mut cache = lock();
        cache.retain(|(at, kind, _)| *at == version && *kind != stable);
        cache.push((version, stable, family.clone()));
        Ok(family)
    }

    /// The source task nearest to each target, where the strategy samples those, and further ones
    /// that it may be if half the budget has samples for all. They are tasks of `space`, which is
    /// the study's own or part of it.
    pub(super) fn nearest(
        &self,
        model: &Model,
        budget: usize,
        space: &Space,
    ) -> Result<Vec<Nearest>> {
        let config = &self.config;
        let mode = config.strategy.exploit;
        let continuous = config.space.count().is_none() && !config.task_features.is_identity();
        // Where few directions carry many task features, the design needs fewer samples.
        let full = 2 * model.dim() >= config.source_features();
        let moments = |target: &Target| !target.can_have_samples();
        // The paper's construction needs a ball of plain parameters.
        let plain = matches!(config.space, Space::Ball(_)) && config.task_features.is_identity();
        let printed = mode == Exploit::Paper && (plain || config.space.count().is_some());
        if mode == Exploit::Design
            || printed
            || (mode == Exploit::Auto && !(continuous && full))
            || config.targets.iter().any(moments)
        {
            return Ok(Vec::new());
        }
        let mut all = Vec::with_capacity(config.targets.len());
        for (index, target) in config.targets.iter().enumerate() {
            let found = match &target.kind {
                TargetParameters::Known { task } if space.contains(task) => {
                    Some((vec![space.task_of(task)], "its own parameters".to_owned()))
                }
                TargetParameters::Unknown if self.data.target_rows(index) == 0 => None,
                _ => self.nearest_to(index, model, space)?,
            };
            match found {
                Some(found) => all.push(found),
                None => return Ok(Vec::new()),
            }
        }
        if 2 * all.iter().map(|(tasks, _)| tasks.len()).sum::<usize>() > budget {
            all.iter_mut().for_each(|(tasks, _)| tasks.truncate(1));
        }
        let total: f64 = config.targets.iter().map(|target| target.weight).sum();
        let of_target = |(target, (tasks, how)): (&Target, (Vec<Task>, String))| {
            let weight = target.weight / total / tasks.len() as f64;
            let reason = format!("near target `{}`: {how}", target.name);
            let one = move |task| Nearest {
                task,
                weight,
                reason: reason.clone(),
            };
            tasks.into_iter().map(one)
        };
        Ok(config.targets.iter().zip(all).flat_map(of_target).collect())
    }

    /// The source task nearest to a target as it is known now, and how it was found.
    fn nearest_to(
        &self,
        target: usize,
        model: &Model,
        space: &Space,
    ) -> Result<Option<(Vec<Task>, String)>> {
        let stable = self.config.stable_model;
        let mut rng = derive(
            self.config.seed,
            Purpose::Search,
            &[self.rounds as u64, target as u64],
        );
        let member = self.member(target, FoldSelection::All, &model.representation, stable)?;
        if let Some(member) = member.filter(|member| member.identified.supports_family()) {
            let IdentifiedParameters { low, high, .. } = &member.identified;
            let width = low.iter().zip(high).map(|(a, b)| b - a).fold(0.0, f64::max);
            let how = format!("found within ±{:.2}", 0.5 * width);
            // Only a list may be without what was found in the study's own space.
            let inside = |task: &Vec<f64>| space.count().is_none() || space.contains(task);
            let mut draws = member.identified.posterior_samples.clone();
            draws.retain(inside);
            let task = match (member.representation, self.family(stable)?) {
                (None, Some(family)) => {
                    let rows = self.data.target_statistics(target, FoldSelection::All)?;
                    let function = &member.identified.coefficients;
                    let search = ParameterSearch {
                        space,
                        ..self.search(&family)
                    };
                    search.nearest_member(function, &rows, &mut rng)?
                }
                _ if inside(&member.identified.task) => member.identified.task,
                _ => self.nearest_embedding(target, model, space, &mut rng)?,
            };
            let mut tasks = vec![task];
            tasks.extend(draws);
            let tasks = tasks.iter().map(|task| space.task_of(task)).collect();
            return Ok(Some((tasks, how)));
        }
        if self.config.strategy.exploit == Exploit::Auto {
            return Ok(None);
        }
        let task = self.nearest_embedding(target, model, space, &mut rng)?;
        let task = space.task_of(&task);
        Ok(Some((vec![task], "by the distance of embeddings".into())))
    }

    /// The task whose function under the model is nearest to the target's own, on the target's
    /// inputs, or on those of the sources where it has none yet.
    fn nearest_embedding(
        &self,
        target: usize,
        model: &Model,
        space: &Space,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        let entry = &self.data.targets()[target];
        let mut seen = Statistics::new(model.dim(), self.data.outputs());
        for (fold, rows) in entry.folds.iter().zip(&entry.rows) {
            seen.merge(&model.representation.statistics(fold, rows)?)?;
        }
        if seen.count() == 0 {
            for source in self.data.sources() {
                let rows = (&source.statistics, &source.rows);
                seen.merge(&model.representation.statistics(rows.0, rows.1)?)?;
            }
        }
        let gram = seen.gram_matrix();
        let own = embedding(model, &entry.features)?;
        let maps = source_maps(model, self.config.source_features());
        let distance = |task: &[f64]| {
            let embedding = block(&maps, &apply_row(&self.config.task_features, task));
            let apart: Vec<f64> = embedding.iter().zip(&own).map(|(a, b)| a - b).collect();
            let columns = apart.chunks_exact(gram.nrows().max(1));
            columns
                .map(|column| linalg::quadratic(gram.as_ref(), column))
                .sum()
        };
        Ok(space.minimise(&distance, rng)?.task)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Linear;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::{Samples, TARGET_FOLD_COUNT};
    use crate::features::FeatureMap;
    use crate::strategy::{StrategyConfig, StrategyKind};
    use crate::study::StudyConfig;

    fn rows(w: f64, n: usize, rng: &mut Rng) -> Samples {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let x: Vec<f64> = (0..2 * n).map(|_| normal()).collect();
        let y = x
            .chunks(2)
            .map(|x| x[0] + w * x[1] - w * w * x[0] + 0.5 * normal())
            .collect();
        Samples::new(x, 2, y, 1).unwrap()
    }

    fn study(target: &Samples) -> Study {
        planned(target, StrategyKind::Passive)
    }

    /// A study after its first round.
    fn planned(target: &Samples, kind: StrategyKind) -> Study {
        let mut study = Study::new(StudyConfig {
            task_features: FeatureMap::polynomial(1, 2, true).unwrap(),
            ..StudyConfig::new(
                Space::boxed(vec![0.0], vec![1.0]).unwrap(),
                FeatureMap::identity(2).unwrap(),
                vec![Target::unknown("t")],
                StrategyConfig::new(kind),
            )
            .unwrap()
        })
        .unwrap();
        study.tell_target(0, target).unwrap();
        for item in study.ask(300).unwrap().items {
            let rng = &mut derive(0, Purpose::Collect, &[item.id]);
            let told = rows(item.task[0], item.n, rng);
            study.tell(item.id, &told).unwrap();
        }
        study
    }

    /// Garbage in the labels of one fold must not move what is found without that fold.
    #[test]
    fn a_fold_left_out_is_not_seen() {
        let honest = rows(0.4, 40, &mut derive(1, Purpose::Test, &[]));
        let mut labels = honest.outputs().to_vec();
        labels[..10].iter_mut().for_each(|y| *y = 9.0 - 5.0 * *y);
        let garbled = Samples::new(honest.inputs().to_vec(), 2, labels, 1).unwrap();
        let (honest, garbled) = (study(&honest), study(&garbled));
        let changed = |fold: usize| {
            let of = |study: &Study| study.data.targets()[0].folds[fold].clone();
            of(&honest) != of(&garbled)
        };
        let mut without_garbage = 0;
        for fold in 0..TARGET_FOLD_COUNT {
            let others = (0..TARGET_FOLD_COUNT).any(|other| other != fold && changed(other));
            let found = |study: &Study| {
                // What all rows say is known by now, as when the guard asks.
                study.identify().unwrap();
                let rows = FoldSelection::Without(fold);
                let phi = Linear::from_matrix(faer::Mat::identity(2, 2))
                    .unwrap()
                    .into();
                let member = study.member(0, rows, &phi, false).unwrap();
                member.unwrap().identified
            };
            assert_eq!(found(&honest) == found(&garbled), !others, "fold {fold}");
            without_garbage += usize::from(changed(fold) && !others);
        }
        assert_eq!(without_garbage, 1);
    }

    #[test]
    fn targets_are_looked_for_where_the_strategy_samples_them() {
        let target = rows(0.4, 40, &mut derive(1, Purpose::Test, &[]));
        for (kind, looks) in [(StrategyKind::Aware, true), (StrategyKind::Agnostic, false)] {
            let mut study = planned(&target, kind);
            study.ask(300).unwrap();
            let known = study.cache.members.lock().unwrap();
            assert_eq!(!known.is_empty(), looks, "{kind}");
        }
    }
}
