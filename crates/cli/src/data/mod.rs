//! `taskscout data`: logs on their own.

mod inspect;
pub(crate) mod options;

use crate::error::Result;
use options::Data;

/// Does what is asked with logs.
pub(crate) fn execute(data: &Data) -> Result<()> {
    match data {
        Data::Inspect(options) => inspect::execute(options),
    }
}
