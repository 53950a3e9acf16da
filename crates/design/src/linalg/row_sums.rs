//! Sums of products over rows, `Σ x xᵀ` and `Σ x yᵀ`, at the speed of the machine's vector units.
//!
//! A symmetric product of a tall, narrow matrix with itself. Rows are taken in blocks that fit the cache; a block is
//! packed into panels of columns, and a small kernel keeps a tile of the result in registers while it runs down a
//! panel. Only tiles that touch the lower triangle are computed. The instruction set is chosen when the program runs.
//!
//! Every entry is one chain of fused products in the order of the rows, so that results are the same bit for bit
//! with any width of vector registers; machines without fused products round twice.
//!
//! ```
//! use taskscout_design::linalg::row_sums::RowSums;
//! let mut sums = RowSums::new(2, 1);
//! sums.set(&[1.0, 0.0, 1.0, 2.0], &[3.0, 5.0]);
//! let (mut gram, mut moments) = (vec![0.0; 3], vec![0.0; 2]);
//! sums.add_to(&mut gram, &mut moments);
//! assert_eq!((gram, moments), (vec![2.0, 2.0, 4.0], vec![8.0, 10.0]));
//! ```

mod kernels;
#[cfg(test)]
mod tests;

use pulp::{Arch, Simd, WithSimd};

use kernels::{add_moments, add_tile};

/// Groups of columns in a panel.
const PANEL: usize = 3;
/// Rows packed at once: a panel of them fits the first cache, all panels the second.
const BLOCK_ROWS: usize = 160;
/// Values on a line of the cache.
const LINE: usize = 8;

/// A number of a row: sums are in double precision whatever the rows are in.
pub trait Value: Copy + Into<f64> + Sync {}

impl<T: Copy + Into<f64> + Sync> Value for T {}

/// `Σ x xᵀ` and `Σ x yᵀ` of some rows, with the memory that the sums need, to be used again.
#[derive(Debug)]
pub struct RowSums {
    dim: usize,
    outputs: usize,
    /// Columns of a group, which is also the height of a tile.
    group: usize,
    /// Tiles of the lower triangle: for each group of rows, the panels up to its diagonal.
    tiles: Vec<f64>,
    /// For each panel, its part of the moment of each output.
    moments: Vec<f64>,
    /// Packed rows of one block, and its outputs.
    packed: Vec<f64>,
    labels: Vec<f64>,
}

impl RowSums {
    /// For rows of `dim` inputs and `outputs` outputs, none of them zero.
    #[must_use]
    pub fn new(dim: usize, outputs: usize) -> Self {
        Self {
            dim: dim.max(1),
            outputs: outputs.max(1),
            group: 1,
            tiles: Vec::new(),
            moments: Vec::new(),
            packed: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Takes the sums of row-major inputs and outputs; rows that are not whole count for nothing.
    pub fn set<T: Value>(&mut self, inputs: &[T], outputs: &[T]) {
        Arch::new().dispatch(Sum {
            inputs,
            outputs,
            sums: self,
        });
    }

    /// Adds the Gram matrix to a packed lower triangle and the moments, one output after another.
    pub fn add_to(&self, gram: &mut [f64], moments: &mut [f64]) {
        let (n, layout) = (self.group, Layout::new(self.dim, self.group));
        for i in 0..self.dim {
            let (block, mut rest) = (i / n, &mut gram[super::packed::len(i)..][..=i]);
            for panel in layout.panels().take_while(|panel| panel.first <= block) {
                let used = panel.used(block) * n;
                let from = layout.tile(block, panel.first) + (i % n) * used;
                let (part, next) = rest.split_at_mut(used.min(rest.len()));
                add(part, &self.tiles[from..]);
                rest = next;
            }
        }
        for (output, moment) in moments.chunks_mut(self.dim).enumerate() {
            for panel in layout.panels() {
                let (start, width) = (panel.first * n, panel.groups * n);
                let from = start * self.outputs + output * width;
                let end = self.dim.min(start + width);
                add(&mut moment[start..end], &self.moments[from..]);
            }
        }
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}

/// Where things lie for so many columns in groups of `n`.
#[derive(Clone, Copy)]
struct Layout {
    groups: usize,
    n: usize,
}

/// Neighbouring groups of columns that are packed together.
#[derive(Clone, Copy)]
struct Panel {
    first: usize,
    groups: usize,
}

impl Panel {
    /// The groups of the panel that touch the lower triangle in this block of rows.
    fn used(self, block: usize) -> usize {
        self.groups.min(block + 1 - self.first)
    }
}

impl Layout {
    fn new(dim: usize, n: usize) -> Self {
        Self {
            groups: dim.div_ceil(n),
            n,
        }
    }

    fn panels(self) -> impl Iterator<Item = Panel> {
        let starts = (0..self.groups).step_by(PANEL);
        starts.map(move |first| self.panel(first))
    }

    /// The panel that holds a group.
    fn panel(self, group: usize) -> Panel {
        let first = group / PANEL * PANEL;
        Panel {
            first,
            groups: PANEL.min(self.groups - first),
        }
    }

    /// Where the tile of a block of rows and a panel starts.
    fn tile(self, block: usize, first: usize) -> usize {
        (super::packed::len(block) + first) * self.n * self.n
    }

    /// The panel's part of `rows` packed rows.
    fn range(self, panel: Panel, rows: usize) -> std::ops::Range<usize> {
        let start = panel.first * self.n * rows;
        start..start + panel.groups * self.n * rows
    }
}

/// The work, to be done with the best instructions that there are.
struct Sum<'a, T> {
    inputs: &'a [T],
    outputs: &'a [T],
    sums: &'a mut RowSums,
}

impl<T: Value> WithSimd for Sum<'_, T> {
    type Output = ();

    // A group is as wide as one vector register, or several where registers are narrow; a tile of three groups then
    // fills the registers.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.run::<S, 1, 8>(simd),
            4 => self.run::<S, 1, 4>(simd),
            2 => self.run::<S, 2, 4>(simd),
            _ => self.run::<S, 4, 4>(simd),
        }
    }
}

