//! Composition of a formula with quantities that are functions of variables.

use crate::function::{Differentiated, PointFunction, Scratch, SmoothFunction, places};
use soleus_math::Real;
use soleus_math::formula::Formula;
use std::sync::Arc;

/// A formula as a function of its inputs.
pub(super) struct FormulaFunction {
    formula: Formula,
    inputs: usize,
}

impl FormulaFunction {
    pub fn new(formula: Formula, inputs: usize) -> FormulaFunction {
        FormulaFunction { formula, inputs }
    }
}

impl SmoothFunction for FormulaFunction {
    type Scratch<T: Real> = Vec<T>;

    fn num_inputs(&self) -> usize {
        self.inputs
    }

    fn num_outputs(&self) -> usize {
        self.formula.width()
    }

    fn scratch<T: Real>(&self) -> Vec<T> {
        vec![T::zero(); self.formula.stack_len()]
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], stack: &mut Vec<T>) {
        self.formula.evaluate(z, stack, values);
    }

    fn depends(&self, _: usize, input: usize) -> bool {
        self.formula.inputs().binary_search(&input).is_ok()
    }
}

/// A quantity: a function of some of the variables, whose numbers are inputs of the outer function from `first` on.
struct Inner {
    function: Arc<dyn PointFunction>,
    variables: Vec<usize>,
    first: usize,
}

/// w = f(v(z)): a formula f of the numbers v of several quantities, each of which depends on a few of the variables z.
///
/// With J = ∂v/∂z and g = (∂f/∂v)ᵀ y,
///
///   ∂w/∂z = ∂f/∂v J                                    (1)
///   ∂²(yᵀw)/∂z² = Jᵀ ∂²(yᵀf)/∂v² J + Σ ∂²(gᵢ vᵢ)/∂z²      (2)
///
/// so that every quantity is differentiated by its own variables alone, in its own way.
pub(super) struct Composed {
    outer: Differentiated<FormulaFunction>,
    inner: Vec<Inner>,
    /// Variables that are inputs of the outer function themselves: (input, variable).
    plain: Vec<(usize, usize)>,
    inputs: usize,
    numbers: usize,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
    /// For each number v the variables that it depends on.
    supports: Vec<Vec<usize>>,
}

struct Memory {
    outer: Scratch,
    inner: Vec<Scratch>,
    /// Variables of a quantity, and the numbers of all.
    z: Vec<f64>,
    v: Vec<f64>,
    /// Derivatives of the outer function, and of a quantity.
    outer_first: Vec<f64>,
    outer_second: Vec<f64>,
    inner_first: Vec<f64>,
    inner_second: Vec<f64>,
    g: Vec<f64>,
    /// J, numbers × variables; ∂w/∂z; and the Hessian, variables × variables.
    J: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

/// Puts a [`Composed`] together over variables of type V.
pub(super) struct Composer<V> {
    variables: Vec<V>,
    inner: Vec<Inner>,
    plain: Vec<(usize, usize)>,
    numbers: usize,
}

impl<V: Copy + PartialEq> Composer<V> {
    pub fn new() -> Composer<V> {
        Composer { variables: Vec::new(), inner: Vec::new(), plain: Vec::new(), numbers: 0 }
    }

    fn variable(&mut self, v: V) -> usize {
        let at = self.variables.iter().position(|w| *w == v);
        at.unwrap_or_else(|| {
            self.variables.push(v);
            self.variables.len() - 1
        })
    }

    /// A variable as an input of the formula.
    pub fn plain(&mut self, v: V) {
        let at = self.variable(v);
        self.plain.push((self.numbers, at));
        self.numbers += 1;
    }

    /// The numbers of a quantity as inputs of the formula.
    pub fn quantity(&mut self, function: Arc<dyn PointFunction>, variables: &[V]) {
        let variables = variables.iter().map(|&v| self.variable(v)).collect();
        let first = self.numbers;
        self.numbers += function.num_outputs();
        self.inner.push(Inner { function, variables, first });
    }

    /// The variables, and the function of them.
    pub fn finish(self, formula: Formula) -> (Vec<V>, Arc<dyn PointFunction>) {
        let (inputs, numbers) = (self.variables.len(), self.numbers);
        let outer = Differentiated::new(FormulaFunction::new(formula, numbers));
        if self.inner.is_empty() && self.plain.iter().all(|(a, b)| a == b) {
            return (self.variables, Arc::new(outer));
        }
        let composed = Composed::new(outer, self.inner, self.plain, inputs, numbers);
        (self.variables, Arc::new(composed))
    }
}

impl Composed {
    fn new(
        outer: Differentiated<FormulaFunction>,
        inner: Vec<Inner>,
        plain: Vec<(usize, usize)>,
        inputs: usize,
        numbers: usize,
    ) -> Composed {
        let mut supports: Vec<Vec<usize>> = vec![Vec::new(); numbers];
        plain.iter().for_each(|&(v, z)| supports[v].push(z));
        for q in &inner {
            for &(o, i) in q.function.jacobian_places() {
                supports[q.first + o].push(q.variables[i]);
            }
        }
        let mut depends = vec![false; outer.num_outputs() * inputs];
        for &(o, v) in outer.jacobian_places() {
            supports[v].iter().for_each(|&z| depends[o * inputs + z] = true);
        }
        let mut couples = vec![false; inputs * inputs];
        let mut pair = |a: usize, b: usize| couples[a.max(b) * inputs + a.min(b)] = true;
        for &(v, w) in outer.hessian_places() {
            supports[v].iter().for_each(|&a| supports[w].iter().for_each(|&b| pair(a, b)));
        }
        for q in &inner {
            q.function.hessian_places().iter().for_each(|&(i, j)| pair(q.variables[i], q.variables[j]));
        }
        let place = |at: usize| (at / inputs, at % inputs);
        let jacobian_places = (0..depends.len()).filter(|&i| depends[i]).map(place).collect();
        let hessian_places = (0..couples.len()).filter(|&i| couples[i]).map(place).collect();
        Composed { outer, inner, plain, inputs, numbers, jacobian_places, hessian_places, supports }
    }

