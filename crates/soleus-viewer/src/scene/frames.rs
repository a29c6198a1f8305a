//! Creates frames of an animation from states of a system.

use super::build::{bones, paths};
use super::{Animation, Frame, Scene, SceneOptions};
use soleus_dynamics::force::Kernel;
use soleus_dynamics::path::{CompiledFunctionPath, CompiledPath, PointOrigin};
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Loads, State, System, Workspace};
use soleus_math::{SpatialVec, Transform, Vec3, vec3};
use soleus_model::model::Model;
use soleus_model::path::{Path, WrapObject, WrapShape};

/// Curves over surfaces are drawn in pieces of this angle, rad.
const PIECE: f64 = 0.26;
/// Points inside the curve over an obstacle.
const PIECES_OF_GEODESIC: usize = 11;
/// Forces below this are not drawn, N.
const SMALLEST_FORCE: f64 = 1.0;
/// A path with smaller moment arms about a joint does not cross it, m.
const SMALLEST_ARM: f64 = 1e-4;
/// A centre of pressure farther from its body than this is none, m.
const FARTHEST: f64 = 0.5;
/// The floor is at height zero unless something is below by more than this, m.
const BELOW_FLOOR: f64 = 0.1;

/// Records states of a system as frames.
///
/// ```no_run
/// # fn f(model: &soleus_model::Model, states: &[soleus_dynamics::State<f64>]) -> Result<(), Box<dyn std::error::Error>> {
/// use soleus_viewer::{Recorder, Report, SceneOptions};
///
/// let system = soleus_dynamics::System::compile(model)?;
/// let mut recorder = Recorder::new(model, &system, &SceneOptions::default());
/// for state in states {
///     recorder.record(state);
/// }
/// let page = Report::new("A motion").animation(&recorder.finish()).to_html();
/// # Ok(())
/// # }
/// ```
pub struct Recorder<'a> {
    model: &'a Model,
    system: &'a System,
    ws: Workspace<f64>,
    scene: Scene,
    frames: Vec<Frame>,
    /// Forces along paths; where their activation is among the states.
    paths: Vec<(usize, Option<usize>)>,
    /// Whether activations of the states are known, and contact forces are to be computed.
    has_activity: bool,
    has_contact: bool,
    /// Contacts and measured forces, and the nodes of the arrows they are drawn as.
    contacts: Vec<usize>,
    touched: Vec<usize>,
    zdot: Vec<f64>,
}

impl<'a> Recorder<'a> {
    /// A recorder without frames.
    pub fn new(model: &'a Model, system: &'a System, options: &SceneOptions) -> Self {
        Recorder::of_scene(model, system, Scene::new(model, options))
    }

    /// A recorder without frames for an existing scene. The scene may be empty if bodies are drawn by the caller.
    pub fn of_scene(model: &'a Model, system: &'a System, mut scene: Scene) -> Self {
        let activation = |i: usize| {
            let at = system.forces[i].states.clone();
            at.into_iter().find(|&z| system.aux_names[z].ends_with("/activation"))
        };
        let (mut contacts, mut touched) = (Vec::new(), Vec::new());
        for (i, f) in system.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            if let Some(bodies) = contact_bodies(&f.actor) {
                contacts.push(i);
                touched.extend(bodies.into_iter().filter(|&b| b != 0));
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let name = |&node: &usize| {
            let body = system.tree.nodes[node].body;
            body.map_or(String::new(), |b| model.bodies[b.0].name.clone())
        };
        scene.arrows = touched.iter().map(name).collect();
        Recorder {
            model,
            system,
            ws: system.workspace(),
            paths: paths(model).map(|i| (i, activation(i))).collect(),
            scene,
            frames: Vec::new(),
            has_activity: true,
            has_contact: true,
            contacts,
            touched,
            zdot: vec![0.0; system.num_aux],
        }
    }

    /// Whether the states contain actual activations (otherwise none are shown) and actual speeds, which contact forces
    /// depend on. Both are true by default.
    pub fn with(mut self, activations: bool, speeds: bool) -> Self {
        self.has_activity = activations;
        self.has_contact = speeds;
        self
    }

    /// Adds a frame.
    pub fn record(&mut self, x: &State<f64>) {
        self.system.compute_kinematics(x, &mut self.ws);
        self.system.compute_paths(x, &mut self.ws);
        let X_GB = &self.ws.kin.X_GB;
        let poses = self.system.tree.node_of_body.iter().map(|&n| X_GB[n]).collect();
        let activity = |z: &Option<usize>| match z {
            Some(z) if self.has_activity => x.z[*z],
            _ => f64::NAN,
        };
        let frame = Frame {
            time: x.time,
            poses,
            paths: self.paths.iter().map(|&(i, _)| self.line(i)).collect(),
            activity: self.paths.iter().map(|(_, z)| activity(z)).collect(),
            arrows: self.arrows(x),
        };
        self.frames.push(frame);
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The frames recorded since the last call.
    pub fn take_frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.frames)
    }

