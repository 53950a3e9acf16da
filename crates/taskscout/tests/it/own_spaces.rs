//! A space of the user's own, alone and inside other spaces, before and after a study was saved.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use serde::{Deserialize, Serialize};
use taskscout::prelude::*;
use taskscout::rng::Rng;
use taskscout::space::{Atom, LinearConstraint, QuadraticForm, TaskSpace};

/// Two parameters on a circle.
#[derive(Debug, Serialize, Deserialize)]
struct Circle {
    radius: f64,
}

impl TaskSpace for Circle {
    fn dim(&self) -> usize {
        2
    }

    fn check(&self, task: &[f64]) -> Result<()> {
        let size = task[0].hypot(task[1]);
        if (size - self.radius).abs() < 1e-9 {
            return Ok(());
        }
        Err(Error::setting("task", format!("has size {size}")))
    }

    fn sample(&self, rng: &mut Rng) -> Result<Vec<f64>> {
        let angle = std::f64::consts::TAU * taskscout::rng::uniform(rng);
        Ok(vec![self.radius * angle.cos(), self.radius * angle.sin()])
    }

    fn best_atom(&self, form: &QuadraticForm<'_>, _: &mut Rng) -> Result<Atom> {
        let angles = (0..720).map(|step| std::f64::consts::TAU * f64::from(step) / 720.0);
        let atoms = angles.map(|angle| {
            let task = vec![self.radius * angle.cos(), self.radius * angle.sin()];
            Atom {
                value: form.value(&task),
                task,
                exact: false,
            }
        });
        Ok(atoms.max_by(|a, b| a.value.total_cmp(&b.value)).unwrap())
    }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.space::<Circle>("circle").unwrap();
    registry
}

fn circle() -> Space {
    let settings = Circle { radius: 2.0 };
    registry().make_space("circle", &settings).unwrap()
}

fn sample(task: &[f64], n: usize, seed: u64) -> Samples {
    let mut rng = derive(seed, Purpose::Test, &[]);
    let x: Vec<f64> = (0..3 * n).map(|_| normal(&mut rng)).collect();
    let y = x.chunks(3).map(|x| task[0] * x[0] + task[1] * x[2]);
    Samples::new(x.clone(), 3, y.collect(), 1).unwrap()
}

#[test]
fn own_spaces_come_back_inside_other_spaces() {
    let flag = Space::one_hot(2).unwrap();
    let half = LinearConstraint {
        normal: vec![1.0, 0.0],
        bound: 1.0,
    };
    let spaces = [
        circle(),
        Space::product(vec![circle(), flag]).unwrap(),
        Space::constrained(circle(), vec![half]).unwrap(),
    ];
    for space in spaces {
        let mut study = Study::builder(space)
            .inputs(3)
            .target(Target::unknown("tomorrow"))
            .k(2)
            .build()
            .unwrap();
        study.tell_target(0, &sample(&[1.0, 1.0], 20, 1)).unwrap();
        for item in study.ask(60).unwrap().items {
            let told = sample(&item.task, item.n, 10 + item.id);
            study.tell(item.id, &told).unwrap();
        }
        let saved = study.snapshot().unwrap();
        let message = Study::restore(&saved).unwrap().ask(30).unwrap_err();
        assert!(
            message.to_string().contains("register `circle`"),
            "{message}"
        );
        let mut back = Study::restore_with(&saved, &registry()).unwrap();
        assert_eq!(back.ask(30).unwrap(), study.ask(30).unwrap());
    }
}
