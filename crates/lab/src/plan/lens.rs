//! From parameters to embeddings: `c = B ψ(w)`.
//!
//! Neither criterion depends on the coordinates of embeddings, so the lens chooses them: polynomials
//! are those of centred parameters ([`Centre`]), and where there are fewer rows than features only what
//! these span is looked at.

use std::borrow::Cow;
use std::collections::HashSet;

use faer::Mat;
use rayon::prelude::*;
use taskscout::features::{FeatureMap, Features as _};
use taskscout_io::tables::Table;

use super::centre::Centre;
use crate::error::{LabError, Result};

/// Values of features beyond this cannot be squared and added up.
const LARGEST: f64 = 1e140;
/// Rows embedded by one thread at a time.
const BLOCK: usize = 4096;

/// How parameters become embeddings, with names for what it makes of them.
#[derive(Debug, Clone)]
pub(super) struct Lens {
    /// `ψ_W`.
    pub(super) features: FeatureMap,
    /// `B`; the features are the embeddings without.
    pub(super) map: Option<Mat<f64>>,
    /// Names of the features, as `speed` or `speed·angle`.
    pub(super) names: Vec<String>,
    /// What a row of the map is called in messages.
    pub(super) row_name: String,
    /// The features of parameters as they are, and where they are centred instead.
    centre: Option<(FeatureMap, Centre)>,
    /// Whether the map is an orthonormal basis of what some rows span.
    pub(super) spanned: bool,
}

impl Lens {
    /// Features of named parameters, without a map.
    pub(super) fn new(features: FeatureMap, columns: &[String]) -> Self {
        Self {
            names: feature_names(&features, columns),
            features,
            map: None,
            row_name: "direction".into(),
            centre: None,
            spanned: false,
        }
    }

    /// Takes features of parameters that are centred as some tasks are, where that changes no plan.
    pub(super) fn centre_on(&mut self, tasks: &[f64]) -> Result<()> {
        if self.map.is_some() {
            return Ok(());
        }
        if let Some(centre) = Centre::of(&self.features, tasks) {
            let plain = std::mem::replace(&mut self.features, centre.features()?);
            self.centre = Some((plain, centre));
        }
        Ok(())
    }

    /// Takes features of parameters as they are again.
    pub(super) fn uncentre(&mut self) {
        if let Some((plain, _)) = self.centre.take() {
            self.features = plain;
        }
    }

    /// Columns whose sum of outer products is `A = I` of the plain features, where these are others.
    pub(super) fn identity(&self) -> Option<Mat<f64>> {
        self.centre.as_ref().map(|(_, centre)| centre.matrix())
    }

