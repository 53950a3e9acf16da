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

/// Places a label of given width beside each of some vertical lines, inside a frame: in the lowest row, and to the right
/// rather than to the left, where it meets no other label and no other line; if there is no such place, where it meets
/// no other label at least. A label that is too wide for the frame may leave it, but not the picture around it; one that
/// is too wide for that too has a row of its own.
pub(crate) fn flags(lines: &[(f64, f64)], frame: (f64, f64), picture: (f64, f64)) -> Vec<Flag> {
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
        let free = |flag: &Flag, (low, high): (f64, f64)| {
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
        let alone = || Flag {
            on_left: x - picture.0 > picture.1 - x,
            row: taken.iter().map(|one| one.0 + 1).max().unwrap_or(0),
        };
        let flag = places()
            .find(|flag| free(flag, frame) && meets_no_line(flag))
            .or_else(|| places().find(|flag| free(flag, frame)))
            .or_else(|| places().find(|flag| free(flag, picture)))
            .unwrap_or_else(alone);
        let (start, end) = span(flag);
        taken.push((flag.row, start, end));
        placed[index] = flag;
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
    let (start, end) = (
        kept.div_ceil(2).min(letters.len()),
        letters.len().saturating_sub(kept / 2),
    );
    // Between words rather than within one: the rest of a number looks like another number.
    let gap = |letter: &char| *letter == ' ';
    let head = match letters.get(start).is_some_and(gap) {
        true => start,
        false => letters[..start].iter().rposition(gap).unwrap_or(start),
    };
    let tail = letters[end.saturating_sub(1)..].iter().position(gap);
    let tail = tail.map_or(end, |place| end.saturating_sub(1) + place + 1);
    let text = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}…{}", text(&letters[..head]), text(&letters[tail..]))
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
        let flags = flags(lines, (0.0, 100.0), (-10.0, 150.0)).into_iter();
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
    fn flags_too_wide_for_the_frame_leave_it_and_stay_off_each_other() {
        assert_eq!(place(&[(50.0, 90.0)]), [(false, 0)]);
        // To the left there is more room, and no room is enough.
        assert_eq!(place(&[(80.0, 300.0)]), [(true, 0)]);
        let wide = place(&[(40.0, 105.0), (45.0, 105.0), (50.0, 300.0)]);
        assert_eq!(wide, [(false, 0), (false, 1), (false, 2)]);
    }

    #[test]
    fn numbers_are_not_cut_in_their_middle() {
        let width = |letters: usize| text_width(&"x".repeat(letters), 12.0);
        let point = "(0.04, 0.03, -0.03, -0.14, -0.07, 0.15, …)";
        assert_eq!(
            shortened(point, width(32), 12.0),
            "(0.04, 0.03,…-0.07, 0.15, …)"
        );
        assert_eq!(
            shortened("wind of the north", width(12), 12.0),
            "wind…north"
        );
        assert_eq!(shortened("x", 0.0, 12.0), "x…x");
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
