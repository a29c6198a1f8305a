//! Sensors: goniometers, gyroscopes, accelerometers.

use super::model_function::{Make, ModelFunction};
use super::planar_sensor::PlanarSensor;
use super::quantity::{FrameMotion, Quantity};
use crate::function::SmoothFunction;
use crate::problem::{Goal, PointVariable, Term};
use soleus_dynamics::{BodyFrame, System};
use soleus_math::{Function, Real};
use std::sync::Arc;

/// A sensor with one channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sensor {
    /// A state of the problem: a joint angle of a goniometer, a position from a camera, a speed.
    State(usize),
    /// Angular velocity of a frame along one of its axes (0 x, 1 y, 2 z), rad/s.
    Gyroscope(BodyFrame, usize),
    /// Acceleration of a frame's origin minus gravity, along one of its axes, m/s²: at rest it is 9.81 upwards.
    Accelerometer(BodyFrame, usize),
}

/// Readings of a sensor.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The sensor.
    pub sensor: Sensor,
    /// Reading m(t), with time in s.
    pub reading: Function,
    /// 1/σ(t), inverse of the standard deviation of the reading; zero without a reading.
    pub per_deviation: Function,
}

/// m and 1/σ over time.
#[derive(Clone, Debug)]
pub struct Reading {
    m: Function,
    per: Function,
}

impl Reading {
    /// ((s − m)/σ)² at a time.
    pub fn squared_error<T: Real>(&self, s: T, t: &[T]) -> T {
        ((s - self.m.value(t)) * self.per.value(t)).sq()
    }
}

/// What the gyroscopes and the accelerometers of one frame have read, by axis.
struct OfFrame {
    frame: BodyFrame,
    gyroscopes: [Option<Reading>; 3],
    accelerometers: [Option<Reading>; 3],
}

/// weight · mean over time of 1/N Σ ((s − m)/σ)² over N channels: the first part of the cost of van den Bogert, Blana
/// and Heinrich (2011), eq. 21. Sensors on the same frame are one function.
pub fn sensor_tracking(name: &str, weight: f64, system: &Arc<System>, channels: Vec<Channel>) -> Goal {
    let count = channels.len().max(1) as f64;
    let mut terms = Vec::new();
    let mut frames: Vec<OfFrame> = Vec::new();
    for c in channels {
        let reading = Reading { m: c.reading, per: c.per_deviation };
        let (frame, axis, turning) = match c.sensor {
            Sensor::State(i) => {
                let inputs = vec![PointVariable::Time, PointVariable::State(i)];
                terms.push(Term::new(inputs, StateReading(reading)));
                continue;
            }
            Sensor::Gyroscope(frame, axis) => (frame, axis, true),
            Sensor::Accelerometer(frame, axis) => (frame, axis, false),
        };
        // A second channel on one axis of a frame has a function of its own.
        let room = |f: &OfFrame| {
            let list = if turning { &f.gyroscopes } else { &f.accelerometers };
            f.frame == frame && list.get(axis).is_some_and(Option::is_none)
        };
        let at = frames.iter().position(room).unwrap_or_else(|| {
            let none = || [const { None }; 3];
            frames.push(OfFrame { frame, gyroscopes: none(), accelerometers: none() });
            frames.len() - 1
        });
        let f = &mut frames[at];
        let list = if turning { &mut f.gyroscopes } else { &mut f.accelerometers };
        if let Some(place) = list.get_mut(axis) {
            *place = Some(reading);
        }
    }
    terms.extend(frames.into_iter().map(|f| f.term(system)));
    Goal::mean(name, weight / count, terms)
}

impl OfFrame {
    /// In closed form if the sensors see a plane and their frame moves in it, else through the model.
    fn term(self, system: &Arc<System>) -> Term {
        let plane = match &self {
            OfFrame { frame, gyroscopes: [None, None, z], accelerometers: [x, y, None] } => {
                PlanarSensor::term(system, frame, z.clone(), [x.clone(), y.clone()])
            }
            _ => None,
        };
        plane.unwrap_or_else(|| self.general(system))
    }

    fn general(self, system: &Arc<System>) -> Term {
        let kinds = [
            (FrameMotion::OwnAngularVelocity, self.gyroscopes),
            (FrameMotion::ProperAcceleration, self.accelerometers),
        ];
        let (mut quantities, mut all) = (Vec::new(), Vec::new());
        for (motion, list) in kinds {
            if list.iter().any(Option::is_some) {
                quantities.push(Quantity::Frame(self.frame, motion));
                all.extend(list);
            }
        }
        ModelFunction::new(system, quantities, Make::Readings(all)).term()
    }
}

/// ((x − m(t))/σ(t))², of t and x.
struct StateReading(Reading);

