//! Goals and constraints that depend on model parameters.

use super::samples::each_share;
use crate::function::{PointFunction, Scratch, places};
use crate::problem::{EndpointVariable, Goal, PathConstraint, PointVariable};
use soleus_math::elementary;
use std::sync::Arc;

/// Goals and constraints of a motion.
#[derive(Clone, Default)]
pub struct Demands {
    /// Costs and endpoint constraints.
    pub goals: Vec<Goal>,
    /// Constraints along the motion.
    pub path_constraints: Vec<PathConstraint>,
}

/// An object at a value of a parameter.
pub struct Node<F> {
    /// The value.
    pub value: f64,
    /// The object at this value.
    pub at: F,
}

/// The value of a parameter in the model file, and objects at other values.
pub type Samples<F> = (f64, Vec<Node<F>>);

/// Places (row, column) in a matrix.
type Places = Vec<(usize, usize)>;

/// f(z, p) from f₀(z) at the values of the model file and f_ik(z) where parameter i has its value k:
///
///   f = f₀ + Σᵢ (L_i0(pᵢ) f₀ + Σₖ L_ik(pᵢ) f_ik − f₀)
///
/// with Lagrange's polynomials L of the values of each parameter, as [`SystemDynamics`](super::SystemDynamics) has it. Its variables are
/// z, then the parameters.
struct OverParameters {
    /// At the base, then at the other values of each parameter.
    functions: Vec<Arc<dyn PointFunction>>,
    /// Values of each parameter, that of the base first.
    values: Vec<Vec<f64>>,
    jacobian_places: Places,
    hessian_places: Places,
    /// Where the places of each function are among those by z.
    jacobian_at: Vec<Vec<usize>>,
    hessian_at: Vec<Vec<usize>>,
    /// Number of places by z alone.
    plain: [usize; 2],
}

/// Memory of all functions, and room for what each gives.
struct Memory {
    each: Vec<Scratch>,
    values: Vec<f64>,
    jacobian: Vec<f64>,
    hessian: Vec<f64>,
}

impl OverParameters {
    fn new(base: Arc<dyn PointFunction>, parameters: Vec<Samples<Arc<dyn PointFunction>>>) -> Self {
        let (n, outputs) = (base.num_inputs(), base.num_outputs());
        let mut functions = vec![base];
        let mut values = Vec::new();
        for (own, nodes) in parameters {
            values.push(std::iter::once(own).chain(nodes.iter().map(|node| node.value)).collect());
            functions.extend(nodes.into_iter().map(|node| node.at));
        }
        let union = |places: fn(&dyn PointFunction) -> Places| {
            let mut all: Places = functions.iter().flat_map(|f| places(&**f)).collect();
            all.sort_unstable();
            all.dedup();
            let at: Vec<Vec<usize>> = functions
                .iter()
                .map(|f| places(&**f).iter().map(|p| all.partition_point(|q| q < p)).collect())
                .collect();
            (all, at)
        };
        let (mut jacobian_places, jacobian_at) = union(|f| f.jacobian_places().to_vec());
        let (mut hessian_places, hessian_at) = union(|f| f.hessian_places().to_vec());
        let plain = [jacobian_places.len(), hessian_places.len()];
        for i in 0..values.len() {
            jacobian_places.extend((0..outputs).map(|r| (r, n + i)));
            hessian_places.extend((0..n).map(|c| (n + i, c)));
            hessian_places.push((n + i, n + i));
        }
        OverParameters { functions, values, jacobian_places, hessian_places, jacobian_at, hessian_at, plain }
    }
}

impl PointFunction for OverParameters {
    fn num_inputs(&self) -> usize {
        self.functions[0].num_inputs() + self.values.len()
    }

    fn num_outputs(&self) -> usize {
        self.functions[0].num_outputs()
    }

    places!();

