//! The long help of `taskscout export` and `taskscout predict`.

/// What stands above the options of `export` in the long help.
pub const EXPORT_ABOUT: &str = "Write a saved model in a format that other programs run

ONNX graphs hold everything, from raw inputs to predictions, in single precision: onnxruntime runs them
without taskscout. If values are too far from zero for single precision, a warning names the input or output;
--double then makes a graph in double precision. safetensors files hold the same numbers in double precision for
your own code.";

/// What stands below the options of `export` in the long help.
pub const EXPORT_EXAMPLES: &str = "Examples:
  A graph for a robot, wind.onnx, which takes x (rows of inputs) and gives y:

    taskscout export wind.safetensors --format onnx

  The same with the standard deviation of a new observation as a second output, y_std:

    taskscout export wind.safetensors --format onnx --std --out robot/wind.onnx

  docs/how-to/predict-and-export.md shows how to run it.";

/// What stands above the options of `predict` in the long help.
pub const PREDICT_ABOUT: &str = "Predict with a saved model, with standard deviations

Reads a table of inputs and makes one prediction per row. A model that knows the names of its inputs finds
these columns in any order, also among others; a model without names takes the columns in their order. Gives
for every row
  y            the expected value
  y_std        the standard deviation of a new, noisy observation
  y_model_std  the standard deviation of y itself; more target samples make it smaller
in the same order; models of several outputs give y0, y0_std, y0_model_std, y1 and so on.";

/// What stands below the options of `predict` in the long help.
pub const PREDICT_EXAMPLES: &str = "Examples:
  Models come from `taskscout study model` and from runs with --save-models. Predictions as CSV on standard output:

    taskscout run experiments/small.toml --save-models --out small
    taskscout predict small/models/aware-seed0.safetensors --inputs states.csv

  A log whose columns have other names than the model's inputs: name them in the order of the model. The
  predictions go to a Parquet file:

    taskscout predict wind.safetensors --inputs flight.parquet --columns vx,vy,vz --out forces.parquet

  In a pipe (CSV with a header line):

    simulate | taskscout predict wind.safetensors --inputs - > forces.csv";