    /// The recorded animation.
    pub fn finish(mut self) -> Animation {
        let bones = bones(self.model);
        let low = self.frames.iter().flat_map(|f| {
            let stations = bones.iter().flat_map(|b| [f.poses[b.body] * b.from, f.poses[b.body] * b.to]);
            stations.chain(f.paths.iter().flatten().copied()).map(|p| p.y)
        });
        let lowest = low.filter(|y| y.is_finite()).fold(0.0, f64::min);
        self.scene.floor = Some(if lowest < -BELOW_FLOOR { lowest } else { 0.0 });
        Animation { scene: self.scene, frames: self.frames }
    }

    /// Points of the path of force `i`, with the curves over surfaces drawn out.
    fn line(&self, i: usize) -> Vec<Vec3<f64>> {
        let mut line = Vec::new();
        let points = self.ws.paths[i].points();
        if let Some(CompiledPath::Function(path)) = &self.system.forces[i].path {
            return self.line_of_function(i, path);
        }
        if let Some(CompiledPath::Scholz2015(path)) = &self.system.forces[i].path {
            for p in points {
                line.push(p.p_G);
                if let PointOrigin::WrapStart(obstacle) = p.origin {
                    path.extend_curve(&self.ws.paths[i], obstacle, PIECES_OF_GEODESIC, &mut line);
                }
            }
            return line;
        }
        let Some(Path::Geometry(path)) = &self.model.forces[i].line_of_action else { return line };
        for (k, p) in points.iter().enumerate() {
            line.push(p.p_G);
            let (PointOrigin::WrapStart(w), Some(next)) = (p.origin, points.get(k + 1)) else { continue };
            let Some(object) = path.wraps.get(w).and_then(|w| self.model.wraps.get(w.wrap.0)) else {
                continue;
            };
            let frame = &self.model.frames[object.frame.0];
            let node = self.system.tree.node_of_body[frame.body.0];
            let X_GW = self.ws.kin.X_GB[node] * frame.X_BF * object.pose;
            curve(object, &X_GW, [p.p_G, next.p_G], p.to_next, &mut line);
        }
        line
    }

