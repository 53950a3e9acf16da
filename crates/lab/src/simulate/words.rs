//! The long help of `taskscout simulate`.

/// What stands above the options in the long help of pendulum.
pub const PENDULUM_ABOUT: &str = "Simulate pendulums in wind, each with its own gravity and damping

A task is five numbers from -1 to 1: wind x, wind y (1 is 2 m/s), gravity (9 m/s² plus the number),
linear and quadratic damping (0 at -1, 1 at 1). Every task is simulated for --steps steps and gives one row
per step, with the columns
  task            the task's number, from 0 in the order of --w
  w1 … w5         the task
  time_s          when the step begins
  angle_rad       the angle from upright
  velocity_rad_s  its velocity
  control_nm      the torque of the policy during the step
  residual_nm     the torque f of wind, gravity and damping, without noise
  label_nm        the same with noise: what a learner sees";

/// What stands below the options in the long help of pendulum.
pub const PENDULUM_EXAMPLES: &str = "Examples:
  A minute of random pushes in still air and in wind, as a learner collects them:

    taskscout simulate pendulum --w 0,0,0,0,0 --w 0.6,-0.4,0,0,0 --steps 6000 --out runs.parquet

  Twenty seconds under the controller that knows the wind, from 1 rad, without noise:

    taskscout simulate pendulum --w 0.6,0.4,0,0,0 --policy true --noise 0 --start 1,0 --steps 2000 --out known.csv

  The same under a controller with a learnt model of two inputs, angle and velocity:

    taskscout simulate pendulum --w 0.6,0.4,0,0,0 --model wind.safetensors --noise 0 --start 1,0 --steps 2000 --out learnt.csv";

/// What stands above the options in the long help of flights.
pub const FLIGHTS_ABOUT: &str = "Simulate flights of quadrotors in wind, as logs in the Neural-Fly format

Every flight becomes a file VEHICLE_TRAJECTORY_METHOD_CONDITION.csv, a row every 0.02 s, with lists in quotes:
  t    time in seconds
  v    velocity in m/s
  q    attitude, a unit quaternion [w, x, y, z]
  pwm  rotor commands, 1000 to 2000
  fa   the residual force of the air in newtons: what a learner has to predict
Files of `hawk` have more columns and all digits; files of `wren` have only these columns and five digits. docs/reference/simulators.md has the physics.";

/// What stands below the options in the long help of flights.
pub const FLIGHTS_EXAMPLES: &str = "Examples:
  Sixteen flights of 50 seconds, two vehicles in five and six winds:

    taskscout simulate flights --out flights

  Two long flights of one vehicle, without noise:

    taskscout simulate flights --vehicles wren --winds nowind,40wind --rows 10000 --noise 0 --out calm";
