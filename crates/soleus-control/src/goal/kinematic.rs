//! Positions of points of a model.

use crate::function::SmoothFunction;
use crate::problem::{EndpointFunction, EndpointVariable, Goal, PointVariable, Term};
use soleus_dynamics::System;
use soleus_dynamics::constraint::Station;
use soleus_dynamics::multibody::{TreeKinematics, compute_kinematics};
use soleus_math::{Function, Real, Vec3, vec3};
use std::sync::Arc;

/// Memory for the motion of the tree.
pub(super) struct Motion<T: Real> {
    pub kin: TreeKinematics<T>,
    pub q: Vec<T>,
    pub u: Vec<T>,
}

impl<T: Real> Motion<T> {
    pub fn new(system: &System) -> Motion<T> {
        let x = system.default_state.lift();
        Motion { kin: TreeKinematics::new(&system.tree), q: x.q, u: x.u }
    }

    pub fn compute(&mut self, system: &System) {
        compute_kinematics(&system.tree, &self.q, &self.u, &mut self.kin);
    }
}

/// w |p(q) − r|², where r is fixed or a function of time, the first input then.
struct PointError {
    system: Arc<System>,
    station: Station,
    mobilities: Vec<usize>,
    target: Target,
    weight: f64,
}

enum Target {
    Fixed(Vec3<f64>),
    Moving(Box<[Function; 3]>),
}

impl SmoothFunction for PointError {
    type Scratch<T: Real> = Motion<T>;

    fn num_inputs(&self) -> usize {
        self.mobilities.len() + usize::from(matches!(self.target, Target::Moving(_)))
    }

    fn scratch<T: Real>(&self) -> Motion<T> {
        Motion::new(&self.system)
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], motion: &mut Motion<T>) {
        let (target, q) = match &self.target {
            Target::Fixed(r) => (Vec3::cst(*r), z),
            Target::Moving(path) => {
                let [x, y, z3] = &**path;
                let t = &z[..1];
                (vec3(x.value(t), y.value(t), z3.value(t)), &z[1..])
            }
        };
        self.mobilities.iter().zip(q).for_each(|(&m, &q)| motion.q[m] = q);
        motion.compute(&self.system);
        let p = motion.kin.view(T::zero()).point(self.station.body, self.station.p_BS);
        let d = p - target;
        values[0] = d.dot(d) * self.weight;
    }
}

/// |p(t_f) − location|² of a point of the model, m².
pub fn marker_final(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    station: Station,
    location: Vec3<f64>,
) -> Goal {
    let mobilities = system.tree.supports(station.body);
    let inputs = mobilities.iter().map(|&m| EndpointVariable::Last(PointVariable::State(m))).collect();
    let target = Target::Fixed(location);
    let f = PointError { system: system.clone(), station, mobilities, target, weight: 1.0 };
    Goal::endpoint(name, weight, EndpointFunction::of_model(inputs, f))
}

/// ∫ Σ wᵢ |pᵢ − rᵢ(t)|² dt over points of the model, m² s.
pub fn marker_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    markers: Vec<(Station, [Function; 3], f64)>,
) -> Goal {
    let term = |(station, path, weight): (Station, [Function; 3], f64)| {
        let mobilities = system.tree.supports(station.body);
        let mut inputs = vec![PointVariable::Time];
        inputs.extend(mobilities.iter().map(|&m| PointVariable::State(m)));
        let target = Target::Moving(Box::new(path));
        Term::of_model(inputs, PointError { system: system.clone(), station, mobilities, target, weight })
    };
    Goal::integral(name, weight, markers.into_iter().map(term).collect())
}