    /// A line for a path that is a function: it passes the centre c of each joint at the distance that its moment arms tell,
    ///
    ///   p = c + s × τ,   τ = Σ rᵢ aᵢ,
    ///
    /// with a the axes of the joint and s the direction of the pull, along the upper bone: its moment about c is τ but for what is along s.
    /// Where it begins and ends is made up.
    fn line_of_function(&self, i: usize, path: &CompiledFunctionPath) -> Vec<Vec3<f64>> {
        let (kin, nodes) = (&self.ws.kin, &self.system.tree.nodes);
        let mut arms = vec![0.0; kin.H.len()];
        let mut unused = vec![SpatialVec::zero(); kin.X_GB.len()];
        path.apply_tension(&self.ws.paths[i], 1.0, &mut Loads { body: &mut unused, mobility: &mut arms });
        let center = |n: usize| kin.X_GB[nodes[n].parent] * nodes[n].X_PF.p;
        let mass_center = |n: usize| {
            let own = nodes[n].moment * (1.0 / nodes[n].mass.max(1e-9));
            kin.X_GB[n] * own
        };
        // Joints that it crosses, from the root outwards.
        let turning = |n: &usize| {
            let of = nodes[*n].u0..nodes[*n].u0 + nodes[*n].nu;
            of.fold(Vec3::zero(), |t, m| t + kin.H[m].w * arms[m])
        };
        let crossed: Vec<(usize, Vec3<f64>)> =
            (1..nodes.len()).map(|n| (n, turning(&n))).filter(|c| c.1.norm() > SMALLEST_ARM).collect();
        let mut line = Vec::new();
        for (k, &(n, moment)) in crossed.iter().enumerate() {
            let (c, upper) = (center(n), nodes[n].parent);
            let to_next = center(upper.max(1)) - c;
            let is_root = upper == 0 || nodes[upper].parent == 0;
            let (pull, length) = match to_next.norm() {
                l if !is_root && l > 0.05 => (to_next * (1.0 / l), l),
                _ => (kin.X_GB[upper].R.axis(1), 0.2),
            };
            let aside = pull.cross(moment);
            if k == 0 {
                line.push(c + aside * 0.7 + pull * (0.45 * length));
            }
            line.push(c + aside);
            if k + 1 == crossed.len() {
                let child = nodes.iter().position(|x| x.parent == n).map(center);
                line.push(match child.filter(|p| (*p - c).norm() > 0.05) {
                    Some(p) => c + aside * 0.6 + (p - c) * 0.2,
                    None if (mass_center(n) - c).norm() > 0.1 => c + aside * 0.6 + (mass_center(n) - c) * 0.4,
                    None => c + aside - pull * 0.04,
                });
            }
        }
        line
    }

    /// What contacts and measured forces do to each body, as one force where it meets the floor.
    fn arrows(&mut self, x: &State<f64>) -> Vec<(Vec3<f64>, Vec3<f64>)> {
        let loads = self.loads_of_contact(x);
        self.touched.iter().map(|&b| on_floor(&self.ws.kin.X_GB[b], loads[b])).collect()
    }

    /// Loads of contacts and measured forces on each body of the model at a state: moment about its origin and force,
    /// in ground.
    pub fn contact_loads(&mut self, x: &State<f64>) -> Vec<SpatialVec<f64>> {
        self.system.compute_kinematics(x, &mut self.ws);
        let loads = self.loads_of_contact(x);
        self.system.tree.node_of_body.iter().map(|&n| loads[n]).collect()
    }

    /// The same for each node of the tree, at a state whose kinematics are computed.
    fn loads_of_contact(&mut self, x: &State<f64>) -> Vec<SpatialVec<f64>> {
        let zero = SpatialVec::zero();
        let mut sum = vec![zero; self.ws.kin.X_GB.len()];
        let mut mobility = vec![0.0; x.q.len()];
        let kin = self.ws.kin.view(x.time);
        for &i in &self.contacts {
            let f = &self.system.forces[i];
            let Actor::Force(c) = &f.actor else { continue };
            let is_measured = matches!(c.kernel(), Kernel::Timed(_));
            if !is_measured && !self.has_contact {
                continue;
            }
            let mut load = vec![zero; sum.len()];
            let mut loads = Loads { body: &mut load, mobility: &mut mobility };
            // Contacts have no controls.
            c.apply(&kin, &[], &x.z[f.states.clone()], &mut self.zdot[f.states.clone()], &mut loads);
            // What bodies do to each other is left out.
            if is_measured || load[1..].iter().filter(|l| l.v.norm() > 0.0).count() == 1 {
                for (sum, load) in sum.iter_mut().zip(&load) {
                    *sum += *load;
                }
            }
        }
        sum
    }
}

