//! Flights as files, in both styles of the Neural-Fly format.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout_io::files::{WriteError, write_atomically};

use super::control::Method;
use super::course::Trajectory;
use super::frame::rotation;
use super::vehicle::Vehicle;
use taskscout_logs::Wind;

/// How a flight is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogStyle {
    /// An index without a name, all columns, all digits; time begins at zero.
    Rich,
    /// An index `n`, only what learning needs, every cell quoted, five digits; time goes on from
    /// take-off.
    Compact,
}

/// What is logged at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// When.
    pub time_s: f64,
    /// Where the vehicle is.
    pub position_m: [f64; 3],
    /// Where it should be.
    pub wanted_position_m: [f64; 3],
    /// Its velocity in the world.
    pub velocity_m_s: [f64; 3],
    /// The velocity that it should have.
    pub wanted_velocity_m_s: [f64; 3],
    /// Its attitude as a unit quaternion `[w, x, y, z]`, body to world.
    pub quaternion: [f64; 4],
    /// Its angular velocity in body axes.
    pub rate_rad_s: [f64; 3],
    /// The commanded thrust over the largest.
    pub thrust_share: f64,
    /// The commanded attitude.
    pub wanted_quaternion: [f64; 4],
    /// The residual force in the world, as measured.
    pub force_n: [f64; 3],
    /// The commands of the rotors, as logged.
    pub pwm: [f64; 4],
}

/// A flight that was flown.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedFlight {
    /// The file that it belongs into.
    pub file_name: String,
    /// Who flew.
    pub vehicle: Vehicle,
    /// Where.
    pub trajectory: Trajectory,
    /// Under which controller.
    pub method: Method,
    /// In which wind, by name.
    pub condition: String,
    /// The wind.
    pub wind: Wind,
    /// How it is written down.
    pub style: LogStyle,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl SimulatedFlight {
    /// The text of its file.
    #[must_use]
    pub fn to_csv(&self) -> String {
        match self.style {
            LogStyle::Rich => self.rich(),
            LogStyle::Compact => self.compact(),
        }
    }

    /// Writes it into a folder, in one step.
    ///
    /// # Errors
    /// If that cannot be, with the path and the remedy.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        write_atomically(folder.join(&self.file_name), self.to_csv().as_bytes())
    }

    fn rich(&self) -> String {
        let hover = self.vehicle.weight_n() / (4.0 * self.vehicle.rotor_thrust_n);
        let mut text = String::from(",t,p,p_d,v,v_d,q,R,w,T_sp,q_sp,hover_throttle,fa,pwm\n");
        for (index, row) in self.rows.iter().enumerate() {
            let turned = rotation(row.quaternion).map(|row| exact(&row)).join(", ");
            let lists = [
                exact(&row.position_m),
                exact(&row.wanted_position_m),
                exact(&row.velocity_m_s),
                exact(&row.wanted_velocity_m_s),
                exact(&row.quaternion),
                format!("[{turned}]"),
                exact(&row.rate_rad_s),
            ];
            put(&mut text, format_args!("{index},{:?}", row.time_s));
            for list in lists {
                put(&mut text, format_args!(",\"{list}\""));
            }
            put(
                &mut text,
                format_args!(
                    ",{},\"{}\",{},\"{}\",\"{}\"\n",
                    exact(&[row.thrust_share]),
                    exact(&row.wanted_quaternion),
                    exact(&[hover]),
                    exact(&row.force_n),
                    exact(&row.pwm)
                ),
            );
        }
        text
    }

    fn compact(&self) -> String {
        let mut text = String::from("\"n\",\"t\",\"v\",\"q\",\"pwm\",\"fa\"\n");
        for (index, row) in self.rows.iter().enumerate() {
            put(
                &mut text,
                format_args!(
                    "\"{index}\",\"{}\",\"{}\",\"{}\",\"{}\",\"{}\"\n",
                    short(row.time_s),
                    list(&row.velocity_m_s, short),
                    list(&row.quaternion, short),
                    list(&row.pwm, short),
                    list(&row.force_n, short)
                ),
            );
        }
        text
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = text.write_fmt(arguments);
}

fn list(values: &[f64], show: impl Fn(f64) -> String) -> String {
    let shown: Vec<String> = values.iter().map(|&value| show(value)).collect();
    format!("[{}]", shown.join(", "))
}

/// A list with every digit that a number has.
fn exact(values: &[f64]) -> String {
    list(values, |value| format!("{value:?}"))
}

/// A number of five digits.
fn short(value: f64) -> String {
    let text = format!("{value:.4e}");
    // Read back, it loses the zeros at its end.
    text.parse::<f64>()
        .map_or(text, |rounded| format!("{rounded}"))
}