    /// Looks only at what the features of some rows span, where these are fewer than the features.
    pub(super) fn span(&mut self, rows: &[&[f64]]) -> Result<()> {
        let features: Vec<Vec<f64>> = rows.iter().map(|rows| self.features_of(rows)).collect();
        let k = self.features.dim();
        let rows: Vec<&[f64]> = features
            .iter()
            .flat_map(|rows| rows.chunks_exact(k))
            .collect();
        let finite = |row: &&[f64]| row.iter().all(|value| value.is_finite());
        if self.map.is_some() || rows.len() >= k || !rows.iter().all(finite) {
            return Ok(());
        }
        let size = |row: &[f64]| {
            row.iter()
                .fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()))
        };
        // Lengths do not matter to the span, and rounding is relative to them.
        let sizes: Vec<f64> = rows.iter().map(|row| size(row)).collect();
        let matrix = Mat::from_fn(k, rows.len(), |i, j| rows[j][i] / sizes[j]);
        let svd = matrix.thin_svd().map_err(|_| {
            LabError::Failure(
                "what the tasks span could not be computed: rescale the parameters".into(),
            )
        })?;
        let (values, vectors) = (svd.S(), svd.U());
        let rank = (0..rows.len())
            .filter(|&i| values[i] > 1e-13 * values[0])
            .count()
            .max(1);
        self.map = Some(Mat::from_fn(rank, k, |i, j| vectors[(j, i)]));
        self.spanned = true;
        Ok(())
    }

    /// Refuses rows with a feature too large to be squared; `place` names a row.
    pub(super) fn check(
        &self,
        parameters: &[f64],
        embeddings: &[f64],
        place: impl Fn(usize) -> String,
    ) -> Result<()> {
        let large = |value: &f64| !value.is_finite() || value.abs() > LARGEST;
        let refuse = |row: usize, what: String| {
            Err(LabError::Input(format!(
                "{what} of {} is too large for a number to be squared: rescale the parameters",
                place(row)
            )))
        };
        // In the units of the user, who knows of no others.
        if let Some((plain, _)) = &self.centre {
            let (d, k) = (plain.input_dim(), plain.dim());
            let degree = match plain {
                FeatureMap::Polynomial(map) => map.degree(),
                _ => 1,
            };
            let limit = LARGEST.powf(f64::from(degree).recip()) / 2.0;
            let mut features = vec![0.0; k];
            for (row, values) in parameters.chunks_exact(d).enumerate() {
                if values.iter().any(|value| value.abs() > limit) {
                    plain.apply(values, &mut features);
                    if let Some(index) = features.iter().position(large) {
                        return refuse(row, self.names[index].clone());
                    }
                }
            }
        }
        let k = self.dim();
        let broken = embeddings.iter().position(|value| !value.is_finite());
        match broken.or_else(|| embeddings.iter().position(large)) {
            None => Ok(()),
            Some(index) => refuse(index / k, self.value_name(index % k)),
        }
    }

    /// With a map from a file: its columns are the features, by name if it has them all.
    pub(super) fn with_map_file(mut self, path: &std::path::Path) -> Result<Self> {
        let table = Table::read(path)?;
        let found: Vec<&str> = table.columns().iter().map(|column| &*column.name).collect();
        let wanted: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let (k, d) = (table.rows(), wanted.len());
        if found.len() != d {
            return Err(LabError::Input(format!(
                "{} has {} columns, but tasks have {d} features ({}): give the map one column for each",
                table.name(),
                found.len(),
                shortened(&self.names)
            )));
        }
        let by_name = wanted.iter().all(|name| found.contains(name));
        let values = table.matrix(if by_name { &wanted } else { &found })?;
        self.map = Some(Mat::from_fn(k, d, |i, j| values[i * d + j]));
        self.row_name = format!("row of {}", table.name());
        Ok(self)
    }

    /// Length of an embedding.
    pub(super) fn dim(&self) -> usize {
        self.map.as_ref().map_or(self.features.dim(), Mat::nrows)
    }

    /// Whether embeddings are the parameters.
    pub(super) fn is_identity(&self) -> bool {
        self.map.is_none() && self.features.is_identity()
    }

    /// The name of an embedding's value: a feature, or a row of the map.
    pub(super) fn value_name(&self, index: usize) -> String {
        match (&self.map, self.names.get(index)) {
            (None, Some(name)) => name.clone(),
            _ => format!("{} {index}", self.row_name),
        }
    }

    /// The name of a direction's part: a feature where a basis of these is all that is looked at.
    pub(super) fn feature_or_value(&self, index: usize) -> String {
        match self.names.get(index) {
            Some(name) if self.spanned => name.clone(),
            _ => self.value_name(index),
        }
    }

    /// The embeddings of row-major parameters; borrowed where nothing has to be done.
    pub(super) fn embed<'a>(&self, rows: &'a [f64]) -> Cow<'a, [f64]> {
        if self.is_identity() {
            return Cow::Borrowed(rows);
        }
        let (d, m, k) = (self.features.input_dim(), self.features.dim(), self.dim());
        let mut out = vec![0.0; rows.len() / d * k];
        let blocks = rows
            .par_chunks(BLOCK * d)
            .zip(out.par_chunks_mut(BLOCK * k));
        match &self.map {
            None => blocks.for_each(|(rows, out)| self.features.apply(rows, out)),
            Some(map) => blocks.for_each(|(rows, out)| {
                let mut features = vec![0.0; m];
                for (row, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(k)) {
                    self.features.apply(row, &mut features);
                    for (i, value) in out.iter_mut().enumerate() {
                        *value = (0..m).map(|j| map[(i, j)] * features[j]).sum();
                    }
                }
            }),
        }
        Cow::Owned(out)
    }

    /// The features of row-major parameters.
    pub(super) fn features_of(&self, rows: &[f64]) -> Vec<f64> {
        let count = rows.len() / self.features.input_dim();
        let mut out = vec![0.0; count * self.features.dim()];
        self.features.apply(rows, &mut out);
        out
    }
}

