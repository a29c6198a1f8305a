//! Approximation of paths by polynomials: fast, smooth, with known errors.
//!
//! The length of a path is fitted over the ranges of the coordinates it depends on,
//!
//!   L(q) ≈ Σ c_k Π q_j^{e_kj},   moment arms −∂L/∂q_j                                    (1)
//!
//! by linear least squares on lengths and moment arms together; the order is increased until both meet their tolerance
//! (van den Bogert, Blana and Heinrich 2011, eqs. 10 and 11). Coordinates that depend on others through constraints are
//! not variables of the polynomial: samples satisfy the constraints, and the moment arm of an independent coordinate
//! includes the dependent ones.

use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::{State, System};
use soleus_math::function::MultivariatePolynomial;
use soleus_math::{Function, solve_least_squares};
use soleus_model::Model;
use soleus_model::constraint::ConstraintKind;
use soleus_model::id::CoordinateId;
use soleus_model::joint::MotionType;
use soleus_model::path::FunctionBasedPath;

/// Settings of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// Minimum order.
    pub min_order: usize,
    /// Maximum order.
    pub max_order: usize,
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
            max_order: 6,
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
    /// The polynomial as a path.
    pub path: FunctionBasedPath,
    /// Order of the polynomial.
    pub order: usize,
    /// Coefficients in the order of `MultivariatePolynomial`.
    pub coefficients: Vec<f64>,
    /// RMS and maximum error of the length at samples not used for the fit, m.
    pub length_error: [f64; 2],
    /// RMS and maximum error of the moment arms, over all coordinates, m.
    pub moment_arm_error: [f64; 2],
    /// Whether both tolerances were met.
    pub converged: bool,
}

/// A sampled pose: coordinates, and for every path its length and moment arms by coordinate.
struct Sample {
    q: Vec<f64>,
    lengths: Vec<f64>,
    arms: Vec<Vec<f64>>,
}

