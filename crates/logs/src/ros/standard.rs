//! The messages that every ROS 2 has, for bags that do not say what theirs consist of.
//!
//! Bags keep definitions since ROS 2 Iron; those of earlier versions have the types as Humble has them.

use std::sync::OnceLock;

use super::definition::{Definitions, Section};
use super::msg;

/// A type on each line: `package/Type: type name name; type name`.
const TEXT: &str = include_str!("standard.txt");

/// Adds a standard type.
///
/// # Errors
/// If it is none of them; what to do about it.
pub(super) fn add(name: &str, definitions: &mut Definitions) -> Result<(), String> {
    let known = standard();
    if !known.has(name) {
        return Err(format!(
            "the type {name} is neither defined in the file nor a standard one: record with ROS 2 Iron or later, which keeps definitions, \
             or convert the bag to MCAP with `ros2 bag convert` where the package is installed"
        ));
    }
    definitions.add(name.to_owned(), known.fields(name).to_vec());
    Ok(())
}

fn standard() -> &'static Definitions {
    static KNOWN: OnceLock<Definitions> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known = Definitions::default();
        for line in TEXT.lines() {
            let (name, fields) = line.split_once(':').unwrap_or((line, ""));
            let lines: Vec<String> = fields.split(';').flat_map(spread).collect();
            let section = Section {
                name: Some(name),
                idl: None,
                before: 0,
                lines: lines.iter().map(String::as_str).collect(),
            };
            // The text is ours, and a test reads all of it.
            let _ = msg::parse(name, &section, &mut known);
        }
        known
    })
}

/// Names after one type as lines of their own.
fn spread(fields: &str) -> Vec<String> {
    let mut words = fields.split_whitespace();
    let kind = words.next().unwrap_or_default();
    words.map(|name| format!("{kind} {name}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::definition::{Count, Kind, Primitive};
    use super::*;

    #[test]
    fn every_type_is_complete() {
        let mut textual = Vec::new();
        for line in TEXT.lines() {
            let name = line.split(':').next().unwrap();
            let mut definitions = Definitions::default();
            definitions.resolve(name).unwrap();
            if !definitions.has_numbers(&Kind::Message(name.into())) {
                textual.push(name);
            }
        }
        let expected = [
            "diagnostic_msgs/KeyValue",
            "rcl_interfaces/ListParametersResult",
            "rcl_interfaces/ParameterType",
            "rosbag2_interfaces/ReadSplitEvent",
            "rosbag2_interfaces/WriteSplitEvent",
            "statistics_msgs/StatisticDataType",
            "std_msgs/Empty",
            "std_msgs/String",
        ];
        assert_eq!(textual, expected);
    }

    #[test]
    fn fields_are_those_of_ros() {
        let imu = standard().fields("sensor_msgs/Imu");
        let names: Vec<&str> = imu.iter().map(|field| &*field.name).collect();
        assert_eq!(
            names[..3],
            ["header", "orientation", "orientation_covariance"]
        );
        assert_eq!(
            (&imu[2].kind, imu[2].count),
            (&Kind::Number(Primitive::F64), Count::Fixed(9))
        );
        let mut nothing = Definitions::default();
        let message = nothing.resolve("my_msgs/msg/Wheel").unwrap_err();
        assert!(
            message.starts_with("the type my_msgs/Wheel is neither"),
            "{message}"
        );
    }
}
