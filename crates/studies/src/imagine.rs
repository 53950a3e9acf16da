//! A copy of a study on which everything can be tried and nothing is stored: what would follow from rows, a failure or
//! a retraction, before anybody decides.
//!
//! ```
//! use taskscout::prelude::*;
//! use taskscout_store::Memory;
//! use taskscout_studies::{Column, Definition, StoredStudy};
//!
//! let study = Study::builder(Space::boxed(vec![0.0], vec![12.0])?)
//!     .inputs(1)
//!     .target(Target::unknown("tomorrow"))
//!     .build()?;
//! let definition = Definition {
//!     parameters: vec![Column::named("wind")],
//!     inputs: vec![Column::named("speed")],
//!     outputs: vec![Column::named("drag")],
//!     ..Definition::default()
//! };
//! let mut tunnel = StoredStudy::create(Box::new(Memory::new()), "tunnel", definition, &study, "ada")?;
//! let mut copy = tunnel.imagine(false)?;
//! copy.note("only a thought")?;
//! assert_eq!((tunnel.version(), copy.version()), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use taskscout_store::{
    Claims, Error as StoreError, Head, Kept, Loaded, NewRecord, Query, Record, Result as Stored,
    Rows, Store,
};

use crate::error::{Result, of_store};
use crate::heartbeat::Heartbeats;
use crate::stored::StoredStudy;

/// A store that takes everything and keeps nothing beyond its own life.
struct Nowhere {
    version: u64,
    /// The log, where it was asked for; what was appended comes after it.
    records: Vec<Record>,
    /// Signs of life, as the real store had them.
    kept: Vec<Kept>,
}

impl Store for Nowhere {
    fn create_checked(&mut self, study: &str, _: &[NewRecord]) -> Stored<u64> {
        Err(StoreError::Exists {
            study: study.to_owned(),
        })
    }

    fn append_checked(
        &mut self,
        _: &str,
        _: u64,
        records: &[NewRecord],
        _: &[Kept],
    ) -> Stored<u64> {
        for new in records {
            self.version += 1;
            self.records.push(Record {
                version: self.version,
                time_us: new.time_us,
                author: new.author.clone(),
                kind: new.kind.clone(),
                body: new.body.clone(),
                row_chunks: new.rows.len(),
            });
        }
        Ok(self.version)
    }

    fn load(&mut self, _: &str, query: &Query) -> Stored<Loaded> {
        let records = self.records.iter();
        Ok(Loaded {
            version: self.version,
            records: records
                .filter(|record| record.version > query.since)
                .cloned()
                .collect(),
            kept: self.kept.clone(),
            damaged: Vec::new(),
        })
    }

    fn list(&mut self) -> Stored<Vec<Head>> {
        Ok(Vec::new())
    }
}

impl Rows for Nowhere {
    fn rows(&mut self, _: &str, _: u64, _: &mut dyn FnMut(Vec<u8>) -> Stored<()>) -> Stored<()> {
        Err(StoreError::Invalid(
            "a copy of a study has no rows: read those of the study itself".into(),
        ))
    }
}

impl Claims for Nowhere {
    fn claim(&mut self, _: &str, _: &str) -> Stored<bool> {
        Ok(true)
    }

    fn release(&mut self, _: &str, _: &str) -> Stored<()> {
        Ok(())
    }
}

impl StoredStudy {
    /// A copy of what is known now, on which everything can be tried and nothing is stored. It keeps the models that
    /// were learnt. Taking rows back may need the whole log: `with_log` reads it.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn imagine(&mut self, with_log: bool) -> Result<Self> {
        let query = match with_log {
            true => Query::all(),
            false => Query::since(self.version()),
        };
        let query = query.with_all(Heartbeats::PREFIX);
        let loaded = self.store.load(&self.name, &query).map_err(of_store)?;
        let mut state = self.state.clone();
        state.study = self.state.study.copy_with_models();
        let version = self.version();
        let store = Nowhere {
            version,
            records: loaded
                .records
                .into_iter()
                .filter(|record| record.version <= version)
                .collect(),
            kept: loaded.kept,
        };
        Ok(Self {
            store: Box::new(store),
            name: self.name.clone(),
            author: self.author.clone(),
            registry: self.registry.clone(),
            clock: Arc::clone(&self.clock),
            state,
            heartbeats: self.heartbeats.clone(),
            learning: self.learning.copied(),
            grown: 0,
            // Nobody opens it again.
            keep_after: usize::MAX,
            asked_before: true,
        })
    }
}
