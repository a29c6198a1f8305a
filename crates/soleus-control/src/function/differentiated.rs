//! Derivatives of a generic function by dual numbers, a few columns at a time.

use super::{PointFunction, Scratch};
use soleus_math::{Dual, Real};

/// Columns of the Jacobian, or rows of one column of the Hessian, found at once.
const CHUNK: usize = 8;

type First = Dual<f64, CHUNK>;
/// One direction inside, several outside: the scalar of the implicit equations' Hessian.
type Second = Dual<Dual<f64, 1>, CHUNK>;

/// A function written once for all scalar types; [`Differentiated`] computes its derivatives.
///
/// Goals, path constraints and custom dynamics are such types.
pub trait SmoothFunction: Send + Sync + 'static {
    /// Memory needed in the scalar `T`; `()` if none.
    type Scratch<T: Real>: Send;

    /// Number of variables.
    fn num_inputs(&self) -> usize;

    /// Number of values.
    fn num_outputs(&self) -> usize {
        1
    }

    /// Creates the memory for the scalar `T`.
    fn scratch<T: Real>(&self) -> Self::Scratch<T>;

    /// Computes the values at z. Branches depend on [`Real::value`] only.
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], scratch: &mut Self::Scratch<T>);

    /// Whether an output may depend on an input. By default every output depends on every input.
    fn depends(&self, _output: usize, _input: usize) -> bool {
        true
    }

    /// Whether the mixed second derivative with respect to two inputs may be nonzero. By default, if some output
    /// depends on both.
    fn couples(&self, i: usize, j: usize) -> bool {
        (0..self.num_outputs()).any(|o| self.depends(o, i) && self.depends(o, j))
    }
}

/// A [`SmoothFunction`] with derivatives by dual numbers.
pub struct Differentiated<F> {
    function: F,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
    /// Places of the Jacobian by chunk of columns: (place, output, column within the chunk).
    chunks: Vec<Vec<(usize, usize, usize)>>,
    /// Pieces of columns of the Hessian: the column, its rows and where the first of their places is.
    pieces: Vec<Piece>,
}

struct Piece {
    column: usize,
    rows: Vec<usize>,
    first: usize,
}

/// Arguments, results and the function's own memory in each scalar.
struct Memory<F: SmoothFunction> {
    plain: F::Scratch<f64>,
    first: (F::Scratch<First>, Vec<First>, Vec<First>),
    second: (F::Scratch<Second>, Vec<Second>, Vec<Second>),
}

impl<F: SmoothFunction> Differentiated<F> {
    /// Finds the sparsity pattern of the derivatives.
    pub fn new(function: F) -> Self {
        let (n, m) = (function.num_inputs(), function.num_outputs());
        let mut jacobian_places = Vec::new();
        let mut chunks = vec![Vec::new(); n.div_ceil(CHUNK)];
        for o in 0..m {
            for i in (0..n).filter(|&i| function.depends(o, i)) {
                chunks[i / CHUNK].push((jacobian_places.len(), o, i % CHUNK));
                jacobian_places.push((o, i));
            }
        }
        // Only inputs of one output can be coupled, and outputs have few of many.
        let mut inputs = vec![Vec::new(); m];
        let mut outputs = vec![Vec::new(); n];
        for &(o, i) in &jacobian_places {
            inputs[o].push(i);
            outputs[i].push(o);
        }
        let (mut hessian_places, mut pieces) = (Vec::new(), Vec::new());
        let mut is_near = vec![false; n];
        for column in 0..n {
            is_near.fill(false);
            outputs[column].iter().flat_map(|&o| &inputs[o]).for_each(|&i| is_near[i] = true);
            let near = (column..n).filter(|&row| is_near[row]);
            let rows: Vec<usize> = near.filter(|&row| function.couples(row, column)).collect();
            for rows in rows.chunks(CHUNK) {
                pieces.push(Piece { column, rows: rows.to_vec(), first: hessian_places.len() });
                hessian_places.extend(rows.iter().map(|&row| (row, column)));
            }
        }
        Differentiated { function, jacobian_places, hessian_places, chunks, pieces }
    }

    /// The function itself.
    pub fn function(&self) -> &F {
        &self.function
    }
}

impl<F: SmoothFunction> PointFunction for Differentiated<F> {
    sizes_and_places!();

    fn scratch(&self) -> Scratch {
        let (n, m) = (self.num_inputs(), self.num_outputs());
        Box::new(Memory::<F> {
            plain: self.function.scratch(),
            first: (self.function.scratch(), vec![First::zero(); n], vec![First::zero(); m]),
            second: (self.function.scratch(), vec![Second::zero(); n], vec![Second::zero(); m]),
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        match scratch.downcast_mut::<Memory<F>>() {
            Some(memory) => self.function.evaluate(z, values, &mut memory.plain),
            None => values.fill(f64::NAN),
        }
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(memory) = scratch.downcast_mut::<Memory<F>>() else {
            return values.fill(f64::NAN);
        };
        let (own, arguments, results) = &mut memory.first;
        for (c, places) in self.chunks.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
            for (i, (a, &z)) in arguments.iter_mut().zip(z).enumerate() {
                *a = if i / CHUNK == c { First::variable(z, i % CHUNK) } else { First::cst(z) };
            }
            self.function.evaluate(arguments, results, own);
            for &(place, output, column) in places {
                values[place] = results[output].d[column];
            }
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(memory) = scratch.downcast_mut::<Memory<F>>() else {
            return values.fill(f64::NAN);
        };
        let (own, arguments, results) = &mut memory.second;
        arguments.iter_mut().zip(z).for_each(|(a, &z)| *a = Second::cst(z));
        for piece in &self.pieces {
            arguments[piece.column].v.d[0] = 1.0;
            for (k, &row) in piece.rows.iter().enumerate() {
                arguments[row].d[k].v = 1.0;
            }
            self.function.evaluate(arguments, results, own);
            for (k, &row) in piece.rows.iter().enumerate() {
                arguments[row].d[k].v = 0.0;
                let sum = results.iter().zip(y).map(|(r, y)| r.d[k].d[0] * y).sum();
                values[piece.first + k] = sum;
            }
            arguments[piece.column].v.d[0] = 0.0;
        }
    }
}
