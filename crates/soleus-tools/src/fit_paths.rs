//! Approximation of paths by polynomials: fast, smooth, with known errors.
//!
//! The length of a path is fitted over the ranges of the coordinates it depends on,
//!
//!   L(q) ≈ Σ c_k Π q_j^{e_kj},   moment arms −∂L/∂q_j                                    (1)
//!
//! by linear least squares on lengths and moment arms together (van den Bogert, Blana and Heinrich 2011, eqs. 10 and 11).
//! Terms are added until both meet their tolerance, those that reduce the error most for their number first: a muscle may
//! need order 12 in the flexion of a joint and 3 in its rotation. With each term there are all of lower or equal exponents, so
//! that the choice does not depend on where the coordinates are zero. Coordinates that depend on others through constraints are
//! not variables of the polynomial: samples satisfy the constraints, and the moment arm of an independent coordinate
//! includes the dependent ones.
//!
//! The moment arms of a path over two surfaces are not exactly the slope of its length, since the search for its curves
//! ends early (OpenSim 4.6). If (1) cannot meet both tolerances, lengths and moment arms are fitted separately. If that fails too,
//! the path is searched for the reason: a jump, moment arms that are not a slope, or corners.

use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::{State, System, Workspace};
use soleus_math::Function;
use soleus_math::function::MultivariatePolynomial;
use soleus_model::Model;
use soleus_model::constraint::ConstraintKind;
use soleus_model::id::CoordinateId;
use soleus_model::joint::MotionType;
use soleus_model::path::{FunctionBasedPath, Path, PathPointKind};
use std::ops::Range;

/// Settings of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// Minimum order.
    pub min_order: usize,
    /// Maximum order.
    pub max_order: usize,
    /// Maximum number of terms of a polynomial of a length.
    pub max_terms: usize,
    /// At most as many terms as a polynomial of this order has, whatever the order of the terms.
    pub size_of_order: Option<usize>,
    /// Whether moment arms may be fitted separately if one polynomial cannot meet both tolerances.
    pub separate_arms: bool,
    /// Only paths with wrap objects or conditional points, which branch on the pose. All others can be computed exactly.
    pub only_branching: bool,
    /// Target RMS error of the length, m.
    pub length_tolerance: f64,
    /// Target RMS error of each moment arm, m.
    pub moment_arm_tolerance: f64,
    /// Samples per coefficient of the largest polynomial.
    pub samples_per_coefficient: usize,
    /// Minimum moment arm for a path to depend on a coordinate, m.
    pub smallest_moment_arm: f64,
    /// Maximum excursion from the default value for coordinates with a wider range, rad or m.
    pub widest: f64,
    /// Poses around which paths are fitted, each with a value for every coordinate of the model; if empty, the whole
    /// ranges of the coordinates are used.
    pub poses: Vec<Vec<f64>>,
    /// Margin around these poses: rotations, rad, and translations, m.
    pub margin: [f64; 2],
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            min_order: 2,
            max_order: 20,
            max_terms: 1001,
            size_of_order: None,
            separate_arms: true,
            only_branching: false,
            length_tolerance: 1e-4,
            moment_arm_tolerance: 1e-4,
            samples_per_coefficient: 4,
            smallest_moment_arm: 1e-4,
            widest: 1.5,
            poses: Vec::new(),
            margin: [10f64.to_radians(), 0.01],
        }
    }
}

/// A fitted path and its errors.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedPath {
    /// Index of its force in the model.
    pub force: usize,
    /// The polynomial as a path; with functions of moment arms if they were fitted separately.
    pub path: FunctionBasedPath,
    /// Order of the polynomial of the length.
    pub order: usize,
    /// Number of terms of all its polynomials, those with coefficients that are not zero; 0 if none was found.
    pub terms: usize,
    /// RMS and maximum error of the length at samples not used for the fit, m.
    pub length_error: [f64; 2],
    /// RMS and maximum error of the moment arms, over all coordinates, m.
    pub moment_arm_error: [f64; 2],
    /// Whether both tolerances were met.
    pub converged: bool,
    /// Why they were not met.
    pub misfit: Option<Misfit>,
}

/// Why a path cannot be fitted within the tolerance.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// Length or moment arms jump where the path reaches or leaves a surface or a point: no continuous function fits.
    Jump {
        /// The coordinate along which the largest jump was found.
        coordinate: CoordinateId,
        /// Its value there, rad or m.
        at: f64,
        /// Jump of the length, m.
        length: f64,
        /// Jump of the moment arm about this coordinate, m.
        moment_arm: f64,
        /// Share of the searched lines through the ranges that have a jump.
        share: f64,
    },
    /// Moment arms differ from the slope of the length.
    NotASlope {
        /// RMS of the difference, m.
        difference: f64,
    },
    /// Moment arms are continuous, but have corners where the path reaches or leaves a surface, or bend so much that they need
    /// a higher order.
    Corners,
}

