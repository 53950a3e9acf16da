//! Messages of ROS: their definitions, and the numbers in their bytes.
//!
//! A bag keeps messages as bytes and, for each type, the text that defines it. [`Definitions`] holds what such texts
//! say (`.msg` and IDL), and [`Layout`] takes the numbers of a message out of its bytes: CDR, which ROS 2 writes, in
//! either byte order, and the unaligned form of ROS 1.
//!
//! ```text
//! geometry_msgs/Vector3 angular_velocity        columns   angular_velocity.x  .y  .z
//! float32[] ranges                                        ranges[0] … ranges[359]
//! string frame_id                                         none: text is no number
//! ```

mod cursor;
mod definition;
mod idl;
mod layout;
mod msg;
mod standard;
mod step;

pub(crate) use cursor::Wire;
pub(crate) use definition::Definitions;
pub(crate) use layout::{Layout, MOST_ELEMENTS, join};