impl SmoothFunction for StateReading {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = self.0.squared_error(z[1], &z[..1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::musculoskeletal::ModelProblem;
    use soleus_math::{Transform, Vec3, vec3};

    fn leg() -> ModelProblem {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim");
        let model = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file).0.unwrap();
        let system = System::compile(&model).unwrap();
        ModelProblem::new(Arc::new(model), Arc::new(system))
    }

    /// The value of a goal's only term where q, u and u̇ of the trunk's angle are given, everything else at rest.
    fn value(base: &ModelProblem, sensor: Sensor, reading: f64, trunk: [f64; 3]) -> f64 {
        let channel =
            Channel { sensor, reading: Function::Constant(reading), per_deviation: Function::Constant(1.0) };
        let goal = sensor_tracking("s", 1.0, &base.system, vec![channel]);
        let term = &goal.integrals[0][0];
        let n = base.num_coordinates();
        let angle = base.states.iter().position(|s| s.ends_with("trunk_angle/value")).unwrap();
        let z: Vec<f64> = term
            .inputs
            .iter()
            .map(|v| match v {
                PointVariable::State(i) if *i == angle => trunk[0],
                PointVariable::State(i) if *i == n + angle => trunk[1],
                PointVariable::Rate(i) if *i == n + angle => trunk[2],
                _ => 0.0,
            })
            .collect();
        let mut out = [0.0];
        term.function.compute_values(&z, &mut out, &mut term.function.scratch());
        out[0]
    }

    /// At rest it reads g upwards, tilted as its body is; on a turning body −ω² r inwards and ω̇ r along.
    #[test]
    fn analytic_accelerometer_and_gyroscope() {
        let base = leg();
        let trunk = base.system.tree.nodes.iter().position(|n| n.parent == 0 && n.nu > 0).unwrap();
        let at = |p: Vec3<f64>| BodyFrame { body: trunk, X_BF: Transform::from_offset(p, Vec3::zero()) };
        let g = 9.81;
        let check = |axis: usize, p: Vec3<f64>, trunk: [f64; 3], wanted: f64| {
            let v = value(&base, Sensor::Accelerometer(at(p), axis), wanted, trunk);
            // Squares of differences: 1e-12 of 10 squared.
            assert!(v < 1e-22, "axis {axis}: off by {}", v.sqrt());
        };
        check(1, Vec3::zero(), [0.0; 3], g);
        check(0, Vec3::zero(), [0.0; 3], 0.0);
        // Turned counter-clockwise by a, the sensor's x axis points up by sin a.
        check(0, vec3(0.1, 0.2, 0.0), [0.3, 0.0, 0.0], g * 0.3f64.sin());
        check(1, vec3(0.1, 0.2, 0.0), [0.3, 0.0, 0.0], g * 0.3f64.cos());
        check(1, vec3(0.0, 0.4, 0.0), [0.0, 2.0, 0.0], g - 4.0 * 0.4);
        check(0, vec3(0.0, 0.4, 0.0), [0.0, 0.0, 5.0], -5.0 * 0.4);
        let v = value(&base, Sensor::Gyroscope(at(vec3(0.3, 0.1, 0.0)), 2), 2.0, [0.7, 2.0, 1.0]);
        assert!(v < 1e-22, "{v}");
    }

    /// The closed form for planar chains against the way through the model, at a seeded point.
    #[test]
    fn identity_planar_and_general_sensors() {
        let base = leg();
        let body = base.system.tree.nodes.len() - 1;
        let X_BF = Transform::from_offset(vec3(0.12, -0.03, 0.0), Vec3::zero());
        let reading = || Some(Reading { m: Function::Constant(0.3), per: Function::Constant(0.7) });
        let of_frame = || OfFrame {
            frame: BodyFrame { body, X_BF },
            gyroscopes: [None, None, reading()],
            accelerometers: [reading(), reading(), None],
        };
        let (planar, general) = (of_frame().term(&base.system), of_frame().general(&base.system));
        assert!(planar.inputs.len() < general.inputs.len(), "the chain was not taken as planar");
        let number = |v: &PointVariable| match v {
            PointVariable::State(i) => (1.7 * *i as f64).sin(),
            PointVariable::Rate(i) => 3.0 * (0.9 * *i as f64).cos(),
            _ => 0.0,
        };
        let [a, b] = [planar, general].map(|t| {
            let z: Vec<f64> = t.inputs.iter().map(number).collect();
            let mut out = [0.0];
            t.function.compute_values(&z, &mut out, &mut t.function.scratch());
            out[0]
        });
        assert!((a - b).abs() < 1e-12 * b.abs(), "{a} {b}");
    }
}
