//! Functions by the numbers that make them.

use super::Plain;
use serde::{Deserialize, Serialize};
use soleus_math::Function;
use soleus_math::function::{
    Expression, FunctionError, GcvSpline, MultiLinear, Multiplier, MultivariatePolynomial, PiecewiseConstant,
    PiecewiseLinear, Polynomial, SimmSpline, Sine, Smoothing, SparsePolynomial, Step,
};

/// A [`Function`] as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FunctionForm {
    Constant {
        value: f64,
    },
    /// Slopes, then the intercept.
    Linear {
        coefficients: Vec<f64>,
    },
    /// In descending powers.
    Polynomial {
        coefficients: Vec<f64>,
    },
    PiecewiseLinear {
        x: Vec<f64>,
        y: Vec<f64>,
    },
    PiecewiseConstant {
        x: Vec<f64>,
        y: Vec<f64>,
    },
    SimmSpline {
        x: Vec<f64>,
        y: Vec<f64>,
    },
    /// By values that it is fitted to, or by its pieces.
    GcvSpline {
        degree: usize,
        x: Vec<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        y: Option<Vec<f64>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        coefficients: Option<Vec<f64>>,
        #[serde(default)]
        smoothing: f64,
    },
    Multiplier {
        scale: f64,
        function: Box<FunctionForm>,
    },
    /// From y₀ at x₀ to y₁ at x₁.
    Step {
        x: [f64; 2],
        y: [f64; 2],
    },
    Sine {
        amplitude: f64,
        omega: f64,
        #[serde(default)]
        phase: f64,
        #[serde(default)]
        offset: f64,
    },
    MultivariatePolynomial {
        dimension: usize,
        order: usize,
        coefficients: Vec<f64>,
    },
    /// Coefficient, and one exponent for each variable.
    SparsePolynomial {
        dimension: usize,
        terms: Vec<(f64, Vec<usize>)>,
    },
    Expression {
        expression: String,
        variables: Vec<String>,
    },
}

impl From<&Function> for FunctionForm {
    fn from(f: &Function) -> FunctionForm {
        match f {
            Function::Constant(value) => FunctionForm::Constant { value: *value },
            Function::Linear { slope, intercept } => {
                FunctionForm::Linear { coefficients: vec![*slope, *intercept] }
            }
            Function::MultiLinear(f) => {
                let coefficients = f.slopes().iter().copied().chain([f.intercept()]).collect();
                FunctionForm::Linear { coefficients }
            }
            Function::Polynomial(f) => FunctionForm::Polynomial { coefficients: f.coefficients().to_vec() },
            Function::PiecewiseLinear(f) => {
                FunctionForm::PiecewiseLinear { x: f.x().to_vec(), y: f.y().to_vec() }
            }
            Function::PiecewiseConstant(f) => {
                FunctionForm::PiecewiseConstant { x: f.x().to_vec(), y: f.y().to_vec() }
            }
            Function::SimmSpline(f) => FunctionForm::SimmSpline { x: f.x().to_vec(), y: f.y().collect() },
            Function::GcvSpline(f) => FunctionForm::GcvSpline {
                degree: f.degree(),
                x: f.x().to_vec(),
                y: None,
                coefficients: Some(f.coefficients().to_vec()),
                smoothing: f.smoothing_parameter(),
            },
            Function::Multiplier(f) => FunctionForm::Multiplier {
                scale: f.scale(),
                function: Box::new(FunctionForm::from(f.inner())),
            },
            Function::Step(f) => {
                let [x0, x1, y0, y1] = f.parameters();
                FunctionForm::Step { x: [x0, x1], y: [y0, y1] }
            }
            Function::Sine(f) => {
                let [amplitude, omega, phase, offset] = f.parameters();
                FunctionForm::Sine { amplitude, omega, phase, offset }
            }
            Function::MultivariatePolynomial(f) => FunctionForm::MultivariatePolynomial {
                dimension: f.dimension(),
                order: f.order(),
                coefficients: f.coefficients().to_vec(),
            },
            Function::SparsePolynomial(f) => {
                FunctionForm::SparsePolynomial { dimension: f.dimension(), terms: f.exponents() }
            }
            Function::Expression(f) => FunctionForm::Expression {
                expression: f.text().to_string(),
                variables: f.variables().map(str::to_string).collect(),
            },
        }
    }
}