/// Bodies that a contact or a measured force acts on; nothing for other forces.
fn contact_bodies(actor: &Actor) -> Option<Vec<usize>> {
    let Actor::Force(c) = actor else { return None };
    match c.kernel() {
        Kernel::Timed(t) => Some(vec![t.applied_to.body]),
        Kernel::HuntCrossley(_)
        | Kernel::ElasticFoundation(_)
        | Kernel::SmoothSphereHalfSpace(_)
        | Kernel::Exponential(_)
        | Kernel::Ellipsoid(_)
        | Kernel::Bogert2011(_) => Some(c.touches().0),
        _ => None,
    }
}

/// The force of a load on a body (about its origin) and where it is drawn: at the point of the plane y = 0 about which it
/// has no moment but the vertical one, the centre of pressure:  x = M_z / F_y,  z = −M_x / F_y,  with M about the origin of
/// ground. A force that does not come from there, or is too small to say from where, is drawn at the body's origin.
fn on_floor(X_GB: &Transform<f64>, load: SpatialVec<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let f = load.v;
    if !(f.norm() > SMALLEST_FORCE) {
        return (X_GB.p, Vec3::zero());
    }
    let M = load.w + X_GB.p.cross(f);
    let center = vec3(M.z / f.y, 0.0, -M.x / f.y);
    // Also false where there is no number.
    let is_near = (center - X_GB.p).norm() < FARTHEST;
    (if is_near { center } else { X_GB.p }, f)
}

/// Points of the curve over a surface between its two ends, without the ends. `length` tells the short way around
/// from the long one.
fn curve(
    w: &WrapObject,
    X_GW: &Transform<f64>,
    ends: [Vec3<f64>; 2],
    length: f64,
    line: &mut Vec<Vec3<f64>>,
) {
    let [a, b] = ends.map(|p| X_GW.inverse_mul(p));
    let mut push = |p: Vec3<f64>| line.push(*X_GW * p);
    match w.shape {
        WrapShape::Cylinder { radius, .. } => {
            // A helix: r² φ² + Δz² = l².
            let (from, dz) = (a.y.atan2(a.x), b.z - a.z);
            let short = (b.y.atan2(b.x) - from + 3.0 * std::f64::consts::PI)
                .rem_euclid(std::f64::consts::TAU)
                - std::f64::consts::PI;
            let long = short - short.signum() * std::f64::consts::TAU;
            let miss = |turn: f64| ((radius * turn).hypot(dz) - length).abs();
            let turn = if miss(long) < miss(short) { long } else { short };
            for t in parts(turn.abs()) {
                let (s, c) = (from + t * turn).sin_cos();
                push(vec3(radius * c, radius * s, a.z + t * dz));
            }
        }
        WrapShape::Sphere { radius } => {
            // A great circle; the long way around when the length says so.
            let (x, n) = (a.normalized(), a.cross(b));
            if !(n.norm() > 0.0) {
                return;
            }
            let y = n.normalized().cross(x);
            let short = b.dot(y).atan2(b.dot(x));
            let long = short - std::f64::consts::TAU;
            let miss = |turn: f64| (radius * turn.abs() - length).abs();
            let turn = if miss(long) < miss(short) { long } else { short };
            for t in parts(turn.abs()) {
                let (s, c) = (t * turn).sin_cos();
                push((x * c + y * s) * radius);
            }
        }
        WrapShape::Ellipsoid { dimensions: d } => {
            // The chord, moved out to the surface along its radii: in the plane of the ends and the centre.
            for t in parts((a.normalized() - b.normalized()).norm()) {
                let p = a * (1.0 - t) + b * t;
                let k = vec3(p.x / d.x, p.y / d.y, p.z / d.z).norm();
                if k > 1e-3 {
                    push(p * (1.0 / k));
                }
            }
        }
        WrapShape::Torus { .. } => {}
    }
}

