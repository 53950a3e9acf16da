//! Long lines with fewer points and the same picture.
//!
//! Ramer, Douglas and Peucker: of a stretch of the line, the point farthest from the chord is kept
//! if it lies farther from it than a reader can see, and both halves are looked at in turn.

/// Lines up to this length are drawn as they are.
const LONG: usize = 400;

/// What no reader can see, in pixels.
const INVISIBLE: f64 = 0.2;

/// A line in pixels; of a long one only the points that its picture needs.
pub(super) fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= LONG {
        return points;
    }
    let points = moving(points);
    let mut keep = vec![false; points.len()];
    let last = points.len() - 1;
    (keep[0], keep[last]) = (true, true);
    let mut stretches = vec![(0, last)];
    while let Some((from, to)) = stretches.pop() {
        let away = |index: usize| distance(points[index], points[from], points[to]);
        let farthest = (from + 1..to).max_by(|&a, &b| away(a).total_cmp(&away(b)));
        if let Some(middle) = farthest.filter(|&index| away(index) > INVISIBLE) {
            keep[middle] = true;
            stretches.extend([(from, middle), (middle, to)]);
        }
    }
    let kept = points.into_iter().zip(keep);
    kept.filter_map(|(point, keep)| keep.then_some(point))
        .collect()
}

/// Leaves out points on top of the one before, and keeps both ends.
fn moving(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let last = points.len() - 1;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, point) in points.into_iter().enumerate() {
        let moved = kept
            .last()
            .is_none_or(|before| (point.0 - before.0).hypot(point.1 - before.1) > INVISIBLE);
        if moved || index == last {
            kept.push(point);
        }
    }
    kept
}

/// From a point to the segment between two others.
fn distance(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let squared = dx * dx + dy * dy;
    let along = (point.0 - from.0) * dx + (point.1 - from.1) * dy;
    let share = if squared > 0.0 {
        (along / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - from.0 - share * dx).hypot(point.1 - from.1 - share * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spiral(n: usize) -> Vec<(f64, f64)> {
        let at = |index: usize| {
            let t = index as f64 / n as f64;
            let (angle, radius) = (20.0 * t, 100.0 * (-3.0 * t).exp());
            (radius * angle.cos(), radius * angle.sin())
        };
        (0..n).map(at).collect()
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        assert_eq!(thin(spiral(LONG)), spiral(LONG));
        assert!(thin(Vec::new()).is_empty());
    }

    #[test]
    fn long_lines_keep_their_picture() {
        let whole = spiral(5_000);
        let thinned = thin(whole.clone());
        assert!(thinned.len() < 200, "{}", thinned.len());
        assert_eq!((thinned[0], thinned.last()), (whole[0], whole.last()));
        for point in whole {
            let nearest = thinned
                .windows(2)
                .map(|pair| distance(point, pair[0], pair[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest <= 2.0 * INVISIBLE, "{nearest}");
        }
    }

    #[test]
    fn a_line_that_never_moves_is_two_points() {
        assert_eq!(thin(vec![(1.0, 2.0); 1_000]).len(), 2);
    }
}