impl Misfit {
    /// The reason in words.
    pub fn describe(&self, model: &Model, force: usize) -> String {
        let mm = |x: f64| x * 1e3;
        match self {
            Misfit::Jump { coordinate, at, length, moment_arm, share } => {
                let surfaces: Vec<&str> = match &model.forces[force].line_of_action {
                    Some(Path::Geometry(g)) => {
                        g.wraps.iter().map(|w| model.wraps[w.wrap.0].name.as_str()).collect()
                    }
                    _ => Vec::new(),
                };
                let surfaces = match surfaces.is_empty() {
                    true => "a point".to_string(),
                    false => format!("`{}`", surfaces.join("`, `")),
                };
                format!(
                    "jumps where it reaches or leaves {surfaces}, on {:.0} % of the lines searched: at {} = {at:.4} the length by {:.2} mm, the moment arm by {:.2} mm; no continuous function can follow these jumps",
                    share * 1e2,
                    model.coordinates[coordinate.0].name,
                    mm(*length),
                    mm(*moment_arm)
                )
            }
            Misfit::NotASlope { difference } => format!(
                "its moment arms differ from the slope of its length by {:.3} mm (RMS), and separate polynomials did not reach the tolerance",
                mm(*difference)
            ),
            Misfit::Corners => {
                "is continuous, but bends too much for this number of terms: allow more (--max-terms), or fit around a motion (--motion)".into()
            }
        }
    }
}

/// A sampled pose: coordinates, and the length and moment arms of a path there.
struct Sample {
    q: Vec<f64>,
    length: f64,
    arms: Vec<f64>,
}

