//! Ground reactions from the channels of force plates.

use super::C3d;
use soleus_math::table::{Element, Table, meters_per};
use soleus_math::{Mat33, Vec3, vec3};
use soleus_model::Diagnostics;

/// A force plate of type 1 to 4.
///
/// | type | channels |
/// |---|---|
/// | 1 | Fx Fy Fz, center of pressure Px Py, free moment Tz |
/// | 2 | Fx Fy Fz Mx My Mz about the origin of the transducer |
/// | 3 | Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4 (Kistler) |
/// | 4 | as type 2, after multiplication with a calibration matrix |
///
/// Lengths are in the unit of the file, moments in force × that unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ForcePlate {
    /// Type, 1 to 4.
    pub kind: u8,
    /// Corners in the laboratory, in the quadrants +x+y, −x+y, −x−y, +x−y of the plate.
    pub corners: [Vec3<f64>; 4],
    /// Type 2 and 4: vector from the origin of the transducer to the middle of the surface, in the plate's axes, z ≤ 0.
    /// Type 3: half the distances between the sensors (a, b), and the height of the surface.
    pub origin: Vec3<f64>,
    /// Type 4: maps the channels to Fx … Mz, rows first.
    pub calibration: [[f64; 6]; 6],
    /// Indices of the channels among the analog columns, from zero.
    pub channels: Vec<usize>,
    /// Type 3: Kistler's correction of the center of pressure, 12 coefficients; zeros for no correction.
    pub pressure_polynomial: [f64; 12],
}

/// Ground reaction over time, one entry per analog sample, in laboratory axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlateForces {
    /// Force.
    pub force: Vec<Vec3<f64>>,
    /// Moment about the middle of the surface.
    pub moment: Vec<Vec3<f64>>,
    /// Center of pressure; NaN if the vertical force is 0.
    pub pressure: Vec<Vec3<f64>>,
    /// Moment about the center of pressure.
    pub free_moment: Vec<Vec3<f64>>,
}

impl ForcePlate {
    /// Middle of the surface, in the laboratory.
    pub fn center(&self) -> Vec3<f64> {
        (self.corners[0] + self.corners[1] + self.corners[2] + self.corners[3]) * 0.25
    }

    /// Axes of the plate in the laboratory, as columns: x along the edge from corner 1 to corner 0, z normal to the
    /// surface (usually downwards).
    pub fn axes(&self) -> Mat33<f64> {
        let x = self.corners[0] - self.corners[1];
        let z = x.cross(self.corners[0] - self.corners[3]);
        let y = z.cross(x);
        Mat33::from_cols(x.normalized(), y.normalized(), z.normalized())
    }

    /// Ground reaction from the analog channels.
    ///
    /// With F and M the force and the moment about the middle of the surface, in plate axes
    /// (M = M_transducer + F × origin):
    ///
    ///   c = (−My/Fz, Mx/Fz, 0),   T = M − c × F
    ///
    /// Source: C3D User Guide, force platform types 1 to 4.
    pub fn compute_forces(&self, analog: &Table) -> PlateForces {
        let R = self.axes();
        let center = self.center();
        let mut out = PlateForces::default();
        for row in 0..analog.rows() {
            let ch = |i: usize| -> f64 {
                let column = self.channels.get(i).and_then(|&c| analog.columns().get(c));
                column.map_or(f64::NAN, |c| c[row])
            };
            let (F, M, c, T) = if self.kind == 1 {
                // The plate reports the center of pressure itself.
                let (F, c, T) = (vec3(ch(0), ch(1), ch(2)), vec3(ch(3), ch(4), 0.0), vec3(0.0, 0.0, ch(5)));
                (F, c.cross(F) + T, c, T)
            } else {
                let (F, M) = self.wrench(ch);
                let mut c = vec3(-M.y / F.z, M.x / F.z, 0.0);
                if self.kind == 3 {
                    c = self.corrected(c);
                }
                (F, M, c, M - c.cross(F))
            };
            out.force.push(R * F);
            out.moment.push(R * M);
            out.pressure.push(R * c + center);
            out.free_moment.push(R * T);
        }
        out
    }