/// Where an arc of that angle is divided, 0 to 1 without the ends.
fn parts(angle: f64) -> impl Iterator<Item = f64> {
    let n = (angle / PIECE).ceil().clamp(1.0, 24.0) as u32;
    (1..n).map(move |k| f64::from(k) / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_model::id::FrameId;
    use soleus_model::path::Quadrant;
    use std::f64::consts::{PI, TAU};

    /// A force at a point of the floor, with a vertical moment, comes back from the load about any origin.
    #[test]
    fn identity_center_of_pressure() {
        let (point, force, moment) = (vec3(0.3, 0.0, -0.2), vec3(50.0, 700.0, -20.0), vec3(0.0, 4.0, 0.0));
        let X = Transform::from_offset(vec3(0.5, 0.1, 0.1), vec3(0.3, -0.2, 0.5));
        let load = SpatialVec::new((point - X.p).cross(force) + moment, force);
        let (p, f) = on_floor(&X, load);
        // Moments of some 600 N m are divided by 700 N.
        assert!((p - point).norm() < 1e-14 && f == force, "{p:?}");
        assert_eq!(on_floor(&X, SpatialVec::zero()).1, Vec3::zero());
        // A push from the side, and one so small that its moment points far away.
        for force in [vec3(80.0, 0.0, 0.0), vec3(0.0, 2.0, 0.0)] {
            let load = SpatialVec::new(vec3(0.0, 0.0, 30.0), force);
            assert_eq!(on_floor(&X, load), (X.p, force));
        }
    }

    /// Curves have the length they are given, the short way and the long way around.
    #[test]
    fn analytic_curves_over_surfaces() {
        let wrap = |shape| WrapObject {
            name: String::new(),
            path: String::new(),
            frame: FrameId(0),
            pose: Transform::identity(),
            active: true,
            quadrant: Quadrant::All,
            shape,
        };
        let X = Transform::from_offset(vec3(0.1, 0.2, 0.3), vec3(0.4, -0.3, 0.2));
        let length = |line: &[Vec3<f64>]| -> f64 { line.windows(2).map(|e| (e[1] - e[0]).norm()).sum() };
        let r: f64 = 0.05;
        let at = |angle: f64, z: f64| X * vec3(r * angle.cos(), r * angle.sin(), z);
        for turn in [0.5, 2.0, -2.0, PI + 0.6, -TAU + 0.9] {
            let (dz, ends) = (0.02, [at(0.3, 0.0), at(0.3 + turn, 0.02)]);
            let long = (r * turn).hypot(dz);
            let mut line = vec![ends[0]];
            curve(&wrap(WrapShape::Cylinder { radius: r, length: 1.0 }), &X, ends, long, &mut line);
            line.push(ends[1]);
            // A chord is shorter than its arc by the square of its angle over 24.
            assert!((length(&line) / long - 1.0).abs() < PIECE * PIECE / 20.0, "{turn}");

            let (ends, long) = ([at(0.3, 0.0), at(0.3 + turn, 0.0)], r * turn.abs());
            let mut line = vec![ends[0]];
            curve(&wrap(WrapShape::Sphere { radius: r }), &X, ends, long, &mut line);
            line.push(ends[1]);
            assert!((length(&line) / long - 1.0).abs() < PIECE * PIECE / 20.0, "{turn}");
            assert!(line.iter().all(|p| ((*p - X.p).norm() - r).abs() < 1e-12));
        }
        // Points of a curve over an ellipsoid lie on it.
        let d = vec3(0.03, 0.05, 0.04);
        let ends = [X * vec3(0.03, 0.0, 0.0), X * vec3(0.0, 0.05, 0.0)];
        let mut line = Vec::new();
        curve(&wrap(WrapShape::Ellipsoid { dimensions: d }), &X, ends, 0.07, &mut line);
        assert!(line.len() > 3);
        for p in line.iter().map(|&p| X.inverse_mul(p)) {
            assert!((vec3(p.x / d.x, p.y / d.y, p.z / d.z).norm() - 1.0).abs() < 1e-12);
        }
    }
}