/// Fits the paths of all forces that have one. `progress` is called with the number done and the total, and may stop
/// the work by returning false; the paths fitted so far are returned.
pub fn fit_paths(
    model: &Model,
    system: &System,
    options: &FitOptions,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Vec<FittedPath> {
    let wanted = |i: usize| !options.only_branching || branches(model.forces[i].line_of_action.as_ref());
    let forces: Vec<usize> =
        (0..system.forces.len()).filter(|&i| system.forces[i].path.is_some() && wanted(i)).collect();
    let mut fitted = Vec::new();
    for (done, &force) in forces.iter().enumerate() {
        if !progress(done, forces.len()) {
            break;
        }
        let mut go_on = || progress(done, forces.len());
        let candidates = candidates(model, system, force);
        // A first look finds which coordinates matter at all.
        let Some(probe) = sample((model, system), options, force, &candidates, 0..64, 1, &mut go_on) else {
            break;
        };
        let kept: Vec<usize> = (0..candidates.len())
            .filter(|&c| probe.iter().any(|s| s.arms[c].abs() > options.smallest_moment_arm))
            .collect();
        let coordinates: Vec<CoordinateId> = kept.iter().map(|&c| candidates[c]).collect();
        match fit_one(model, system, options, force, &coordinates, &mut go_on) {
            Some(one) => fitted.push(one),
            None => break,
        }
    }
    progress(forces.len(), forces.len());
    fitted
}

/// Whether a path takes another form in some poses.
fn branches(path: Option<&Path>) -> bool {
    match path {
        Some(Path::Geometry(g)) => {
            let conditional = |k: &PathPointKind| matches!(k, PathPointKind::Conditional { .. });
            !g.wraps.is_empty() || g.points.iter().any(|p| conditional(&p.kind))
        }
        Some(Path::Scholz2015(_)) => true,
        Some(Path::FunctionBased(_)) | None => false,
    }
}

/// Independent coordinates that move the path, directly or through constraints.
fn candidates(model: &Model, system: &System, force: usize) -> Vec<CoordinateId> {
    let Some(path) = &system.forces[force].path else { return Vec::new() };
    let mut mobilities = path.coordinates();
    // What moves all bodies of the path alike does not change it.
    let bodies = path.bodies();
    let support = |b: usize| {
        let mut list = Vec::new();
        let mut k = b;
        while k != 0 {
            let node = &system.tree.nodes[k];
            list.extend(node.u0..node.u0 + node.nu);
            k = node.parent;
        }
        list
    };
    let supports: Vec<Vec<usize>> = bodies.iter().map(|&b| support(b)).collect();
    for list in &supports {
        mobilities.extend(list.iter().filter(|&m| !supports.iter().all(|s| s.contains(m))));
    }
    let dependent: Vec<usize> = model
        .constraints
        .iter()
        .filter(|c| c.enforced)
        .filter_map(|c| match &c.kind {
            ConstraintKind::CoordinateCoupler { dependent, independent, .. } => {
                if mobilities.contains(&system.tree.mobility_of_coordinate[dependent.0]) {
                    mobilities.extend(independent.iter().map(|c| system.tree.mobility_of_coordinate[c.0]));
                }
                Some(dependent.0)
            }
            _ => None,
        })
        .collect();
    (0..model.coordinates.len())
        .filter(|&c| {
            let k = &model.coordinates[c];
            mobilities.contains(&system.tree.mobility_of_coordinate[c])
                && !dependent.contains(&c)
                && !k.locked
                && !k.prescribed
        })
        .map(CoordinateId)
        .collect()
}

/// The interval a coordinate is sampled in.
fn interval(model: &Model, options: &FitOptions, c: CoordinateId) -> [f64; 2] {
    let k = &model.coordinates[c.0];
    if !options.poses.is_empty() {
        let m = margin(model, options, c);
        let ends = options
            .poses
            .iter()
            .map(|p| p[c.0])
            .fold([f64::INFINITY, f64::NEG_INFINITY], |e, q| [e[0].min(q), e[1].max(q)]);
        return [ends[0] - m, ends[1] + m];
    }
    [k.range[0].max(k.default_value - options.widest), k.range[1].min(k.default_value + options.widest)]
}

/// How far around given poses a coordinate is sampled.
fn margin(model: &Model, options: &FitOptions, c: CoordinateId) -> f64 {
    match model.coordinates[c.0].motion_type {
        MotionType::Translational => options.margin[1],
        _ => options.margin[0],
    }
}

/// Poses with the given numbers in the intervals of `coordinates`, or around the poses given, spread by the sequence of Halton (1960)
/// from a start that differs by `set`; all other coordinates at their defaults, constraints met. Nothing if `go_on` says so: a pose
/// of a model with hundreds of constraints takes a second.
fn sample(
    (model, system): (&Model, &System),
    options: &FitOptions,
    force: usize,
    coordinates: &[CoordinateId],
    numbers: Range<usize>,
    set: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Sample>> {
    const PRIMES: [usize; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    let mut poser = Poser::new(model, system, force, coordinates);
    let mut samples = Vec::with_capacity(numbers.len());
    for i in numbers {
        if !go_on() {
            return None;
        }
        // A prime of its own goes through the poses given.
        let at = halton(1 + i + set * 100_003, 41) * options.poses.len() as f64;
        let pose = options.poses.get(at as usize);
        let q: Vec<f64> = coordinates
            .iter()
            .enumerate()
            .map(|(d, &c)| {
                let share = halton(1 + i + set * 100_003, PRIMES[d % PRIMES.len()]);
                match pose {
                    Some(pose) => pose[c.0] + (2.0 * share - 1.0) * margin(model, options, c),
                    None => {
                        let [lo, hi] = interval(model, options, c);
                        lo + (hi - lo) * share
                    }
                }
            })
            .collect();
        samples.extend(poser.sample(&q));
    }
    Some(samples)
}

/// Computes a path at poses.
struct Poser<'a> {
    system: &'a System,
    assembler: Assembler,
    ws: Workspace<f64>,
    force: usize,
    mobilities: Vec<usize>,
}

impl<'a> Poser<'a> {
    fn new(model: &Model, system: &'a System, force: usize, coordinates: &[CoordinateId]) -> Poser<'a> {
        Poser {
            system,
            assembler: Assembler::new(model, system),
            ws: system.workspace(),
            force,
            mobilities: coordinates.iter().map(|c| system.tree.mobility_of_coordinate[c.0]).collect(),
        }
    }

    /// The path with these coordinates; nothing if no pose with them meets the constraints.
    fn sample(&mut self, q: &[f64]) -> Option<Sample> {
        let (system, ws) = (self.system, &mut self.ws);
        let mut x: State<f64> = system.default_state.clone();
        x.u.fill(0.0);
        self.mobilities.iter().zip(q).for_each(|(&m, &q)| x.q[m] = q);
        self.assembler.solve_assembly(system, &mut x, ws).ok()?;
        system.compute_kinematics(&x, ws);
        system.compute_paths(&x, ws);
        system.constraints.compute(&system.tree, &ws.kin, x.time, &mut ws.constraints);
        let mut arms = MomentArms::new(system, ws);
        arms.compute_path(system, ws, self.force);
        let arms = self.mobilities.iter().map(|&m| arms.arm(m)).collect();
        Some(Sample { q: q.to_vec(), length: ws.paths[self.force].length(), arms })
    }

    /// RMS of the difference between moment arms and −∂L/∂q at samples, m.
    fn difference_from_slope(&mut self, samples: &[Sample]) -> f64 {
        // Truncation h² of a third derivative of meters and rounding of a length are below 1e-8 m.
        const H: f64 = 1e-4;
        // Between two poses with a jump of a centimeter the slope is 50 m.
        const JUMP: f64 = 0.1;
        let (mut sum, mut count) = (0.0, 0usize);
        for s in samples {
            for d in 0..s.q.len() {
                let mut near = |by: f64| {
                    let mut q = s.q.clone();
                    q[d] += by;
                    self.sample(&q)
                };
                let (Some(above), Some(below)) = (near(H), near(-H)) else { continue };
                let off = s.arms[d] + (above.length - below.length) / (2.0 * H);
                if off.abs() < JUMP {
                    sum += off * off;
                    count += 1;
                }
            }
        }
        (sum / count.max(1) as f64).sqrt()
    }
}

/// The i-th number of the van der Corput sequence in a base: the digits of i behind the point, reversed.
fn halton(mut i: usize, base: usize) -> f64 {
    let (mut f, mut r) = (1.0, 0.0);
    while i > 0 {
        f /= base as f64;
        r += f * (i % base) as f64;
        i /= base;
    }
    r
}

/// So many numbers the equations of a fit have at most: 1.6 GB. Six coordinates at order 7 stay below.
const MOST_NUMBERS: usize = 200_000_000;

/// Maximum order of polynomials. At this order powers of two radians are 1e12, and sums of such terms lose all
/// significant digits beyond it.
pub const MOST_ORDER: usize = 40;

/// Above order 6, polynomials have at most so many coefficients, most of them zero: OpenSim computes them all.
const COEFFICIENTS: usize = 1001;
const UNLIMITED_ORDER: usize = 6;

/// So many terms are tried first, then four times as many, and so on: most paths need few, and a sample costs as much as the fit.
const FEW_TERMS: usize = 60;

fn fit_one(
    model: &Model,
    system: &System,
    options: &FitOptions,
    force: usize,
    coordinates: &[CoordinateId],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<FittedPath> {
    let dim = coordinates.len();
    let terms = |order| MultivariatePolynomial::term_count(dim.max(1), order).unwrap_or(usize::MAX);
    let count = |terms: usize| options.samples_per_coefficient.saturating_mul(terms).max(40);
    // A path over very many coordinates has more terms than can be fitted.
    let numbers = |order| count(terms(order)).saturating_mul(terms(order)).saturating_mul(1 + dim);
    let orders = || options.min_order..=options.max_order.min(MOST_ORDER);
    let few = |order: &usize| {
        *order <= UNLIMITED_ORDER.max(options.min_order)
            || terms(*order) <= COEFFICIENTS.max(options.max_terms)
    };
    let highest = orders().rev().find(|order| numbers(*order) <= MOST_NUMBERS && few(order));
    let Some(highest) = highest else { return Some(unfitted(force, coordinates)) };
    // A path over one coordinate may have as many terms as one over two: it still costs little.
    let size =
        options.size_of_order.map_or(usize::MAX, |order| terms(order).max((order + 1) * (order + 2) / 2));
    let most = terms(highest).min(size).min(options.max_terms).max(terms(options.min_order));
    let stages = std::iter::successors(Some(FEW_TERMS), |n| Some(4 * n)).map(|n| n.min(most));

    let (mut train, mut test): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
    let mut best: Option<FittedPath> = None;
    let mut poser = Poser::new(model, system, force, coordinates);
    let mut difference = None;
    let mut from = options.min_order;
    for limit in stages {
        let model_system = (model, system);
        let more = sample(model_system, options, force, coordinates, train.len()..count(limit), 0, go_on)?;
        train.extend(more);
        let more = sample(model_system, options, force, coordinates, test.len()..count(limit) / 2, 2, go_on)?;
        test.extend(more);
        let mut keep = |fitted: FittedPath| {
            let better = best.as_ref().is_none_or(|b| fitted.moment_arm_error[0] < b.moment_arm_error[0]);
            if better || fitted.converged {
                best = Some(fitted);
            }
        };
        // With a term come all below it, as many as the product of its exponents plus one.
        let basis = Basis::new(model, options, coordinates, highest).with(|e| {
            e.iter().map(|e| e + 1).product::<usize>() <= limit
                || e.iter().sum::<usize>() <= options.min_order
        });
        let mut growth = Growth::new(&basis, basis.sums(&train, Rows::Together), options.min_order);
        let (mut done, mut more) = (false, growth.chosen.len() <= limit);
        while more && !done {
            if !go_on() {
                return None;
            }
            if let Some(length) = basis.polynomial(&growth.solve(), growth.order()) {
                let fitted = judged(options, force, coordinates, growth.order(), length, Vec::new(), &test);
                done = fitted.converged;
                keep(fitted);
            }
            // Errors are computed again with every eighth more terms.
            let next = growth.chosen.len() + (growth.chosen.len() / 8).max(1);
            more = false;
            while growth.chosen.len() < next && growth.grow(limit) {
                more = true;
            }
        }
        if done {
            return best;
        }
        let off =
            *difference.get_or_insert_with(|| poser.difference_from_slope(&test[..LINES.min(test.len())]));
        let to = orders().rev().find(|&order| order <= highest && terms(order) <= limit);
        if let Some(to) = to.filter(|to| *to >= from)
            && options.separate_arms
            && off > NOT_A_SLOPE * options.moment_arm_tolerance
        {
            let basis = Basis::new(model, options, coordinates, to);
            let fitted = separately(&basis, options, force, coordinates, &train, &test, from..=to);
            let done = fitted.as_ref().is_some_and(|f| f.converged);
            if let Some(fitted) = fitted.filter(|f| f.converged) {
                keep(fitted);
            }
            if done {
                return best;
            }
            from = to + 1;
        }
        if limit == most {
            break;
        }
    }
    let mut best = best.unwrap_or_else(|| unfitted(force, coordinates));
    let off = difference.unwrap_or(0.0);
    best.misfit = Some(misfit(model, system, options, (force, coordinates), &mut poser, off, go_on)?);
    Some(best)
}

/// Terms that are chosen one after the other, and their coefficients: Cholesky's factorization of normal equations with pivots.
struct Growth<'a> {
    basis: &'a Basis,
    sums: Equations,
    /// Squares of the terms before anything is eliminated.
    whole: Vec<f64>,
    /// Terms of one exponent less in one variable.
    below: Vec<Vec<usize>>,
    is_chosen: Vec<bool>,
    chosen: Vec<usize>,
    /// A column of the factor for each chosen term, by term.
    columns: Vec<Vec<f64>>,
    /// The right-hand side by chosen term.
    right: Vec<f64>,
}

impl Growth<'_> {
    /// From sums of products, with all terms of an order.
    fn new(basis: &Basis, sums: Equations, order: usize) -> Growth<'_> {
        let n = sums.n;
        let place: std::collections::HashMap<&[usize], usize> =
            basis.terms.iter().enumerate().map(|(i, e)| (e.as_slice(), i)).collect();
        let below = |e: &Vec<usize>| {
            let less = |d: usize| {
                let mut e = e.clone();
                e[d] -= 1;
                place.get(e.as_slice()).copied()
            };
            (0..e.len()).filter(|&d| e[d] > 0).filter_map(less).collect()
        };
        let mut growth = Growth {
            basis,
            whole: (0..n).map(|i| sums.factor[i * n + i]).collect(),
            below: basis.terms.iter().map(below).collect(),
            is_chosen: vec![false; n],
            chosen: Vec::new(),
            columns: Vec::new(),
            right: Vec::new(),
            sums,
        };
        (0..basis.terms(order)).for_each(|i| growth.choose(i));
        growth
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.sums.factor[i.max(j) * self.sums.n + i.min(j)]
    }

    /// Whether a term is more than rounding of those that were chosen.
    fn is_new(&self, i: usize) -> bool {
        self.at(i, i) > DEPENDENT * self.whole[i]
    }

    /// Chooses a term and eliminates it from all others.
    fn choose(&mut self, k: usize) {
        let n = self.sums.n;
        self.is_chosen[k] = true;
        self.chosen.push(k);
        if !self.is_new(k) {
            self.columns.push(vec![0.0; n]);
            self.right.push(0.0);
            return;
        }
        let root = self.at(k, k).sqrt();
        let column: Vec<f64> =
            (0..n).map(|i| if i == k || !self.is_chosen[i] { self.at(i, k) / root } else { 0.0 }).collect();
        let right = self.sums.right[0][k] / root;
        for i in (0..n).filter(|&i| !self.is_chosen[i]) {
            let own = column[i];
            self.sums.right[0][i] -= own * right;
            let row = &mut self.sums.factor[i * n..][..i + 1];
            row.iter_mut().zip(&column).for_each(|(x, c)| *x -= own * c);
        }
        self.columns.push(column);
        self.right.push(right);
    }

    /// Chooses the term, with those below it, that reduces the sum of squares most for their number; not if there are none,
    /// or more than `limit` with it.
    fn grow(&mut self, limit: usize) -> bool {
        let n = self.sums.n;
        // What each reduces by itself.
        let gain: Vec<f64> = (0..n)
            .map(|i| match !self.is_chosen[i] && self.is_new(i) {
                true => self.sums.right[0][i].powi(2) / self.at(i, i),
                false => 0.0,
            })
            .collect();
        let left = limit.saturating_sub(self.chosen.len());
        let mut most = 0.0;
        let mut found = Vec::new();
        let mut seen = vec![usize::MAX; n];
        for i in (0..n).filter(|&i| !self.is_chosen[i]) {
            let mut list = vec![i];
            seen[i] = i;
            let mut at = 0;
            while at < list.len() && list.len() <= left {
                for &b in &self.below[list[at]] {
                    if !self.is_chosen[b] && seen[b] != i {
                        seen[b] = i;
                        list.push(b);
                    }
                }
                at += 1;
            }
            let share = list.iter().map(|&i| gain[i]).sum::<f64>() / list.len() as f64;
            if list.len() <= left && share > most {
                (most, found) = (share, list);
            }
        }
        // Those of lower order first; terms are sorted by it.
        found.sort_unstable();
        found.iter().for_each(|&i| self.choose(i));
        !found.is_empty()
    }

    /// Highest order of a chosen term.
    fn order(&self) -> usize {
        self.chosen.iter().map(|&i| self.basis.terms[i].iter().sum::<usize>()).max().unwrap_or(0)
    }

    /// Coefficients of all terms, zero for those that were not chosen.
    fn solve(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.sums.n];
        for (a, &k) in self.chosen.iter().enumerate().rev() {
            let column = &self.columns[a];
            if column[k] > 0.0 {
                let rest: f64 = self.chosen[a + 1..].iter().map(|&i| column[i] * x[i]).sum();
                x[k] = (self.right[a] - rest) / column[k];
            }
        }
        x
    }
}