    /// Force and moment about the middle of the surface, in plate axes.
    fn wrench(&self, ch: impl Fn(usize) -> f64) -> (Vec3<f64>, Vec3<f64>) {
        let o = self.origin;
        if self.kind == 3 {
            let F = vec3(ch(0) + ch(1), ch(2) + ch(3), ch(4) + ch(5) + ch(6) + ch(7));
            let M = vec3(
                o.y * (ch(4) + ch(5) - ch(6) - ch(7)),
                o.x * (ch(5) + ch(6) - ch(4) - ch(7)),
                o.y * (ch(1) - ch(0)) + o.x * (ch(2) - ch(3)),
            );
            return (F, M + F.cross(vec3(0.0, 0.0, o.z)));
        }
        let mut w: [f64; 6] = std::array::from_fn(&ch);
        if self.kind == 4 {
            let raw = w;
            w = std::array::from_fn(|i| (0..6).map(|j| self.calibration[i][j] * raw[j]).sum());
        }
        let F = vec3(w[0], w[1], w[2]);
        (F, vec3(w[3], w[4], w[5]) + F.cross(o))
    }

    /// Kistler's correction: c − Δ(c), with polynomials in both coordinates.
    fn corrected(&self, c: Vec3<f64>) -> Vec3<f64> {
        let p = &self.pressure_polynomial;
        let delta = |a: f64, b: f64, p: &[f64]| {
            let b2 = b * b;
            (p[0] * b2 * b2 + p[1] * b2 + p[2]) * a * a * a + (p[3] * b2 * b2 + p[4] * b2 + p[5]) * a
        };
        vec3(c.x - delta(c.x, c.y, &p[..6]), c.y - delta(c.y, c.x, &p[6..]), 0.0)
    }
}

impl C3d {
    /// The force plates of the trial; plates of other types are reported and left out.
    pub fn force_plates(&self, log: &mut Diagnostics) -> Vec<ForcePlate> {
        let p = &self.parameters;
        let used = p.counts("FORCE_PLATFORM", "USED").first().copied().unwrap_or(0);
        let kinds = p.counts("FORCE_PLATFORM", "TYPE");
        let corners = p.numbers("FORCE_PLATFORM", "CORNERS");
        let origins = p.numbers("FORCE_PLATFORM", "ORIGIN");
        let channels = p.counts("FORCE_PLATFORM", "CHANNEL");
        let per_plate =
            p.get("FORCE_PLATFORM", "CHANNEL").and_then(|c| c.dimensions.first().copied()).unwrap_or(0);
        let polynomials = p.numbers("FORCE_PLATFORM", "FPCOPPOLY");
        let mut plates = Vec::new();
        // Each plate has channels of its own, so there are no more plates than channels.
        let channel_count = self.analog.labels().len();
        let most = if channel_count == 0 { 255 } else { channel_count.min(255) };
        if used > most {
            let message = format!("the file declares {used} plates, but has {channel_count} channels");
            log.error(0, "FORCE_PLATFORM:USED", message, "only the first plates were read");
        }
        for i in 0..used.min(most) {
            let place = format!("FORCE_PLATFORM, plate {}", i + 1);
            let kind = kinds.get(i).copied().unwrap_or(0);
            if !(1..=4).contains(&kind) {
                log.warn(0, &place, format!("type {kind} is not supported"), "supported types are 1 to 4");
                continue;
            }
            let needed = if kind == 3 { 8 } else { 6 };
            let (Some(c), Some(o), Some(ch)) = (
                corners.get(12 * i..12 * i + 12),
                origins.get(3 * i..3 * i + 3),
                channels.get(per_plate * i..per_plate * i + needed).filter(|_| per_plate >= needed),
            ) else {
                log.error(0, &place, "corners, origin or channels are incomplete", "");
                continue;
            };
            if ch.iter().any(|&c| c == 0 || c > self.analog.labels().len()) {
                log.error(0, &place, "a channel number is out of range", "");
                continue;
            }
            let mut origin = vec3(o[0], o[1], o[2]);
            if kind == 1 {
                origin = vec3(0.0, 0.0, o[2]);
            }
            // Some programs store the vector the other way round.
            if origin.z > 0.0 {
                origin = -origin;
            }
            let calibration = match self.calibration(i) {
                Some(c) => c,
                None => {
                    if kind == 4 {
                        log.warn(
                            0,
                            &place,
                            "the calibration matrix is missing; channels are used uncalibrated",
                            "",
                        );
                    }
                    identity()
                }
            };
            let mut pressure_polynomial = [0.0; 12];
            if let Some(poly) = polynomials.get(12 * i..12 * i + 12) {
                pressure_polynomial.copy_from_slice(poly);
            }
            plates.push(ForcePlate {
                kind: kind as u8,
                corners: std::array::from_fn(|k| vec3(c[3 * k], c[3 * k + 1], c[3 * k + 2])),
                origin,
                calibration,
                channels: ch.iter().map(|&c| c - 1).collect(),
                pressure_polynomial,
            });
        }
        plates
    }

