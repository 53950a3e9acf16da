//! Where labels go so that they do not lie on each other.

/// Moves positions apart until neighbours are at least `gap` apart, as little as possible in the
/// sum of squares, and keeps them between `low` and `high` where there is room.
///
/// Taking off `i·gap` from the i-th position turns the condition into "not falling", so this is
/// isotonic regression, solved by pooling adjacent violators.
pub(crate) fn apart(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (rank, &index) in order.iter().enumerate() {
        let mut pool = (wanted[index] - rank as f64 * gap, 1);
        while let Some(&(mean, count)) = pools.last() {
            if mean <= pool.0 {
                break;
            }
            let total = count + pool.1;
            pool.0 = (mean * count as f64 + pool.0 * pool.1 as f64) / total as f64;
            pool.1 = total;
            pools.pop();
        }
        pools.push(pool);
    }
    let highest = (high - gap * wanted.len().saturating_sub(1) as f64).max(low);
    let levels = pools
        .into_iter()
        .flat_map(|(level, count)| std::iter::repeat_n(level.clamp(low, highest), count));
    let mut placed = vec![0.0; wanted.len()];
    for (rank, (level, &index)) in levels.zip(&order).enumerate() {
        placed[index] = level + rank as f64 * gap;
    }
    placed
}

/// A label beside a vertical line: which side, which row from the bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag {
    pub(crate) on_left: bool,
    pub(crate) row: usize,
}

/// Places a label of given width beside each of some vertical lines, between `low` and `high`:
/// in the lowest row, and to the right rather than to the left, where it meets no other label and
/// no other line; if there is no such place, where it meets no other label at least.
pub(crate) fn flags(lines: &[(f64, f64)], low: f64, high: f64) -> Vec<Flag> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| lines[a].0.total_cmp(&lines[b].0));
    let mut taken: Vec<(usize, f64, f64)> = Vec::new();
    let mut placed = vec![
        Flag {
            on_left: false,
            row: 0
        };
        lines.len()
    ];
    for index in order {
        let (x, width) = lines[index];
        let span = |flag: Flag| {
            if flag.on_left {
                (x - width, x)
            } else {
                (x, x + width)
            }
        };
        let free = |flag: &Flag| {
            let (start, end) = span(*flag);
            let apart = |&(row, from, to): &(usize, f64, f64)| {
                row != flag.row || end <= from || to <= start
            };
            start >= low && end <= high && taken.iter().all(apart)
        };
        let meets_no_line = |flag: &Flag| {
            let (start, end) = span(*flag);
            let mut others = lines
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index);
            others.all(|(_, &(line, _))| line <= start || end <= line)
        };
        let places =
            || (0..=lines.len()).flat_map(|row| [false, true].map(|on_left| Flag { on_left, row }));
        let best = places().find(|flag| free(flag) && meets_no_line(flag));
        if let Some(flag) = best.or_else(|| places().find(free)) {
            let (start, end) = span(flag);
            taken.push((flag.row, start, end));
            placed[index] = flag;
        }
    }
    placed
}

/// About how wide a text is, in pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

/// A text without so much of its middle that it fits.
pub(crate) fn shortened(text: &str, width: f64, size: f64) -> String {
    let letters: Vec<char> = text.chars().collect();
    // Widths are estimates that add up to one of the same size with rounding.
    let room = (width / text_width("x", size) + 1e-9) as usize;
    if letters.len() <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(1).max(2);
    let (start, end) = (kept.div_ceil(2), kept / 2);
    let start: String = letters[..start.min(letters.len())].iter().collect();
    let end: String = letters[letters.len().saturating_sub(end)..]
        .iter()
        .collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::close;

    #[test]
    fn leaves_what_is_apart_and_centres_what_is_not() {
        let placed = apart(&[50.0, 10.0, 50.0], 14.0, 0.0, 100.0);
        close(placed[1], 10.0);
        close(placed[0], 43.0);
        close(placed[2], 57.0);
    }

    #[test]
    fn stays_inside() {
        let placed = apart(&[99.0, 99.0, 99.0], 10.0, 0.0, 100.0);
        close(placed[0], 80.0);
        close(placed[2], 100.0);
        close(apart(&[-5.0], 10.0, 0.0, 100.0)[0], 0.0);
        assert!(apart(&[], 10.0, 0.0, 100.0).is_empty());
    }

    fn place(lines: &[(f64, f64)]) -> Vec<(bool, usize)> {
        let flags = flags(lines, 0.0, 100.0).into_iter();
        flags.map(|flag| (flag.on_left, flag.row)).collect()
    }

    #[test]
    fn flags_stand_right_then_left_then_higher() {
        assert_eq!(
            place(&[(10.0, 20.0), (50.0, 20.0)]),
            [(false, 0), (false, 0)]
        );
        // The first would run over the second line.
        assert_eq!(
            place(&[(40.0, 20.0), (45.0, 20.0)]),
            [(true, 0), (false, 0)]
        );
        // No room at the right end.
        assert_eq!(place(&[(95.0, 20.0)]), [(true, 0)]);
        // Three close together: the middle one has to go up.
        let close = place(&[(40.0, 20.0), (45.0, 20.0), (50.0, 20.0)]);
        assert_eq!(close, [(true, 0), (false, 0), (false, 1)]);
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let width = |letters: usize| text_width(&"x".repeat(letters), 12.0);
        assert_eq!(shortened("abcdefgh", width(8), 12.0), "abcdefgh");
        assert_eq!(shortened("abcdefgh", width(7), 12.0), "abc…fgh");
        assert_eq!(shortened("äöüßéèêë", width(4), 12.0), "äö…ë");
        assert_eq!(shortened("abcdefgh", 0.0, 12.0), "a…h");
    }
}