/// Length and every moment arm by a polynomial of its own, each of the lowest order that meets its tolerance.
fn separately(
    basis: &Basis,
    options: &FitOptions,
    force: usize,
    coordinates: &[CoordinateId],
    train: &[Sample],
    test: &[Sample],
    orders: std::ops::RangeInclusive<usize>,
) -> Option<FittedPath> {
    let equations = basis.equations(train, Rows::Separate);
    let mut found = Vec::with_capacity(1 + coordinates.len());
    let mut order_of_length = 0;
    for quantity in 0..=coordinates.len() {
        let wanted = |s: &Sample| if quantity == 0 { s.length } else { s.arms[quantity - 1] };
        let tolerance = if quantity == 0 { options.length_tolerance } else { options.moment_arm_tolerance };
        let (order, function) = orders.clone().find_map(|order| {
            let f = basis.polynomial(&equations.solve(basis.terms(order), quantity), order)?;
            let sum: f64 = test.iter().map(|s| (f.value(&s.q) - wanted(s)).powi(2)).sum();
            ((sum / test.len().max(1) as f64).sqrt() <= tolerance).then_some((order, f))
        })?;
        if quantity == 0 {
            order_of_length = order;
        }
        found.push(function);
    }
    let length = found.remove(0);
    Some(judged(options, force, coordinates, order_of_length, length, found, test))
}

