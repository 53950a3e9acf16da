//! The long help of `taskscout design`.

/// What stands above the options in the long help.
pub const ABOUT: &str = "Plan which tasks to collect data from, and how much of each

Reads a table of tasks that you could collect data from (one row per task) and a table of the tasks that
you care about. Prints which tasks to use, how many samples to take of each, and why. Also prints how far
the plan can be from the best possible plan.";

/// What stands below the options in the long help.
pub const EXAMPLES: &str = "Examples:
  The plan of 1000 samples over the wind conditions of winds.csv, for tomorrow's in target.csv. Both
  files have a header line and the same columns of numbers, for instance name,north,east,gust:

    taskscout design --candidates winds.csv --target target.csv --budget 1000

  The same with costs: the column minutes has the cost of a sample, and a change of wind costs 15
  minutes. At most 6 winds and 480 minutes in all. Columns that no option names are parameters of the wind:

    taskscout design --candidates logs.csv --target target.csv --cost minutes --capacity left \\
      --switch-cost 15 --max-tasks 6 --budget 480

  Data that you have already counts too (column n). The plan goes to files, and as JSON to another program:

    taskscout design --candidates winds.csv --target target.csv --given given.csv --out plans --json

What the plan says:
  share %, weight   share of the samples (of their cost, if they have costs), before rounding
  n, cost           number of samples, and their cost together with the switch cost
  similarity        cosine between the task and the most similar target; it does not depend on units
  risk %            how much this task contributes to a small error
  objective         the criterion times the budget, for the given data and n = weight * money / cost
                    samples of each task, where money is the budget without switch costs;
                    plan_objective is the same for the whole numbers n

  Try these in examples/wind-tunnel; docs/how-to/plan-a-campaign.md explains each step.";