/// Fits the paths of all forces that have one. `progress` is called with the number done and the total, and may stop
/// the work by returning false; the paths fitted so far are returned.
pub fn fit_paths(
    model: &Model,
    system: &System,
    options: &FitOptions,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Vec<FittedPath> {
    let forces: Vec<usize> = (0..system.forces.len()).filter(|&i| system.forces[i].path.is_some()).collect();
    let mut fitted = Vec::new();
    for (done, &force) in forces.iter().enumerate() {
        if !progress(done, forces.len()) {
            break;
        }
        let mut go_on = || progress(done, forces.len());
        let candidates = candidates(model, system, force);
        // A first look finds which coordinates matter at all.
        let Some(probe) = sample((model, system), options, force, &candidates, 64, 1, &mut go_on) else {
            break;
        };
        let kept: Vec<usize> = (0..candidates.len())
            .filter(|&c| probe.iter().any(|s| s.arms[0][c].abs() > options.smallest_moment_arm))
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

/// `count` poses in the intervals of `coordinates`, or around the poses given, spread by the sequence of Halton (1960)
/// from a start that differs by `set`; all other coordinates at their defaults, constraints met. Nothing if `go_on` says so: a pose
/// of a model with hundreds of constraints takes a second.
fn sample(
    (model, system): (&Model, &System),
    options: &FitOptions,
    force: usize,
    coordinates: &[CoordinateId],
    count: usize,
    set: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Sample>> {
    const PRIMES: [usize; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    let assembler = Assembler::new(model, system);
    let mut ws = system.workspace();
    let mut samples = Vec::with_capacity(count);
    for i in 0..count {
        if !go_on() {
            return None;
        }
        let mut x: State<f64> = system.default_state.clone();
        x.u.fill(0.0);
        let mut q = Vec::with_capacity(coordinates.len());
        // A prime of its own goes through the poses given.
        let at = halton(1 + i + set * 100_003, 41) * options.poses.len() as f64;
        let pose = options.poses.get(at as usize);
        for (d, &c) in coordinates.iter().enumerate() {
            let share = halton(1 + i + set * 100_003, PRIMES[d % PRIMES.len()]);
            let value = match pose {
                Some(pose) => pose[c.0] + (2.0 * share - 1.0) * margin(model, options, c),
                None => {
                    let [lo, hi] = interval(model, options, c);
                    lo + (hi - lo) * share
                }
            };
            x.q[system.tree.mobility_of_coordinate[c.0]] = value;
            q.push(value);
        }
        if assembler.solve_assembly(system, &mut x, &mut ws).is_err() {
            continue;
        }
        system.compute_kinematics(&x, &mut ws);
        system.compute_paths(&x, &mut ws);
        system.constraints.compute(&system.tree, &ws.kin, x.time, &mut ws.constraints);
        let mut arms = MomentArms::new(system, &ws);
        arms.compute_path(system, &ws, force);
        let arms = coordinates.iter().map(|c| arms.arm(system.tree.mobility_of_coordinate[c.0])).collect();
        samples.push(Sample { q, lengths: vec![ws.paths[force].length()], arms: vec![arms] });
    }
    Some(samples)
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
    let count = |order| options.samples_per_coefficient.saturating_mul(terms(order)).max(40);
    // A path over very many coordinates has more terms than can be fitted.
    let numbers = |order| count(order).saturating_mul(terms(order)).saturating_mul(1 + dim);
    let orders = options.min_order..=options.max_order.min(MOST_ORDER);
    let highest = orders.rev().find(|&order| numbers(order) <= MOST_NUMBERS);
    let Some(highest) = highest else { return Some(unfitted(force, coordinates)) };
    let test = sample((model, system), options, force, coordinates, count(highest) / 2, 2, go_on)?;
    let train = sample((model, system), options, force, coordinates, count(highest), 0, go_on)?;
    let mut best: Option<FittedPath> = None;
    for order in options.min_order..=highest {
        if !go_on() {
            return None;
        }
        let coefficients = fit(model, options, coordinates, &train, order);
        let Ok(length) = MultivariatePolynomial::new(dim.max(1), order, coefficients.clone()) else {
            continue;
        };
        let length = Function::from(length);
        let (length_error, moment_arm_error) = errors(&length, &test, dim);
        let fitted = FittedPath {
            force,
            path: FunctionBasedPath {
                coordinates: coordinates.to_vec(),
                length,
                moment_arms: Vec::new(),
                speed: None,
                without_torque: Vec::new(),
            },
            order,
            coefficients,
            length_error,
            moment_arm_error,
            converged: length_error[0] <= options.length_tolerance
                && moment_arm_error[0] <= options.moment_arm_tolerance,
        };
        let done = fitted.converged;
        let better = best.as_ref().is_none_or(|b| fitted.moment_arm_error[0] < b.moment_arm_error[0]);
        if better || done {
            best = Some(fitted);
        }
        if done {
            break;
        }
    }
    Some(best.unwrap_or_else(|| unfitted(force, coordinates)))
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
        coefficients: Vec::new(),
        length_error: [f64::INFINITY; 2],
        moment_arm_error: [f64::INFINITY; 2],
        converged: false,
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

/// Coefficients of (1). The fit is made in variables scaled to [−1, 1], where powers stay apart, and expanded
/// to powers of the coordinates afterwards.
fn fit(
    model: &Model,
    options: &FitOptions,
    coordinates: &[CoordinateId],
    samples: &[Sample],
    order: usize,
) -> Vec<f64> {
    let dim = coordinates.len();
    let powers = exponents(dim, order);
    let columns = powers.len();
    let scale: Vec<[f64; 2]> = coordinates
        .iter()
        .map(|&c| {
            let [lo, hi] = interval(model, options, c);
            [0.5 * (lo + hi), (0.5 * (hi - lo)).max(1e-9)]
        })
        .collect();
    let rows = samples.len() * (1 + dim);
    let mut a: Vec<Vec<f64>> = (0..columns).map(|_| Vec::with_capacity(rows)).collect();
    let mut b = Vec::with_capacity(rows);
    for s in samples {
        let y: Vec<f64> = s.q.iter().zip(&scale).map(|(q, [m, h])| (q - m) / h).collect();
        let power = |d: usize, e: usize| y.get(d).map_or(f64::from(u8::from(e == 0)), |y| y.powi(e as i32));
        for (a, p) in a.iter_mut().zip(&powers) {
            a.push(p.iter().enumerate().map(|(d, &e)| power(d, e)).product());
        }
        b.push(s.lengths[0]);
        for j in 0..dim {
            for (a, p) in a.iter_mut().zip(&powers) {
                let slope: f64 = p
                    .iter()
                    .enumerate()
                    .map(|(d, &e)| match (d == j, e) {
                        (true, 0) => 0.0,
                        (true, e) => e as f64 * power(d, e - 1),
                        (false, e) => power(d, e),
                    })
                    .product();
                a.push(-slope / scale[j][1]);
            }
            b.push(s.arms[0][j]);
        }
    }
    let scaled = solve_least_squares(&mut a, &mut b);

    // Expand ((q − m)/h)^e term by term.
    let mut coefficients = vec![0.0; columns];
    let place: std::collections::BTreeMap<&Vec<usize>, usize> =
        powers.iter().enumerate().map(|(i, p)| (p, i)).collect();
    for (p, c) in powers.iter().zip(scaled) {
        let mut terms: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), c)];
        for (d, &e) in p.iter().enumerate() {
            let [m, h] = scale.get(d).copied().unwrap_or([0.0, 1.0]);
            terms = terms
                .into_iter()
                .flat_map(|(prefix, c)| {
                    (0..=e).map(move |k| {
                        let mut next = prefix.clone();
                        next.push(k);
                        (next, c * binomial(e, k) * (-m).powi((e - k) as i32) / h.powi(e as i32))
                    })
                })
                .collect();
        }
        for (p, c) in terms {
            coefficients[place[&p]] += c;
        }
    }
    coefficients
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Root mean square and largest errors of length and moment arms.
fn errors(length: &Function, samples: &[Sample], dim: usize) -> ([f64; 2], [f64; 2]) {
    let (mut l, mut r) = ([0.0, 0.0], [0.0f64, 0.0]);
    let mut per_coordinate = vec![0.0; dim];
    let mut gradient = vec![0.0; dim.max(1)];
    for s in samples {
        let q = if dim == 0 { &[0.0][..] } else { &s.q };
        let error: f64 = length.gradient(q, &mut gradient) - s.lengths[0];
        l = [l[0] + error * error, f64::max(l[1], error.abs())];
        for j in 0..dim {
            let error: f64 = -gradient[j] - s.arms[0][j];
            per_coordinate[j] += error * error;
            r[1] = r[1].max(error.abs());
        }
    }
    let n = samples.len().max(1) as f64;
    r[0] = per_coordinate.iter().map(|s: &f64| (s / n).sqrt()).fold(0.0, f64::max);
    ([(l[0] / n).sqrt(), l[1]], r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leg that ships: every path within a tenth of a millimetre, and a polynomial of the true order for a
    /// path that is one.
    #[test]
    fn identity_fitted_paths_follow_the_leg() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
        let (model, _) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
        let model = model.unwrap();
        let system = System::compile(&model).unwrap();
        let options = FitOptions {
            max_order: 8,
            length_tolerance: 2e-4,
            moment_arm_tolerance: 1e-3,
            ..Default::default()
        };
        let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
        assert_eq!(fitted.len(), 8);
        for f in &fitted {
            println!(
                "{} order {} {:?} {:?}",
                model.forces[f.force].name, f.order, f.length_error, f.moment_arm_error
            );
            assert!(f.length_error[1] < 2e-3, "{}", model.forces[f.force].name);
        }
    }

    /// A path of a model with hundreds of constraints took minutes before anybody was asked. Half a path is none.
    #[test]
    fn issue_16_a_fit_can_be_stopped_between_poses() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
        let model = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file).0.unwrap();
        let system = System::compile(&model).unwrap();
        let mut calls = 0;
        let fitted = fit_paths(&model, &system, &FitOptions::default(), &mut |_, _| {
            calls += 1;
            calls < 70 // the first look takes 64 poses
        });
        assert!(fitted.is_empty(), "{}", fitted.len());
    }

    #[test]
    fn analytic_exponents_and_binomials() {
        assert_eq!(exponents(2, 2), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]);
        assert_eq!(binomial(6, 2), 15.0);
    }

    /// The first numbers in base 2: ½, ¼, ¾.
    #[test]
    fn analytic_halton() {
        assert_eq!([1, 2, 3].map(|i| halton(i, 2)), [0.5, 0.25, 0.75]);
    }
}
