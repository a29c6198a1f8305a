//! Types of functions of time.

use super::{Class, Field, Kind};

const X: Field = row!("x" => Numbers, "s", "needed", "times of the points, increasing");
const Y: Field = row!("y" => Numbers, "", "needed", "values at the points");
const COEFFICIENTS: Field = row!("coefficients" => Numbers, "", "needed", "in descending powers");

/// Types of functions of time. Their fields are those of `crate::plain::FunctionForm`.
pub(in crate::study::file) const FUNCTIONS: &[Class] = &[
    Class {
        name: "constant",
        class: "Constant",
        fields: &[row!("value" => Number, "", "needed", "a plain number has the same meaning")],
        help: "constant",
    },
    Class {
        name: "linear",
        class: "LinearFunction",
        fields: &[COEFFICIENTS],
        help: "a linear function: slope, intercept",
    },
    Class { name: "polynomial", class: "PolynomialFunction", fields: &[COEFFICIENTS], help: "a polynomial" },
    Class {
        name: "piecewise_linear",
        class: "PiecewiseLinearFunction",
        fields: &[X, Y],
        help: "piecewise linear interpolation",
    },
    Class {
        name: "piecewise_constant",
        class: "PiecewiseConstantFunction",
        fields: &[X, Y],
        help: "a staircase",
    },
    Class { name: "simm_spline", class: "SimmSpline", fields: &[X, Y], help: "SIMM's cubic spline" },
    Class {
        name: "gcv_spline",
        class: "GCVSpline",
        fields: &[
            row!("degree" => Count, "", "needed", "1, 3, 5 or 7"),
            X,
            row!("y" => Numbers, "", "y or coefficients", "values at the points"),
            row!("coefficients" => Numbers, "", "y or coefficients", "coefficients of the pieces, in descending powers"),
            row!("smoothing" => Number, "", "0", "smoothing parameter"),
        ],
        help: "a natural spline through or near the points",
    },
    Class {
        name: "multiplier",
        class: "MultiplierFunction",
        fields: &[
            row!("scale" => Number, "", "needed", "the factor"),
            row!("function" => Function, "", "needed", "a function with its `type`"),
        ],
        help: "a multiple of a function",
    },
    Class {
        name: "step",
        class: "StepFunction",
        fields: &[
            row!("x" => Numbers, "s", "needed", "start and end of the step"),
            row!("y" => Numbers, "", "needed", "values before and after"),
        ],
        help: "a smooth step",
    },
    Class {
        name: "sine",
        class: "Sine",
        fields: &[
            row!("amplitude" => Number, "", "needed", "half the peak-to-peak value"),
            row!("omega" => Number, "rad/s", "needed", "angular frequency"),
            row!("phase" => Number, "rad", "0", "phase at time 0"),
            row!("offset" => Number, "", "0", "mean value"),
        ],
        help: "a sine wave",
    },
    Class {
        name: "multivariate_polynomial",
        class: "MultivariatePolynomialFunction",
        fields: &[
            row!("dimension" => Count, "", "needed", "number of variables"),
            row!("order" => Count, "", "needed", "maximum sum of powers"),
            row!("coefficients" => Numbers, "", "needed", "in OpenSim's order"),
        ],
        help: "a polynomial of several variables",
    },
    Class {
        name: "sparse_polynomial",
        class: "",
        fields: &[
            row!("dimension" => Count, "", "needed", "number of variables"),
            row!("terms" => Tables, "", "needed", "[coefficient, [powers]]"),
        ],
        help: "a polynomial with few terms",
    },
    Class {
        name: "expression",
        class: "ExpressionBasedFunction",
        fields: &[
            row!("expression" => Text, "", "needed", "the formula"),
            row!("variables" => Texts, "", "needed", "its variables"),
        ],
        help: "a formula",
    },
];
