//! Whether the task features of a study can express what it has seen.

use std::sync::Arc;

use super::Study;
use crate::error::Result;
use crate::identify::Misfit;

impl Study {
    /// Whether `ψ_W` can express the source tasks, and which features it lacks; nothing where there
    /// are too few tasks or rows to tell, or too many unknowns.
    ///
    /// Where there are too many features of an input for that, they are those of the model's `φ`.
    ///
    /// # Errors
    /// A breakdown of the numerics, or a model that cannot be fitted.
    pub fn misfit(&self) -> Result<Option<Arc<Misfit>>> {
        let known = &self.cache.misfit;
        known.get(self.data.version(), || {
            Ok(self.judge_features()?.map(Arc::new))
        })
    }

    fn judge_features(&self) -> Result<Option<Misfit>> {
        if self.data.source_rows() == 0 {
            return Ok(None);
        }
        if self.on_features() {
            return match self.family(false)? {
                Some(family) => Misfit::of_family(&family, &self.data),
                None => Ok(None),
            };
        }
        let under = self.data.transformed_by(&self.model()?.representation)?;
        Misfit::of(&under, self.config.source_features())
    }
}
