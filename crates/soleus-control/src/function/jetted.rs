//! Derivatives of a generic function by jets: value, gradient and Hessian in one pass over a few variables.

use super::{PointFunction, Scratch, SmoothFunction};
use soleus_math::{Jet, Real};

/// Variables of one pass: the size of the jets of the implicit equations, so that no other has to be compiled.
const CAPACITY: usize = 12;
type J = Jet<CAPACITY, 78>;

/// A [`SmoothFunction`] with derivatives by jets.
///
/// Computes the same as [`Differentiated`](super::Differentiated). Functions that evaluate a whole model are compiled
/// for one scalar type less and need fewer passes; every output is assumed to depend on every input named by
/// [`depends`](SmoothFunction::depends).
pub struct Jetted<F> {
    function: F,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
    /// Variables of each pass of the Jacobian, with the places it fills: (place, output, variable of the jet).
    first: Vec<Pass>,
    /// The same for the Hessian: (place, row, column) by variables of the jet.
    second: Vec<Pass>,
}

struct Pass {
    variables: Vec<usize>,
    places: Vec<(usize, usize, usize)>,
}

struct Memory<F: SmoothFunction> {
    plain: F::Scratch<f64>,
    jets: F::Scratch<J>,
    arguments: Vec<J>,
    results: Vec<J>,
}

/// Sets of the variables such that every pair meets in one: all at once if a jet holds them, else pairs of halves.
fn sets(variables: &[usize]) -> Vec<Vec<usize>> {
    if variables.len() <= CAPACITY {
        return vec![variables.to_vec()];
    }
    let blocks: Vec<&[usize]> = variables.chunks(CAPACITY / 2).collect();
    let mut list = Vec::new();
    for (i, a) in blocks.iter().enumerate() {
        list.extend(blocks[i + 1..].iter().map(|b| [a, *b].concat()));
    }
    list
}

impl<F: SmoothFunction> Jetted<F> {
    /// Finds the sparsity pattern of the derivatives.
    pub fn new(function: F) -> Self {
        let (n, m) = (function.num_inputs(), function.num_outputs());
        let (mut jacobian_places, mut hessian_places) = (Vec::new(), Vec::new());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        // A function of a few states of a large model is asked about these alone.
        let varied: Vec<usize> = (0..n).filter(|&i| (0..m).any(|o| function.depends(o, i))).collect();
        for variables in varied.chunks(CAPACITY) {
            let mut places = Vec::new();
            for (k, &i) in variables.iter().enumerate() {
                for o in (0..m).filter(|&o| function.depends(o, i)) {
                    places.push((jacobian_places.len(), o, k));
                    jacobian_places.push((o, i));
                }
            }
            first.push(Pass { variables: variables.to_vec(), places });
        }
        let mut seen = vec![false; n * n];
        for variables in sets(&varied) {
            let mut places = Vec::new();
            for (a, &i) in variables.iter().enumerate() {
                for (b, &j) in variables.iter().enumerate().filter(|(_, j)| **j <= i) {
                    if !seen[i * n + j] && function.couples(i, j) {
                        places.push((hessian_places.len(), a, b));
                        hessian_places.push((i, j));
                    }
                    seen[i * n + j] = true;
                }
            }
            if !places.is_empty() {
                second.push(Pass { variables, places });
            }
        }
        Jetted { function, jacobian_places, hessian_places, first, second }
    }

    /// Evaluates with the variables of a pass; `memory.arguments` are constants before and after.
    fn pass(&self, variables: &[usize], memory: &mut Memory<F>) {
        for (k, &i) in variables.iter().enumerate() {
            memory.arguments[i].g[k] = 1.0;
        }
        self.function.evaluate(&memory.arguments, &mut memory.results, &mut memory.jets);
        for (k, &i) in variables.iter().enumerate() {
            memory.arguments[i].g[k] = 0.0;
        }
    }
}

impl<F: SmoothFunction> PointFunction for Jetted<F> {
    sizes_and_places!();

    fn scratch(&self) -> Scratch {
        Box::new(Memory::<F> {
            plain: self.function.scratch(),
            jets: self.function.scratch(),
            arguments: vec![J::zero(); self.num_inputs()],
            results: vec![J::zero(); self.num_outputs()],
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        match scratch.downcast_mut::<Memory<F>>() {
            Some(memory) => self.function.evaluate(z, values, &mut memory.plain),
            None => values.fill(f64::NAN),
        }
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(memory) = scratch.downcast_mut::<Memory<F>>() else { return values.fill(f64::NAN) };
        memory.arguments.iter_mut().zip(z).for_each(|(a, &z)| *a = J::cst(z));
        for pass in &self.first {
            self.pass(&pass.variables, memory);
            for &(place, output, k) in &pass.places {
                values[place] = memory.results[output].g[k];
            }
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(memory) = scratch.downcast_mut::<Memory<F>>() else { return values.fill(f64::NAN) };
        memory.arguments.iter_mut().zip(z).for_each(|(a, &z)| *a = J::cst(z));
        for pass in &self.second {
            self.pass(&pass.variables, memory);
            for &(place, a, b) in &pass.places {
                values[place] = memory.results.iter().zip(y).map(|(r, y)| r.second(a, b) * y).sum();
            }
        }
    }
}