/// A path of polynomials with its errors at samples.
fn judged(
    options: &FitOptions,
    force: usize,
    coordinates: &[CoordinateId],
    order: usize,
    length: MultivariatePolynomial,
    moment_arms: Vec<MultivariatePolynomial>,
    test: &[Sample],
) -> FittedPath {
    let nonzero = |f: &MultivariatePolynomial| f.coefficients().iter().filter(|c| **c != 0.0).count();
    let terms = [&length].into_iter().chain(&moment_arms).map(nonzero).sum::<usize>().max(1);
    let length = Function::from(length);
    let moment_arms: Vec<Function> = moment_arms.into_iter().map(Function::from).collect();
    let (length_error, moment_arm_error) = errors(&length, &moment_arms, test, coordinates.len());
    FittedPath {
        force,
        path: FunctionBasedPath {
            coordinates: coordinates.to_vec(),
            length,
            moment_arms,
            speed: None,
            without_torque: Vec::new(),
        },
        order,
        terms,
        length_error,
        moment_arm_error,
        converged: length_error[0] <= options.length_tolerance
            && moment_arm_error[0] <= options.moment_arm_tolerance,
        misfit: None,
    }
}

/// A path that no polynomial was found for.
fn unfitted(force: usize, coordinates: &[CoordinateId]) -> FittedPath {
    FittedPath {
        force,
        path: FunctionBasedPath {
            coordinates: coordinates.to_vec(),
            length: Function::Constant(0.0),
            moment_arms: Vec::new(),
            speed: None,
            without_torque: Vec::new(),
        },
        order: 0,
        terms: 0,
        length_error: [f64::INFINITY; 2],
        moment_arm_error: [f64::INFINITY; 2],
        converged: false,
        misfit: None,
    }
}

