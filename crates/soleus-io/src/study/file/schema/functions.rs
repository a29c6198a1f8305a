//! Types of functions of time.

use super::{Class, Field, Kind};

const X: Field = row!("x" => Numbers, "s", "required", "times of the points, increasing");
const Y: Field = row!("y" => Numbers, "", "required", "values at the points");
const COEFFICIENTS: Field = row!("coefficients" => Numbers, "", "required", "in descending powers");

/// Types of functions of time. Their fields are those of `crate::plain::FunctionForm`.
pub(in crate::study::file) const FUNCTIONS: &[Class] = &[
    Class {
        name: "constant",
        class: "Constant",
        fields: &[row!("value" => Number, "", "required", "a plain number has the same meaning")],
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
            row!("degree" => Count, "", "required", "1, 3, 5 or 7"),
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
            row!("scale" => Number, "", "required", "the factor"),
            row!("function" => Function, "", "required", "a function with its `type`"),
        ],
        help: "a multiple of a function",
    },
    Class {
        name: "step",
        class: "StepFunction",
        fields: &[
            row!("x" => Numbers, "s", "required", "start and end of the step"),
            row!("y" => Numbers, "", "required", "values before and after"),
        ],
        help: "a smooth step",
    },
    Class {
        name: "sine",
        class: "Sine",
        fields: &[
            row!("amplitude" => Number, "", "required", "half the peak-to-peak value"),
            row!("omega" => Number, "rad/s", "required", "angular frequency"),
            row!("phase" => Number, "rad", "0", "phase at time 0"),
            row!("offset" => Number, "", "0", "mean value"),
        ],
        help: "a sine wave",
    },
    Class {
        name: "multivariate_polynomial",
        class: "MultivariatePolynomialFunction",
        fields: &[
            row!("dimension" => Count, "", "required", "number of variables"),
            row!("order" => Count, "", "required", "maximum sum of powers"),
            row!("coefficients" => Numbers, "", "required", "in OpenSim's order"),
        ],
        help: "a polynomial of several variables",
    },
    Class {
        name: "sparse_polynomial",
        class: "",
        fields: &[
            row!("dimension" => Count, "", "required", "number of variables"),
            row!("terms" => Tables, "", "required", "[coefficient, [powers]]"),
        ],
        help: "a polynomial with few terms",
    },
    Class {
        name: "expression",
        class: "ExpressionBasedFunction",
        fields: &[
            row!("expression" => Text, "", "required", "the formula"),
            row!("variables" => Texts, "", "required", "its variables"),
        ],
        help: "a formula",
    },
];