/// A vector of zeros in memory that may be there already.
fn clear(values: &mut Vec<f64>, len: usize) {
    values.clear();
    values.resize(len, 0.0);
}

impl<T: Value> Sum<'_, T> {
    /// With groups of `N` columns in `R` registers.
    #[inline(always)]
    fn run<S: Simd, const R: usize, const N: usize>(self, simd: S) {
        let sums = self.sums;
        let (d, m) = (sums.dim, sums.outputs);
        let layout = Layout::new(d, N);
        sums.group = N;
        clear(&mut sums.tiles, super::packed::len(layout.groups) * N * N);
        clear(&mut sums.moments, layout.groups * N * m);
        let rows = BLOCK_ROWS.min(self.outputs.len() / m);
        // What lies in the padding of the last panel shows in no entry that is read.
        clear(&mut sums.packed, layout.groups * N * rows + LINE);
        let skipped = sums.packed.as_ptr().align_offset(LINE * size_of::<f64>());
        let packed = &mut sums.packed[skipped.min(LINE)..];
        let blocks = self.inputs.chunks(BLOCK_ROWS * d);
        for (x, y) in blocks.zip(self.outputs.chunks(BLOCK_ROWS * m)) {
            let rows = (x.len() / d).min(y.len() / m);
            if rows == 0 {
                break;
            }
            pack::<T, N>(layout, x, d, rows, packed);
            sums.labels.clear();
            for output in 0..m {
                let labels = y.iter().skip(output).step_by(m).take(rows);
                sums.labels.extend(labels.map(|&value| value.into()));
            }
            for panel in layout.panels() {
                let columns = &packed[layout.range(panel, rows)];
                let (columns, _) = S::as_simd_f64s(columns);
                for block in panel.first..layout.groups {
                    let source = layout.panel(block);
                    let shift = (block - source.first) * N;
                    let scalars = &packed[layout.range(source, rows)][shift..];
                    let (from, used) = (layout.tile(block, panel.first), panel.used(block));
                    let tile = &mut sums.tiles[from..from + used * N * N];
                    let (tile, _) = S::as_mut_simd_f64s(tile);
                    let strides = [panel.groups * R, source.groups * N];
                    add_tile::<S, R, N>(simd, used, columns, scalars, strides, tile);
                }
                let from = panel.first * N * m;
                let part = &mut sums.moments[from..from + panel.groups * N * m];
                add_moments::<S, R>(simd, panel.groups, columns, &sums.labels, part);
            }
        }
    }
}

/// Copies rows into panels, one after another, each row-major.
#[inline(always)]
fn pack<T: Value, const N: usize>(
    layout: Layout,
    x: &[T],
    d: usize,
    rows: usize,
    buffer: &mut [f64],
) {
    for panel in layout.panels() {
        let (start, width) = (panel.first * N, panel.groups * N);
        let panels = buffer[layout.range(panel, rows)].chunks_exact_mut(width);
        for (row, to) in x.chunks_exact(d).zip(panels) {
            let from = &row[start..d.min(start + width)];
            // Fixed lengths become a few vector moves.
            if from.len() == PANEL * N {
                let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
                for (to, from) in to.iter_mut().zip(from) {
                    for lane in 0..N {
                        to[lane] = from[lane].into();
                    }
                }
            } else {
                let values = from.iter().map(|&value| value.into());
                to.iter_mut()
                    .zip(values)
                    .for_each(|(to, value)| *to = value);
            }
        }
    }
}
