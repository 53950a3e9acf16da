//! Vectors and attitudes: what a rigid body needs of geometry.
//!
//! World axes are x (with the wind), y and z (up). A quaternion is `[w, x, y, z]` and turns body
//! axes into world axes.

/// A vector.
pub(super) type Vector = [f64; 3];

/// A rotation, row by row.
pub(super) type Rotation = [[f64; 3]; 3];

pub(super) fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

pub(super) fn scale(factor: f64, a: Vector) -> Vector {
    a.map(|value| factor * value)
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn unit(a: Vector) -> Vector {
    scale(1.0 / norm(a), a)
}

/// Body to world.
pub(super) fn to_world(rotation: &Rotation, body: Vector) -> Vector {
    rotation.map(|row| dot(row, body))
}

/// World to body.
pub(super) fn to_body(rotation: &Rotation, world: Vector) -> Vector {
    std::array::from_fn(|axis| dot(column(rotation, axis), world))
}

/// A body axis in the world.
pub(super) fn column(rotation: &Rotation, axis: usize) -> Vector {
    rotation.map(|row| row[axis])
}

/// The rotation of a unit quaternion.
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> Rotation {
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
        ],
        [
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
        ],
        [
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ]
}

/// The quaternion of a rotation that tilts by less than a right angle and does not yaw: only then
/// is `w` safely away from zero.
pub(super) fn quaternion(r: &Rotation) -> [f64; 4] {
    let w = 0.5 * (1.0 + r[0][0] + r[1][1] + r[2][2]).sqrt();
    let quarter = 0.25 / w;
    [
        w,
        quarter * (r[2][1] - r[1][2]),
        quarter * (r[0][2] - r[2][0]),
        quarter * (r[1][0] - r[0][1]),
    ]
}

/// The attitude without yaw whose z axis points along a force.
pub(super) fn pointing(along: Vector) -> Rotation {
    let z = unit(along);
    let y = unit(cross(z, [1.0, 0.0, 0.0]));
    let x = cross(y, z);
    std::array::from_fn(|row| [x[row], y[row], z[row]])
}

/// The attitude after turning with a body rate for a while.
pub(super) fn turn(q: [f64; 4], rate: Vector, dt: f64) -> [f64; 4] {
    let [w, x, y, z] = q;
    let [a, b, c] = scale(0.5 * dt, rate);
    let next = [
        w - x * a - y * b - z * c,
        x + w * a + y * c - z * b,
        y + w * b + z * a - x * c,
        z + w * c + x * b - y * a,
    ];
    let length = next.iter().map(|value| value * value).sum::<f64>().sqrt();
    next.map(|value| value / length)
}

/// How far an attitude is turned from a wanted one, as a body vector: the sine of the angle times
/// the axis.
pub(super) fn attitude_error(wanted: &Rotation, actual: &Rotation) -> Vector {
    let between = |i: usize, j: usize| dot(column(wanted, i), column(actual, j));
    [
        0.5 * (between(2, 1) - between(1, 2)),
        0.5 * (between(0, 2) - between(2, 0)),
        0.5 * (between(1, 0) - between(0, 1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_about_an_axis_is_a_turn_about_that_axis() {
        let mut q = [1.0, 0.0, 0.0, 0.0];
        for _ in 0..1000 {
            q = turn(q, [0.0, 0.3, 0.0], 1e-3);
        }
        let r = rotation(q);
        // Pitching up the nose by the right hand tips the z axis towards +x.
        let tipped = column(&r, 2);
        assert!((tipped[0] - 0.3_f64.sin()).abs() < 1e-6, "{tipped:?}");
        assert!((tipped[2] - 0.3_f64.cos()).abs() < 1e-6, "{tipped:?}");
        let back = quaternion(&r);
        assert!(back.iter().zip(q).all(|(a, b)| (a - b).abs() < 1e-12));
        let error = attitude_error(&rotation([1.0, 0.0, 0.0, 0.0]), &r);
        assert!((error[1] - 0.3_f64.sin()).abs() < 1e-6, "{error:?}");
    }

    #[test]
    fn pointing_is_a_rotation_along_its_force() {
        let r = pointing([1.0, -2.0, 5.0]);
        for i in 0..3 {
            for j in 0..3 {
                let product = dot(column(&r, i), column(&r, j));
                assert!((product - f64::from(i == j)).abs() < 1e-12);
            }
        }
        let z = column(&r, 2);
        assert!((z[2] - 5.0 / 30.0_f64.sqrt()).abs() < 1e-12);
        let v = [0.3, 0.1, -0.4];
        let there_and_back = to_body(&r, to_world(&r, v));
        assert!(norm(sub(there_and_back, v)) < 1e-12);
    }
}