    /// The calibration matrix of plate i, stored by columns.
    fn calibration(&self, i: usize) -> Option<[[f64; 6]; 6]> {
        let d = &self.parameters.get("FORCE_PLATFORM", "CAL_MATRIX")?.dimensions;
        let (rows, columns) = (d.first().copied()?, d.get(1).copied()?);
        if rows < 6 || columns < 6 {
            return None;
        }
        let all = self.parameters.numbers("FORCE_PLATFORM", "CAL_MATRIX");
        let m = all.get(rows * columns * i..rows * columns * (i + 1))?;
        Some(std::array::from_fn(|r| std::array::from_fn(|c| m[rows * c + r])))
    }

    /// Ground reactions as a table of vectors: `f1`, `p1`, `m1`, `f2`, … for force, point and
    /// moment of each plate, in the units of the file. `at_pressure`: the point is the center of
    /// pressure and the moment the free moment; otherwise the middle of the plate and the moment about it.
    pub fn forces(&self, at_pressure: bool, log: &mut Diagnostics) -> Table {
        let plates = self.force_plates(log);
        let rows = if plates.is_empty() { 0 } else { self.analog.rows() };
        let (mut labels, mut columns) = (Vec::new(), Vec::new());
        for (i, plate) in plates.iter().enumerate() {
            let f = plate.compute_forces(&self.analog);
            let centers = vec![plate.center(); rows];
            let (point, moment) =
                if at_pressure { (&f.pressure, &f.free_moment) } else { (&centers, &f.moment) };
            for (letter, vectors) in [("f", &f.force), ("p", point), ("m", moment)] {
                labels.push(format!("{letter}{}", i + 1));
                for k in 0..3 {
                    columns.push(vectors.iter().map(|v| v.to_array()[k]).collect());
                }
            }
        }
        let times = self.analog.times()[..rows].to_vec();
        let empty = Table::default();
        let mut t = Table::new(Element::Vec(3), labels, times, columns).unwrap_or(empty);
        t.set_metadata("DataRate", format!("{:.6}", self.analog_rate));
        t.set_metadata("Units", self.length_unit());
        t
    }
}

/// Columns of one plate in a table of ground reactions, by the number of the plate.
fn reaction_labels(i: usize) -> impl Iterator<Item = String> {
    let names = [("force", "v"), ("force", "p"), ("moment", "m")];
    names.into_iter().flat_map(move |(what, letter)| {
        ["x", "y", "z"].into_iter().map(move |axis| format!("ground_{what}_{i}_{letter}{axis}"))
    })
}

impl C3d {
    /// Ground reactions in N, m and N m, in columns that can be used in external loads: `ground_force_1_vx` (force),
    /// `ground_force_1_px` (center of pressure), `ground_moment_1_mx` (free moment), ….
    ///
    /// All nine values of a plate are 0 while the force normal to the plate is below `threshold` (N) or zero. `None` if
    /// the length unit is unknown.
    pub fn ground_reactions(&self, threshold: f64, log: &mut Diagnostics) -> Option<Table> {
        let Some(m) = meters_per(self.length_unit()) else {
            log.error(0, "POINT:UNITS", format!("`{}` is not a unit of length", self.length_unit()), "");
            return None;
        };
        let plates = self.force_plates(log);
        let rows = if plates.is_empty() { 0 } else { self.analog.rows() };
        let (mut labels, mut columns) = (Vec::new(), Vec::new());
        for (i, plate) in plates.iter().enumerate() {
            labels.extend(reaction_labels(i + 1));
            let f = plate.compute_forces(&self.analog);
            let normal = plate.axes() * vec3(0.0, 0.0, 1.0);
            let mut nine = vec![Vec::new(); 9];
            for row in 0..rows {
                let Fn = f.force[row].dot(normal).abs();
                let on = Fn >= threshold && Fn > 0.0;
                for (k, (v, unit)) in [(f.force[row], 1.0), (f.pressure[row], m), (f.free_moment[row], m)]
                    .into_iter()
                    .enumerate()
                {
                    for (c, x) in v.to_array().into_iter().enumerate() {
                        nine[3 * k + c].push(if on { x * unit } else { 0.0 });
                    }
                }
            }
            columns.extend(nine);
        }
        let mut t =
            Table::new(Element::Scalar, labels, self.analog.times()[..rows].to_vec(), columns).ok()?;
        t.name = "ground reactions".to_string();
        Some(t)
    }
}

fn identity() -> [[f64; 6]; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))))
}