/// Exponents of all terms up to an order, the last variable fastest, as `MultivariatePolynomial` counts them.
fn exponents(dim: usize, order: usize) -> Vec<Vec<usize>> {
    fn grow(prefix: &mut Vec<usize>, dim: usize, left: usize, out: &mut Vec<Vec<usize>>) {
        if prefix.len() == dim {
            out.push(prefix.clone());
            return;
        }
        for e in 0..=left {
            prefix.push(e);
            grow(prefix, dim, left - e, out);
            prefix.pop();
        }
    }
    let mut out = Vec::new();
    grow(&mut Vec::new(), dim.max(1), order, &mut out);
    out
}

/// Products of Chebyshev's polynomials of variables scaled to [−1, 1], sorted by order: the terms of each order are the first ones.
struct Basis {
    dim: usize,
    /// Center and half width of each variable.
    scale: Vec<[f64; 2]>,
    terms: Vec<Vec<usize>>,
    order: usize,
}

/// Which rows the equations of a fit have.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    /// Length and moment arms of one function.
    Together,
    /// Values, with length and moment arms as right-hand sides.
    Separate,
}

impl Basis {
    fn new(model: &Model, options: &FitOptions, coordinates: &[CoordinateId], order: usize) -> Basis {
        let dim = coordinates.len();
        let scale = coordinates
            .iter()
            .map(|&c| {
                let [lo, hi] = interval(model, options, c);
                [0.5 * (lo + hi), (0.5 * (hi - lo)).max(1e-9)]
            })
            .collect();
        let mut terms = exponents(dim, order);
        terms.sort_by_key(|e| e.iter().sum::<usize>());
        Basis { dim, scale, terms, order }
    }

    /// Only the terms that are wanted.
    fn with(mut self, wanted: impl Fn(&[usize]) -> bool) -> Basis {
        self.terms.retain(|e| wanted(e));
        self
    }

    /// Number of terms up to an order.
    fn terms(&self, order: usize) -> usize {
        self.terms.partition_point(|e| e.iter().sum::<usize>() <= order)
    }

    /// The normal equations at samples, factorized.
    fn equations(&self, samples: &[Sample], rows: Rows) -> Equations {
        let mut sums = self.sums(samples, rows);
        sums.factorize();
        sums
    }