    /// Hands the variables of a quantity over.
    fn gather(q: &Inner, z: &[f64], own: &mut Vec<f64>) {
        own.clear();
        own.extend(q.variables.iter().map(|&i| z[i]));
    }

    /// The numbers of all quantities.
    fn compute_numbers(&self, z: &[f64], m: &mut Memory) {
        self.plain.iter().for_each(|&(v, i)| m.v[v] = z[i]);
        for (q, scratch) in self.inner.iter().zip(&mut m.inner) {
            Self::gather(q, z, &mut m.z);
            let v = &mut m.v[q.first..q.first + q.function.num_outputs()];
            q.function.compute_values(&m.z, v, scratch);
        }
    }

    /// J.
    fn compute_slopes(&self, z: &[f64], m: &mut Memory) {
        m.J.fill(0.0);
        self.plain.iter().for_each(|&(v, i)| m.J[v * self.inputs + i] = 1.0);
        for (q, scratch) in self.inner.iter().zip(&mut m.inner) {
            Self::gather(q, z, &mut m.z);
            let places = q.function.jacobian_places();
            let slopes = &mut m.inner_first[..places.len()];
            q.function.compute_jacobian(&m.z, slopes, scratch);
            for (&(o, i), d) in places.iter().zip(slopes) {
                m.J[(q.first + o) * self.inputs + q.variables[i]] += *d;
            }
        }
    }
}

impl PointFunction for Composed {
    fn num_inputs(&self) -> usize {
        self.inputs
    }

    fn num_outputs(&self) -> usize {
        self.outer.num_outputs()
    }

    places!();

    fn scratch(&self) -> Scratch {
        let most = |len: fn(&dyn PointFunction) -> usize| {
            self.inner.iter().map(|q| len(&*q.function)).max().unwrap_or(0)
        };
        Box::new(Memory {
            outer: self.outer.scratch(),
            inner: self.inner.iter().map(|q| q.function.scratch()).collect(),
            z: Vec::with_capacity(most(|f| f.num_inputs())),
            v: vec![0.0; self.numbers],
            outer_first: vec![0.0; self.outer.jacobian_places().len()],
            outer_second: vec![0.0; self.outer.hessian_places().len()],
            inner_first: vec![0.0; most(|f| f.jacobian_places().len())],
            inner_second: vec![0.0; most(|f| f.hessian_places().len())],
            g: vec![0.0; self.numbers],
            J: vec![0.0; self.numbers * self.inputs],
            first: vec![0.0; self.num_outputs() * self.inputs],
            second: vec![0.0; self.inputs * self.inputs],
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.compute_numbers(z, m);
        self.outer.compute_values(&m.v, values, &mut m.outer);
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.compute_numbers(z, m);
        self.compute_slopes(z, m);
        self.outer.compute_jacobian(&m.v, &mut m.outer_first, &mut m.outer);
        // (1)
        m.first.fill(0.0);
        for (&(o, v), d) in self.outer.jacobian_places().iter().zip(&m.outer_first) {
            for &i in &self.supports[v] {
                m.first[o * self.inputs + i] += d * m.J[v * self.inputs + i];
            }
        }
        for (value, &(o, i)) in values.iter_mut().zip(&self.jacobian_places) {
            *value = m.first[o * self.inputs + i];
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let n = self.inputs;
        self.compute_numbers(z, m);
        self.compute_slopes(z, m);
        self.outer.compute_jacobian(&m.v, &mut m.outer_first, &mut m.outer);
        self.outer.compute_hessian(&m.v, y, &mut m.outer_second, &mut m.outer);
        m.g.fill(0.0);
        for (&(o, v), d) in self.outer.jacobian_places().iter().zip(&m.outer_first) {
            m.g[v] += y[o] * d;
        }
        // (2); of the symmetric matrix the places with row ≥ column are filled.
        m.second.fill(0.0);
        for (&(v, w), &h) in self.outer.hessian_places().iter().zip(&m.outer_second) {
            if h == 0.0 {
                continue;
            }
            for &a in &self.supports[v] {
                let ha = h * m.J[v * n + a];
                for &b in &self.supports[w] {
                    let x = ha * m.J[w * n + b];
                    // A place off the diagonal of the outer Hessian stands for two.
                    let twice = if v != w && a == b { 2.0 } else { 1.0 };
                    if v != w || a >= b {
                        m.second[a.max(b) * n + a.min(b)] += twice * x;
                    }
                }
            }
        }
        for (q, own) in self.inner.iter().zip(&mut m.inner) {
            Self::gather(q, z, &mut m.z);
            let places = q.function.hessian_places();
            let second = &mut m.inner_second[..places.len()];
            let g = &m.g[q.first..q.first + q.function.num_outputs()];
            q.function.compute_hessian(&m.z, g, second, own);
            for (&(i, j), d) in places.iter().zip(second) {
                let (a, b) = (q.variables[i], q.variables[j]);
                m.second[a.max(b) * n + a.min(b)] += *d;
            }
        }
        for (value, &(i, j)) in values.iter_mut().zip(&self.hessian_places) {
            *value = m.second[i * n + j];
        }
    }
}
