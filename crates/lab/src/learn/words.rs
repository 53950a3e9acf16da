//! The long help of `taskscout learn`.

/// What stands above the options in the long help.
pub const ABOUT: &str =
    "Learn one model for a target from a folder of logs: which recordings help, and what to record next

Reads a folder of recordings, of which one is the target. All others are pooled for it, by their labels (vehicle,
controller, operator) and parameters (wind, mass, temperature). Prints which recordings help and why, the error on
rows of the target that were left out, what more rows would bring, and which conditions to record next. Writes
one model of all outputs, a summary, a plan and a report.

Labels and parameters come from the names of flights in the Neural-Fly format, from the names of other recordings by
--name-pattern, from columns that --labels and --parameters name, and from tasks.csv in the folder: one row a
recording, its name first. A parameter may be a number, a range as 3..5, or empty if nobody knows it.
docs/how-to/learn-from-logs.md goes through it.";

/// What stands below the options in the long help.
pub const EXAMPLES: &str = "Examples:
  A folder of flights:

    taskscout learn flights --target hawk_figure8_pid_35wind --out runs/hawk

  Tables of any robot, a recording for every file; tasks.csv beside them knows load and surface:

    taskscout learn carts --target new --inputs speed,angle --outputs torque --out runs/cart

  Labels and parameters from names such as arm2_1.5kg_monday.csv:

    taskscout learn arms --target arm2_2.5kg_friday --inputs q,dq --outputs tau \\
      --name-pattern '{robot}_{load:number kg}kg_{day}'

  The model on new rows:

    taskscout predict runs/cart/model.safetensors --inputs states.csv";