    /// The normal equations at samples.
    fn sums(&self, samples: &[Sample], rows: Rows) -> Equations {
        let n = self.terms.len();
        let (dim, separate) = (self.dim, rows == Rows::Separate);
        let mut sums = Equations {
            n,
            factor: vec![0.0; n * n],
            right: vec![vec![0.0; n]; if separate { 1 + dim } else { 1 }],
        };
        // Tₑ and its slope for each variable.
        let mut t = vec![vec![[1.0, 0.0]; self.order + 1]; dim.max(1)];
        let mut row = vec![0.0; n];
        for s in samples {
            for (t, (q, [m, h])) in t.iter_mut().zip(s.q.iter().zip(&self.scale)) {
                let y = (q - m) / h;
                if let Some(t1) = t.get_mut(1) {
                    *t1 = [y, 1.0];
                }
                for e in 2..t.len() {
                    let ([a, da], [b, db]) = (t[e - 1], t[e - 2]);
                    t[e] = [2.0 * y * a - b, 2.0 * (a + y * da) - db];
                }
            }
            let product = |e: &[usize], slope: Option<usize>| -> f64 {
                (0..dim).map(|d| t[d][e[d]][usize::from(slope == Some(d))]).product()
            };
            let value_alone = |e: &[usize]| if dim == 0 && e[0] > 0 { 0.0 } else { product(e, None) };
            for (r, e) in row.iter_mut().zip(&self.terms) {
                *r = value_alone(e);
            }
            if separate {
                sums.add(&row, [s.length].into_iter().chain(s.arms.iter().copied()));
                continue;
            }
            sums.add(&row, [s.length]);
            for j in 0..dim {
                let per = -1.0 / self.scale[j][1];
                for (r, e) in row.iter_mut().zip(&self.terms) {
                    *r = per * product(e, Some(j));
                }
                sums.add(&row, [s.arms[j]]);
            }
        }
        sums
    }

    /// The polynomial in powers of the coordinates. Nothing if a coefficient is not finite.
    fn polynomial(&self, coefficients: &[f64], order: usize) -> Option<MultivariatePolynomial> {
        // Coefficients of powers of q in Tₑ((q − m)/h).
        let powers: Vec<Vec<Vec<f64>>> =
            self.scale.iter().map(|&[m, h]| chebyshev_powers(order, m, h)).collect();
        let dim = self.dim.max(1);
        let list = exponents(self.dim, order);
        let place: std::collections::HashMap<&[usize], usize> =
            list.iter().enumerate().map(|(i, e)| (e.as_slice(), i)).collect();
        let mut now = vec![0.0; list.len()];
        for (e, c) in self.terms.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
            now[place[e.as_slice()]] = *c;
        }
        // One variable after the other.
        let mut lower = vec![0; dim];
        for (d, powers) in powers.iter().enumerate() {
            let mut next = vec![0.0; list.len()];
            for (e, c) in list.iter().zip(&now).filter(|(_, c)| **c != 0.0) {
                lower.copy_from_slice(e);
                for (k, p) in powers[e[d]].iter().enumerate().filter(|(_, p)| **p != 0.0) {
                    lower[d] = k;
                    next[place[lower.as_slice()]] += c * p;
                }
            }
            now = next;
        }
        MultivariatePolynomial::new(dim, order, now).ok()
    }
}

/// Coefficients of powers of q in Tₑ((q − m)/h), for e up to `order`: Tₑ = 2 y Tₑ₋₁ − Tₑ₋₂.
fn chebyshev_powers(order: usize, m: f64, h: f64) -> Vec<Vec<f64>> {
    let mut list = vec![vec![1.0], vec![-m / h, 1.0 / h]];
    for e in 2..=order {
        let mut next = vec![0.0; e + 1];
        for (k, c) in list[e - 1].iter().enumerate() {
            next[k] -= 2.0 * c * m / h;
            next[k + 1] += 2.0 * c / h;
        }
        for (k, c) in list[e - 2].iter().enumerate() {
            next[k] -= c;
        }
        list.push(next);
    }
    list
}

/// Normal equations of a linear fit. As terms are sorted by order, the factors for every lower order are the first rows.
struct Equations {
    n: usize,
    /// Lower triangle: sums of products, then the factor L of Cholesky.
    factor: Vec<f64>,
    /// Right-hand sides, then L⁻¹ of them.
    right: Vec<Vec<f64>>,
}

/// Below this share of its sum of squares, a term depends on earlier ones and gets no coefficient: rounding of the sums.
const DEPENDENT: f64 = 1e-13;

impl Equations {
    /// Adds a row with its right-hand sides.
    fn add(&mut self, row: &[f64], right: impl IntoIterator<Item = f64>) {
        for (i, &r) in row.iter().enumerate() {
            let sums = &mut self.factor[i * self.n..][..i + 1];
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += r * x);
        }
        for (sums, b) in self.right.iter_mut().zip(right) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += b * x);
        }
    }

    /// Cholesky; a column of zeros marks a term that depends on earlier ones.
    fn factorize(&mut self) {
        let n = self.n;
        for i in 0..n {
            let (above, rest) = self.factor.split_at_mut(i * n);
            let row = &mut rest[..n];
            let whole = row[i];
            for j in 0..i {
                let other = &above[j * n..][..j + 1];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = if other[j] > 0.0 { (row[j] - sum) / other[j] } else { 0.0 };
            }
            let square = whole - row[..i].iter().map(|x| x * x).sum::<f64>();
            row[i] = if square > DEPENDENT * whole { square.sqrt() } else { 0.0 };
            for right in &mut self.right {
                let sum: f64 = row[..i].iter().zip(&*right).map(|(a, b)| a * b).sum();
                right[i] = if row[i] > 0.0 { (right[i] - sum) / row[i] } else { 0.0 };
            }
        }
    }

    /// Coefficients of the first `terms` terms for a right-hand side.
    fn solve(&self, terms: usize, right: usize) -> Vec<f64> {
        let mut x = self.right[right][..terms].to_vec();
        for i in (0..terms).rev() {
            let row = &self.factor[i * self.n..][..i + 1];
            x[i] = if row[i] > 0.0 { x[i] / row[i] } else { 0.0 };
            let xi = x[i];
            x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
        }
        x
    }
}