    fn scratch(&self) -> Scratch {
        let most = |len: fn(&dyn PointFunction) -> usize| self.functions.iter().map(|f| len(&**f)).max();
        Box::new(Memory {
            each: self.functions.iter().map(|f| f.scratch()).collect(),
            values: vec![0.0; self.num_outputs()],
            jacobian: vec![0.0; most(|f| f.jacobian_places().len()).unwrap_or(0)],
            hessian: vec![0.0; most(|f| f.hessian_places().len()).unwrap_or(0)],
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (z, p) = z.split_at(self.functions[0].num_inputs());
        values.fill(0.0);
        each_share(&self.values, p, |k, share, _| {
            self.functions[k].compute_values(z, &mut m.values, &mut m.each[k]);
            values.iter_mut().zip(&m.values).for_each(|(v, f)| *v += share * f);
        });
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (z, p) = z.split_at(self.functions[0].num_inputs());
        let rows = self.num_outputs();
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[0]);
        each_share(&self.values, p, |k, share, slopes| {
            let (f, own) = (&self.functions[k], &mut m.each[k]);
            f.compute_values(z, &mut m.values, own);
            f.compute_jacobian(z, &mut m.jacobian[..f.jacobian_places().len()], own);
            for (&at, d) in self.jacobian_at[k].iter().zip(&m.jacobian) {
                plain[at] += share * d;
            }
            for &(i, slope, _) in slopes {
                let column = &mut by_parameters[i * rows..(i + 1) * rows];
                column.iter_mut().zip(&m.values).for_each(|(v, f)| *v += slope * f);
            }
        });
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let n = self.functions[0].num_inputs();
        let (z, p) = z.split_at(n);
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[1]);
        each_share(&self.values, p, |k, share, slopes| {
            let (f, own) = (&self.functions[k], &mut m.each[k]);
            f.compute_hessian(z, y, &mut m.hessian[..f.hessian_places().len()], own);
            for (&at, d) in self.hessian_at[k].iter().zip(&m.hessian) {
                plain[at] += share * d;
            }
            f.compute_values(z, &mut m.values, own);
            f.compute_jacobian(z, &mut m.jacobian[..f.jacobian_places().len()], own);
            let weighted: f64 = m.values.iter().zip(y).map(|(f, y)| f * y).sum();
            for &(i, slope, second) in slopes {
                // A row of mixed derivatives for each parameter, then its own.
                let row = &mut by_parameters[i * (n + 1)..(i + 1) * (n + 1)];
                for (&(r, c), d) in f.jacobian_places().iter().zip(&m.jacobian) {
                    row[c] += slope * y[r] * d;
                }
                row[n] += second * weighted;
            }
        });
    }
}

impl Demands {
    /// All functions, in a fixed order.
    fn functions(&self) -> Vec<Arc<dyn PointFunction>> {
        let mut all: Vec<Arc<dyn PointFunction>> = Vec::new();
        for goal in &self.goals {
            all.extend(goal.integrals.iter().flatten().map(|term| term.function.clone()));
            all.extend(goal.endpoint.iter().map(|e| e.function.clone()));
        }
        all.extend(self.path_constraints.iter().map(|c| c.term.function.clone()));
        all
    }

    /// Values of all functions at a few arbitrary points, which are the same for demands of the same kind.
    pub fn probe(&self) -> Vec<f64> {
        self.functions().iter().flat_map(|f| probe(&**f)).collect()
    }
}

/// Values of a function at a few arbitrary points.
fn probe(f: &dyn PointFunction) -> Vec<f64> {
    let (mut scratch, mut values, mut all) = (f.scratch(), vec![0.0; f.num_outputs()], Vec::new());
    for seed in [0.3, 2.1, 4.4] {
        let z: Vec<f64> =
            (0..f.num_inputs()).map(|i| 0.4 + 0.3 * elementary::sin(1.7 * i as f64 + seed)).collect();
        f.compute_values(&z, &mut values, &mut scratch);
        all.extend_from_slice(&values);
    }
    all
}

/// Makes goals and path constraints depend on the parameters of the problem. `nodes` contains for each parameter its
/// value in `base`, and the demands at other values; functions that do not depend on a parameter do not get it as a
/// variable.
///
/// There must be enough values for the interpolating polynomials to be accurate, and parameters must not interact; the
/// caller can check this with [`Demands::probe`].
pub fn vary(base: &mut Demands, nodes: &[Samples<Demands>]) {
    let functions = base.functions();
    let others: Vec<Vec<_>> =
        nodes.iter().map(|(_, list)| list.iter().map(|n| n.at.functions()).collect()).collect();
    let mut made = functions.iter().enumerate().map(|(k, f)| {
        let changes = |i: &usize| others[*i].iter().any(|all: &Vec<_>| differ(&**f, &*all[k]));
        let which: Vec<usize> = (0..nodes.len()).filter(changes).collect();
        if which.is_empty() {
            return None;
        }
        let of = |&i: &usize| {
            let at = nodes[i].1.iter().zip(&others[i]);
            (nodes[i].0, at.map(|(n, all)| Node { value: n.value, at: all[k].clone() }).collect())
        };
        let function: Arc<dyn PointFunction> =
            Arc::new(OverParameters::new(f.clone(), which.iter().map(of).collect()));
        Some((function, which))
    });
    let mut next = || made.next().flatten();
    for goal in &mut base.goals {
        for term in goal.integrals.iter_mut().flatten() {
            if let Some((function, which)) = next() {
                term.function = function;
                term.inputs.extend(which.into_iter().map(PointVariable::Parameter));
            }
        }
        if let Some(e) = &mut goal.endpoint
            && let Some((function, which)) = next()
        {
            e.function = function;
            e.inputs.extend(which.into_iter().map(|i| EndpointVariable::Last(PointVariable::Parameter(i))));
        }
    }
    for c in &mut base.path_constraints {
        if let Some((function, which)) = next() {
            c.term.function = function;
            c.term.inputs.extend(which.into_iter().map(PointVariable::Parameter));
        }
    }
}

