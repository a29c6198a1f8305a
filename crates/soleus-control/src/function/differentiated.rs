//! Derivatives of a generic function by dual numbers, a few columns at a time.

use super::{PointFunction, Scratch};
use soleus_math::{Dual, Real};

/// Columns of the Jacobian found at once.
const COLUMNS: usize = 8;
/// Rows and columns of the Hessian found at once.
const SQUARE: usize = 4;

type First = Dual<f64, COLUMNS>;
type Second = Dual<Dual<f64, SQUARE>, SQUARE>;

/// A function written once for every scalar; [`Differentiated`] gives its derivatives.
///
/// A goal, a path constraint or the dynamics of a rocket is one such type.
pub trait SmoothFunction: Send + Sync + 'static {
    /// Memory needed in the scalar `T`; `()` if none.
    type Scratch<T: Real>: Send;

    /// Number of variables.
    fn num_inputs(&self) -> usize;

    /// Number of values.
    fn num_outputs(&self) -> usize {
        1
    }

    /// Room in the scalar `T`.
    fn scratch<T: Real>(&self) -> Self::Scratch<T>;

    /// Writes the values at z. Branches look at [`Real::value`] only.
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], scratch: &mut Self::Scratch<T>);

    /// Whether an output may depend on an input. Everything on everything, unless it is known better.
    fn depends(&self, _output: usize, _input: usize) -> bool {
        true
    }

    /// Whether the mixed second derivative by two inputs may differ from zero. By default, if some output
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
    /// Chunks of the Hessian that hold a place: first row, first column, (place, row, column).
    squares: Vec<Square>,
}

struct Square {
    row: usize,
    column: usize,
    places: Vec<(usize, usize, usize)>,
}

/// Arguments, results and the function's own memory in each scalar.
struct Memory<F: SmoothFunction> {
    plain: F::Scratch<f64>,
    first: (F::Scratch<First>, Vec<First>, Vec<First>),
    second: (F::Scratch<Second>, Vec<Second>, Vec<Second>),
}

impl<F: SmoothFunction> Differentiated<F> {
    /// Finds the places of the derivatives.
    pub fn new(function: F) -> Self {
        let (n, m) = (function.num_inputs(), function.num_outputs());
        let mut jacobian_places = Vec::new();
        let mut chunks = vec![Vec::new(); n.div_ceil(COLUMNS)];
        for o in 0..m {
            for i in (0..n).filter(|&i| function.depends(o, i)) {
                chunks[i / COLUMNS].push((jacobian_places.len(), o, i % COLUMNS));
                jacobian_places.push((o, i));
            }
        }
        let mut hessian_places = Vec::new();
        let mut squares = Vec::new();
        for row in (0..n).step_by(SQUARE) {
            for column in (0..=row).step_by(SQUARE) {
                let mut places = Vec::new();
                for i in row..n.min(row + SQUARE) {
                    for j in column..(i + 1).min(column + SQUARE) {
                        if function.couples(i, j) {
                            places.push((hessian_places.len(), i - row, j - column));
                            hessian_places.push((i, j));
                        }
                    }
                }
                if !places.is_empty() {
                    squares.push(Square { row, column, places });
                }
            }
        }
        Differentiated { function, jacobian_places, hessian_places, chunks, squares }
    }

    /// The function itself.
    pub fn function(&self) -> &F {
        &self.function
    }
}

impl<F: SmoothFunction> PointFunction for Differentiated<F> {
    fn num_inputs(&self) -> usize {
        self.function.num_inputs()
    }

    fn num_outputs(&self) -> usize {
        self.function.num_outputs()
    }

    fn jacobian_places(&self) -> &[(usize, usize)] {
        &self.jacobian_places
    }

    fn hessian_places(&self) -> &[(usize, usize)] {
        &self.hessian_places
    }

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
                *a = if i / COLUMNS == c { First::variable(z, i % COLUMNS) } else { First::cst(z) };
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
        for square in &self.squares {
            for (i, (a, &z)) in arguments.iter_mut().zip(z).enumerate() {
                let mut inner = Dual::cst(z);
                if (square.column..square.column + SQUARE).contains(&i) {
                    inner.d[i - square.column] = 1.0;
                }
                let mut d = [Dual::zero(); SQUARE];
                if (square.row..square.row + SQUARE).contains(&i) {
                    d[i - square.row] = Dual::one();
                }
                *a = Second::new(inner, d);
            }
            self.function.evaluate(arguments, results, own);
            for &(place, i, j) in &square.places {
                values[place] = results.iter().zip(y).map(|(r, y)| r.d[i].d[j] * y).sum();
            }
        }
    }
}