/// Names of features in terms of the columns they are made of.
fn feature_names(features: &FeatureMap, columns: &[String]) -> Vec<String> {
    let numbered = |what: &str| {
        let name = |index| format!("{what} {index}");
        (0..features.dim()).map(name).collect()
    };
    match features {
        FeatureMap::Identity(_) => columns.to_vec(),
        FeatureMap::Polynomial(map) => spelt(map.names(), columns, 0),
        FeatureMap::Monomials(map) => spelt(map.names(), columns, 0),
        FeatureMap::OneHotPolynomial(map) => spelt(&map.names(), columns, map.categories()),
        FeatureMap::Fourier(_) => numbered("cosine"),
        FeatureMap::Standardised(map) => {
            let standardised = |column: &String| format!("standardised {column}");
            let columns: Vec<String> = columns.iter().map(standardised).collect();
            feature_names(map.inner(), &columns)
        }
        FeatureMap::Stacked(map) => {
            let parts = map.parts().iter();
            distinct(parts.flat_map(|part| feature_names(part, columns)))
        }
        _ => numbered("feature"),
    }
}

/// Names of stacked features: one that an earlier feature has gives way to its number, so that a
/// map's columns are found by name.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |(index, mut name): (usize, String)| {
        if taken.contains(&name) {
            name = format!("feature {index}");
        }
        taken.insert(name.clone());
        name
    };
    names.enumerate().map(name).collect()
}

/// `w1*w2^2` as `speed·angle²`; `c` are the first columns and `w` those after the categories.
fn spelt(names: &[String], columns: &[String], categories: usize) -> Vec<String> {
    let factor = |factor: &str| -> Option<String> {
        let (variable, power) = factor.split_once('^').unwrap_or((factor, ""));
        let offset = if variable.starts_with('w') {
            categories
        } else {
            0
        };
        let index: usize = variable.get(1..)?.parse().ok()?;
        let column = columns.get(offset + index.checked_sub(1)?)?;
        Some(format!("{column}{}", superscript(power)))
    };
    let name = |name: &String| {
        let factors: Option<Vec<String>> = name.split('*').map(factor).collect();
        factors.map_or_else(|| name.clone(), |factors| factors.join("·"))
    };
    names.iter().map(name).collect()
}

fn superscript(power: &str) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |digit: char| digit.to_digit(10).map(|digit| DIGITS[digit as usize]);
    power.chars().filter_map(digit).collect()
}

/// A list of names that fits into a sentence.
pub(super) fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn columns() -> Vec<String> {
        ["speed", "angle"].map(String::from).to_vec()
    }

    #[test]
    fn features_are_named_after_columns() {
        let quadratic = FeatureMap::polynomial(2, 2, true).unwrap();
        assert_eq!(
            Lens::new(quadratic, &columns()).names,
            ["1", "speed", "angle", "speed²", "speed·angle", "angle²"]
        );
        let drones = FeatureMap::one_hot_polynomial(1, 1, 2, true).unwrap();
        assert_eq!(
            Lens::new(drones, &columns()).names,
            ["speed", "speed·angle", "speed·angle²"]
        );
        let cosines = FeatureMap::fourier(2, 2, 1.0, 0).unwrap();
        assert_eq!(
            Lens::new(cosines, &columns()).names,
            ["cosine 0", "cosine 1"]
        );
    }

    #[test]
    fn features_of_maps_within_maps_have_names_of_their_own() {
        let linear = || FeatureMap::identity(2).unwrap();
        let cosine = FeatureMap::fourier(2, 1, 1.0, 0).unwrap();
        let scaled = FeatureMap::standardised(vec![0.0; 2], vec![2.0; 2], linear()).unwrap();
        let stacked = FeatureMap::stacked(vec![linear(), scaled, cosine.clone(), cosine]).unwrap();
        assert_eq!(
            Lens::new(stacked, &columns()).names,
            [
                "speed",
                "angle",
                "standardised speed",
                "standardised angle",
                "cosine 0",
                "feature 5"
            ]
        );
    }

    #[test]
    fn embeddings_are_the_map_of_the_features() {
        let affine = FeatureMap::polynomial(2, 1, true).unwrap();
        let mut lens = Lens::new(affine, &columns());
        assert_eq!(*lens.embed(&[2.0, 3.0]), [1.0, 2.0, 3.0]);
        lens.map = Some(faer::mat![[1.0, 0.0, -1.0]]);
        assert_eq!(
            (lens.dim(), &*lens.embed(&[2.0, 3.0, 0.0, 1.0])),
            (1, &[-2.0, 0.0][..])
        );
        let identity = Lens::new(FeatureMap::identity(2).unwrap(), &columns());
        assert!(matches!(identity.embed(&[1.0, 2.0]), Cow::Borrowed(_)));
    }
}