/// Whether two functions of the same variables differ.
fn differ(a: &dyn PointFunction, b: &dyn PointFunction) -> bool {
    probe(a).iter().zip(probe(b)).any(|(a, b)| (a - b).abs() > 1e-13 * (1.0 + a.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Differentiated, SmoothFunction};
    use soleus_math::Real;

    /// a z₀² + b sin z₁ and a² z₀ z₁.
    struct Example {
        a: f64,
        b: f64,
    }

    impl SmoothFunction for Example {
        type Scratch<T: Real> = ();
        fn num_inputs(&self) -> usize {
            2
        }
        fn num_outputs(&self) -> usize {
            2
        }
        fn scratch<T: Real>(&self) {}
        fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
            values[0] = z[0] * z[0] * self.a + z[1].sin() * self.b;
            values[1] = z[0] * z[1] * (self.a * self.a);
        }
    }

    fn example(a: f64, b: f64) -> Arc<dyn PointFunction> {
        Arc::new(Differentiated::new(Example { a, b }))
    }

    /// a at 1, 2, 3 and b at 4, 5: polynomials of degree two and one are exact.
    fn over_both() -> OverParameters {
        let of_a = [2.0, 3.0].map(|a| Node { value: a, at: example(a, 4.0) });
        let of_b = [5.0].map(|b| Node { value: b, at: example(1.0, b) });
        OverParameters::new(example(1.0, 4.0), vec![(1.0, of_a.into()), (4.0, of_b.into())])
    }

    #[test]
    fn identity_polynomials_are_the_function() {
        let f = over_both();
        let mut scratch = f.scratch();
        for [z0, z1, a, b] in [[0.3, -0.7, 1.0, 4.0], [1.2, 0.4, 2.6, 4.9], [-0.5, 0.9, -1.0, 7.0]] {
            let (mut found, mut exact) = ([0.0; 2], [0.0; 2]);
            f.compute_values(&[z0, z1, a, b], &mut found, &mut scratch);
            let plain = example(a, b);
            plain.compute_values(&[z0, z1], &mut exact, &mut plain.scratch());
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{found} {exact}");
            }
        }
    }

    #[test]
    fn deriv_by_variables_and_parameters() {
        let f = over_both();
        let mut scratch = f.scratch();
        let (z, y, h) = ([0.3, -0.7, 2.2, 4.6], [0.8, -1.3], 1e-5);
        let mut jacobian = vec![0.0; f.jacobian_places().len()];
        f.compute_jacobian(&z, &mut jacobian, &mut scratch);
        let mut hessian = vec![0.0; f.hessian_places().len()];
        f.compute_hessian(&z, &y, &mut hessian, &mut scratch);
        // Gradient of yᵀ f at a point, from the Jacobian.
        let mut gradient = |z: &[f64]| {
            let mut values = vec![0.0; f.jacobian_places().len()];
            f.compute_jacobian(z, &mut values, &mut scratch);
            let mut g = [0.0; 4];
            f.jacobian_places().iter().zip(values).for_each(|(&(r, c), v)| g[c] += y[r] * v);
            g
        };
        for c in 0..4 {
            let (mut up, mut down) = (z, z);
            up[c] += h;
            down[c] -= h;
            let (g, k) = (gradient(&up), gradient(&down));
            for (&(i, j), v) in f.hessian_places().iter().zip(&hessian).filter(|((_, j), _)| *j == c) {
                let difference = (g[i] - k[i]) / (2.0 * h);
                assert!((v - difference).abs() < 1e-8, "({i}, {j}): {v} {difference}");
            }
            let mut scratch = f.scratch();
            let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
            f.compute_values(&up, &mut a, &mut scratch);
            f.compute_values(&down, &mut b, &mut scratch);
            for (&(r, _), v) in f.jacobian_places().iter().zip(&jacobian).filter(|((_, j), _)| *j == c) {
                let difference = (a[r] - b[r]) / (2.0 * h);
                assert!((v - difference).abs() < 1e-8, "({r}, {c}): {v} {difference}");
            }
        }
    }
}
