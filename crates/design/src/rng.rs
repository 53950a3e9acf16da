//! Random generators that belong to a purpose, never to a shared stream.
//!
//! Every draw comes from a generator derived from `(seed, purpose, indices…)`, so that the same
//! study gives the same bytes on one thread or eight, in any order of work, and after a crash and
//! resume as without.
//!
//! ```
//! use rand::Rng as _;
//! use taskscout::rng::{derive, Purpose};
//! let mut a = derive(7, Purpose::Collect, &[0, 3]);
//! let mut b = derive(7, Purpose::Collect, &[0, 3]);
//! let mut c = derive(7, Purpose::Collect, &[0, 4]);
//! let first = a.next_u64();
//! assert_eq!(first, b.next_u64());
//! assert_ne!(first, c.next_u64());
//! ```

use rand::SeedableRng as _;

/// The generator behind every random draw: ChaCha with 8 rounds, a counter-based generator.
pub type Rng = rand_chacha::ChaCha8Rng;

/// What a generator is for. Two purposes never share draws, whatever their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
#[non_exhaustive]
pub enum Purpose {
    /// The ground truth of a synthetic world.
    World = 1,
    /// Random parameters of a feature map.
    Features = 2,
    /// Rows collected from a source task; indices: round, item, batch.
    Collect = 3,
    /// Rows collected from a target; indices: target, batch.
    Target = 4,
    /// Tasks drawn by a strategy; indices: round.
    Plan = 5,
    /// Search inside a task space; indices: round.
    Search = 6,
    /// Bootstrap resampling of results.
    Bootstrap = 7,
    /// Rows used only to measure a loss.
    Test = 8,
    /// Weights before training; indices: attempt, rows.
    Weights = 9,
    /// Order of rows in training; indices: start, rows, epoch.
    Shuffle = 10,
    /// Search for a hidden target's parameters; indices: target, rows.
    Identify = 11,
    /// Draws from the posterior behind a forecast; indices: draw, then what is drawn.
    Forecast = 12,
}

/// Derives the generator of `purpose` for these indices from the seed.
#[must_use]
pub fn derive(seed: u64, purpose: Purpose, indices: &[u64]) -> Rng {
    // Absorb the words one by one with SplitMix64's finaliser, then squeeze out a 256-bit key.
    let mut state = mix(seed ^ 0x7461_736b_7363_6f75);
    state = mix(state ^ (purpose as u64));
    state = mix(state ^ (indices.len() as u64));
    for &index in indices {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(index));
    }
    let mut key = [0_u8; 32];
    for (word, chunk) in key.chunks_exact_mut(8).enumerate() {
        let value = mix(state.wrapping_add((word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        chunk.copy_from_slice(&value.to_le_bytes());
    }
    Rng::from_seed(key)
}

/// A number drawn uniformly from `[0, 1)`.
#[must_use]
pub fn uniform(rng: &mut Rng) -> f64 {
    use rand::RngExt as _;
    rng.random()
}

/// A number drawn from the standard normal distribution.
#[must_use]
pub fn normal(rng: &mut Rng) -> f64 {
    use rand_distr::Distribution as _;
    rand_distr::StandardNormal.sample(rng)
}

/// SplitMix64's output function: a bijection of 64-bit words that spreads every bit.
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
