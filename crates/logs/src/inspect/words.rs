//! The long help of `taskscout data inspect`.

/// What stands above the options in the long help.
pub const ABOUT: &str = "Show what logs contain, and warn of data that harm learning

Logs of robots (PX4 ULog, ArduPilot dataflash, LeRobot) are told by what they are: without --inputs and
--outputs their series, columns, rates and units are shown, with them the rows that these expressions give.
Other files are flight logs in the Neural-Fly CSV format, with names like
VEHICLE_TRAJECTORY_METHOD_CONDITION.csv, where each axis of the force in each file is a task. With --inputs
and --outputs, they are CSV, TSV or Parquet tables with these columns. A task is then a value of the column
--task, or a file.
docs/reference/logs.md describes all.";

/// What stands below the options in the long help.
pub const EXAMPLES: &str = "Examples:
  A folder of flights:

    taskscout data inspect flights

  Tables of any robot, with a task for every value of a column:

    taskscout data inspect logs --inputs speed,angle --outputs torque --task surface --time t

  What a log of PX4 has, and rows of it:

    taskscout data inspect flight.ulg
    taskscout data inspect flight.ulg --inputs 'vehicle_attitude.q,norm(imu.gyro)' \\
      --outputs 'm*diff(vehicle_local_position.vz)/dt - m*g' --constant m=1.5 --constant g=9.81";