impl TryFrom<FunctionForm> for Function {
    type Error = FunctionError;
    fn try_from(form: FunctionForm) -> Result<Function, FunctionError> {
        Ok(match form {
            FunctionForm::Constant { value } => {
                // No class of its own checks constants; a line of slope 0 does.
                MultiLinear::new(&[0.0, value])?;
                Function::Constant(value)
            }
            FunctionForm::Linear { coefficients } => Function::linear(&coefficients)?,
            FunctionForm::Polynomial { coefficients } => Polynomial::new(coefficients)?.into(),
            FunctionForm::PiecewiseLinear { x, y } => PiecewiseLinear::new(x, y)?.into(),
            FunctionForm::PiecewiseConstant { x, y } => PiecewiseConstant::new(x, y)?.into(),
            FunctionForm::SimmSpline { x, y } => SimmSpline::new(x, y)?.into(),
            FunctionForm::GcvSpline { degree, x, coefficients: Some(c), smoothing, .. } => {
                GcvSpline::from_coefficients(degree, x, c, smoothing)?.into()
            }
            FunctionForm::GcvSpline { degree, x, y, smoothing, .. } => {
                let how =
                    if smoothing > 0.0 { Smoothing::Parameter(smoothing) } else { Smoothing::Interpolate };
                GcvSpline::new(degree, x, &y.unwrap_or_default(), how)?.into()
            }
            FunctionForm::Multiplier { scale, function } => {
                Multiplier::new(Function::try_from(*function)?, scale)?.into()
            }
            FunctionForm::Step { x, y } => Step::new(x[0], x[1], y[0], y[1])?.into(),
            FunctionForm::Sine { amplitude, omega, phase, offset } => {
                Sine::new(amplitude, omega, phase, offset)?.into()
            }
            FunctionForm::MultivariatePolynomial { dimension, order, coefficients } => {
                MultivariatePolynomial::new(dimension, order, coefficients)?.into()
            }
            FunctionForm::SparsePolynomial { dimension, terms } => {
                SparsePolynomial::new(dimension, &terms)?.into()
            }
            FunctionForm::Expression { expression, variables } => {
                let names: Vec<&str> = variables.iter().map(String::as_str).collect();
                Expression::new(&expression, &names)?.into()
            }
        })
    }
}

impl Plain for Function {
    type Form = FunctionForm;
    fn form(&self) -> FunctionForm {
        FunctionForm::from(self)
    }
    fn value(form: FunctionForm) -> Result<Function, String> {
        Function::try_from(form).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of function is the same after it was written as JSON and read.
    #[test]
    fn identity_functions_survive_json() -> Result<(), FunctionError> {
        let x: Vec<f64> = (0..9).map(|i| 0.1 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| (7.0 * x).sin()).collect();
        let list: Vec<Function> = vec![
            Function::Constant(0.1),
            Function::linear(&[2.0, 0.3])?,
            Function::linear(&[2.0, 0.3, -1.0])?,
            Polynomial::new(vec![1.0, 2.0, 1.0 / 3.0])?.into(),
            PiecewiseLinear::new(x.clone(), y.clone())?.into(),
            PiecewiseConstant::new(x.clone(), y.clone())?.into(),
            SimmSpline::new(x.clone(), y.clone())?.into(),
            GcvSpline::new(5, x.clone(), &y, Smoothing::Interpolate)?.into(),
            GcvSpline::new(3, x.clone(), &y, Smoothing::Parameter(1e-3))?.into(),
            Multiplier::new(Function::linear(&[2.0, 0.3])?, 0.7)?.into(),
            Step::new(0.1, 0.4, 2.0, -1.0)?.into(),
            Sine::new(1.5, 2.0, 0.1, 3.0)?.into(),
            MultivariatePolynomial::new(2, 1, vec![1.0, 0.2, 0.3])?.into(),
            SparsePolynomial::new(3, &[(0.5, vec![2, 0, 1]), (1.5, vec![0, 0, 0])])?.into(),
            Expression::new("x^2 + sin(y)", &["x", "y"])?.into(),
        ];
        for f in list {
            let text = serde_json::to_string(&FunctionForm::from(&f)).unwrap_or_default();
            let form: FunctionForm = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(Function::try_from(form)?, f, "{text}");
        }
        Ok(())
    }
}