/// Moment arms that differ from the slope of the length by more than this share of their tolerance are no slope.
const NOT_A_SLOPE: f64 = 0.3;

/// Numbers of lines through the ranges and of intervals on each, along which a path is searched for jumps.
const LINES: usize = 24;
const INTERVALS: usize = 40;

/// What makes a path hard to fit, found along lines through the ranges, each in the direction of one coordinate.
fn misfit(
    model: &Model,
    system: &System,
    options: &FitOptions,
    (force, coordinates): (usize, &[CoordinateId]),
    poser: &mut Poser,
    difference: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Misfit> {
    let starts = sample((model, system), options, force, coordinates, 0..LINES, 3, go_on)?;
    let (mut largest, mut jump) = (0.0, None);
    let (mut lines, mut jumps) = (0usize, 0usize);
    for start in &starts {
        for (d, &c) in coordinates.iter().enumerate() {
            let [lo, hi] = match options.poses.is_empty() {
                true => interval(model, options, c),
                false => [start.q[d] - margin(model, options, c), start.q[d] + margin(model, options, c)],
            };
            let mut q = start.q.clone();
            let mut before: Option<Sample> = None;
            let mut on_this_line = false;
            for k in 0..=INTERVALS {
                if !go_on() {
                    return None;
                }
                q[d] = lo + (hi - lo) * k as f64 / INTERVALS as f64;
                let Some(now) = poser.sample(&q) else {
                    before = None;
                    continue;
                };
                if let Some(before) = &before
                    && let Some((at, length, arm)) = largest_jump(poser, options, d, before, &now)
                {
                    on_this_line = true;
                    if length.max(arm) > largest {
                        largest = length.max(arm);
                        jump = Some((c, at, length, arm));
                    }
                }
                before = Some(now);
            }
            lines += 1;
            jumps += usize::from(on_this_line);
        }
    }
    if let Some((coordinate, at, length, moment_arm)) = jump {
        let share = jumps as f64 / lines.max(1) as f64;
        return Some(Misfit::Jump { coordinate, at, length, moment_arm, share });
    }
    let no_slope = difference > NOT_A_SLOPE * options.moment_arm_tolerance;
    Some(if no_slope { Misfit::NotASlope { difference } } else { Misfit::Corners })
}

/// Where length or moment arm about coordinate `d` jump most between two poses by more than the tolerances, and both jumps.
/// The interval is halved around the larger change until nothing continuous is left of it.
fn largest_jump(
    poser: &mut Poser,
    options: &FitOptions,
    d: usize,
    a: &Sample,
    b: &Sample,
) -> Option<(f64, f64, f64)> {
    let change = |a: &Sample, b: &Sample| {
        // What the moment arms explain is no jump.
        let explained = 0.5 * (a.arms[d] + b.arms[d]) * (b.q[d] - a.q[d]);
        ((b.length - a.length + explained).abs(), (b.arms[d] - a.arms[d]).abs())
    };
    let counts =
        |(length, arm): (f64, f64)| length > options.length_tolerance || arm > options.moment_arm_tolerance;
    let copy = |s: &Sample| Sample { q: s.q.clone(), length: s.length, arms: s.arms.clone() };
    let (mut a, mut b) = (copy(a), copy(b));
    for _ in 0..24 {
        if !counts(change(&a, &b)) {
            return None;
        }
        let mut q = a.q.clone();
        q[d] = 0.5 * (a.q[d] + b.q[d]);
        let middle = poser.sample(&q)?;
        let size = |c: (f64, f64)| c.0.max(c.1);
        if size(change(&a, &middle)) > size(change(&middle, &b)) {
            b = middle;
        } else {
            a = middle;
        }
    }
    let found = change(&a, &b);
    counts(found).then_some((b.q[d], found.0, found.1))
}

/// Root mean square and largest errors of length and moment arms.
fn errors(length: &Function, arms: &[Function], samples: &[Sample], dim: usize) -> ([f64; 2], [f64; 2]) {
    let (mut l, mut r) = ([0.0, 0.0], [0.0f64, 0.0]);
    let mut per_coordinate = vec![0.0; dim];
    let mut gradient = vec![0.0; dim.max(1)];
    for s in samples {
        let q = if dim == 0 { &[0.0][..] } else { &s.q };
        let error: f64 = length.gradient(q, &mut gradient) - s.length;
        l = [l[0] + error * error, f64::max(l[1], error.abs())];
        for j in 0..dim {
            let arm = arms.get(j).map_or(-gradient[j], |f| f.value(q));
            let error: f64 = arm - s.arms[j];
            per_coordinate[j] += error * error;
            r[1] = r[1].max(error.abs());
        }
    }
    let n = samples.len().max(1) as f64;
    r[0] = per_coordinate.iter().map(|s: &f64| (s / n).sqrt()).fold(0.0, f64::max);
    ([(l[0] / n).sqrt(), l[1]], r)
}

#[cfg(test)]
mod tests;
