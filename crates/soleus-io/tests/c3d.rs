//! C3D files of all machines and number formats, written here byte by byte and read back.

#![allow(non_snake_case)] // M is a moment.

use proptest::prelude::*;
use soleus_io::c3d::{self, C3d};
use soleus_math::vec3;
use soleus_model::Diagnostics;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Machine {
    Intel = 84,
    Dec = 85,
    Sgi = 86,
}

/// What a test file holds.
struct Trial {
    machine: Machine,
    is_float: bool,
    points: usize,
    channels: usize,
    samples: usize,
    frames: usize,
    unsigned: bool,
}

/// Coordinate c of a point; integers in units of the scale, so that every format holds them exactly.
fn coordinate(frame: usize, point: usize, c: usize) -> f64 {
    (frame * 7 + point * 3 + c) as f64 * SCALE
}
/// Raw analog number.
fn raw(sample: usize, channel: usize) -> f64 {
    ((sample * 31 + channel * 17) % 2000) as f64
}
const SCALE: f64 = 0.25;
/// The point that no camera saw in odd frames.
const HIDDEN: usize = 1;

impl Trial {
    fn u16(&self, x: u16) -> [u8; 2] {
        if self.machine == Machine::Sgi { x.to_be_bytes() } else { x.to_le_bytes() }
    }
    fn f32(&self, x: f32) -> [u8; 4] {
        match self.machine {
            Machine::Intel => x.to_le_bytes(),
            Machine::Sgi => x.to_be_bytes(),
            Machine::Dec => {
                let [a, b, c, d] = (x * 4.0).to_le_bytes();
                [c, d, a, b]
            }
        }
    }

    /// One record of the parameter section.
    fn record(&self, out: &mut Vec<u8>, id: i8, name: &str, body: &[u8]) {
        out.extend([name.len() as u8, id as u8]);
        out.extend(name.as_bytes());
        out.extend(self.u16(body.len() as u16 + 2));
        out.extend(body);
    }
    fn text(&self, out: &mut Vec<u8>, id: i8, name: &str, words: &[String]) {
        let length = words.iter().map(String::len).max().unwrap_or(0);
        let mut body = vec![255, 2, length as u8, words.len() as u8];
        for w in words {
            body.extend(format!("{w:<length$}").as_bytes());
        }
        body.push(0);
        self.record(out, id, name, &body);
    }
    fn integers(&self, out: &mut Vec<u8>, id: i8, name: &str, dimensions: &[u8], v: &[u16]) {
        let mut body = vec![2, dimensions.len() as u8];
        body.extend(dimensions);
        v.iter().for_each(|&x| body.extend(self.u16(x)));
        body.push(0);
        self.record(out, id, name, &body);
    }
    fn floats(&self, out: &mut Vec<u8>, id: i8, name: &str, dimensions: &[u8], v: &[f32]) {
        let mut body = vec![4, dimensions.len() as u8];
        body.extend(dimensions);
        v.iter().for_each(|&x| body.extend(self.f32(x)));
        body.push(0);
        self.record(out, id, name, &body);
    }

    /// The whole file; `plates` appends the group FORCE_PLATFORM.
    fn bytes(&self, plates: impl Fn(&Trial, &mut Vec<u8>)) -> Vec<u8> {
        let n = self.channels;
        let mut p = vec![1, 0x50, 0, self.machine as u8];
        let scale = if self.is_float { -SCALE } else { SCALE } as f32;
        for (id, name) in [(-1, "POINT"), (-2, "ANALOG"), (-3, "FORCE_PLATFORM"), (-4, "EVENT")] {
            self.record(&mut p, id, name, &[0]);
        }
        let labels: Vec<String> = (0..self.points).map(|i| format!("M{i}")).collect();
        self.integers(&mut p, 1, "USED", &[], &[self.points as u16]);
        self.floats(&mut p, 1, "SCALE", &[], &[scale]);
        self.floats(&mut p, 1, "RATE", &[], &[100.0]);
        self.integers(&mut p, 1, "FRAMES", &[], &[self.frames as u16]);
        self.text(&mut p, 1, "LABELS", &labels[..self.points.min(255)]);
        if self.points > 255 {
            self.text(&mut p, 1, "LABELS2", &labels[255..]);
        }
        self.text(&mut p, 1, "UNITS", &["mm".to_string()]);
        self.text(&mut p, 1, "ANGLES", &["M0".to_string()]);
        self.integers(&mut p, 2, "USED", &[], &[n as u16]);
        self.floats(&mut p, 2, "RATE", &[], &[100.0 * self.samples as f32]);
        self.text(&mut p, 2, "LABELS", &(0..n).map(|i| format!("A{i}")).collect::<Vec<_>>());
        self.floats(&mut p, 2, "GEN_SCALE", &[], &[0.5]);
        self.floats(&mut p, 2, "SCALE", &[n as u8], &(0..n).map(|i| 1.0 + i as f32).collect::<Vec<_>>());
        let offset = if self.unsigned { 40000 } else { 16 };
        self.integers(&mut p, 2, "OFFSET", &[n as u8], &vec![offset; n]);
        let format = if self.unsigned { "UNSIGNED" } else { "SIGNED" };
        self.text(&mut p, 2, "FORMAT", &[format.to_string()]);
        plates(self, &mut p);
        self.integers(&mut p, 4, "USED", &[], &[2]);
        self.text(&mut p, 4, "LABELS", &["Foot Strike".to_string(), "Foot Off".to_string()]);
        self.text(&mut p, 4, "CONTEXTS", &["Right".to_string(), "Left".to_string()]);
        self.floats(&mut p, 4, "TIMES", &[2, 2], &[0.0, 0.25, 1.0, 2.5]);
        p.extend([0, 0]);
        p.resize(p.len().div_ceil(512) * 512, 0);
        p[2] = (p.len() / 512) as u8;

        let mut bytes = vec![2, 0x50];
        bytes.extend(self.u16(self.points as u16));
        bytes.extend(self.u16((n * self.samples) as u16));
        bytes.extend(self.u16(5));
        bytes.extend(self.u16(4 + self.frames as u16));
        bytes.extend(self.u16(10));
        bytes.extend(self.f32(scale));
        bytes.extend(self.u16((2 + p.len() / 512) as u16));
        bytes.extend(self.u16(self.samples as u16));
        bytes.extend(self.f32(100.0));
        bytes.resize(512, 0);
        bytes.extend(p);
        for f in 0..self.frames {
            for i in 0..self.points {
                let hidden = i == HIDDEN && f % 2 == 1;
                for c in 0..3 {
                    let x = coordinate(f, i, c);
                    if self.is_float {
                        bytes.extend(self.f32(x as f32));
                    } else {
                        bytes.extend(self.u16((x / SCALE) as i16 as u16));
                    }
                }
                if self.is_float {
                    bytes.extend(self.f32(if hidden { -1.0 } else { 0.0 }));
                } else {
                    bytes.extend(self.u16(if hidden { u16::MAX } else { 0 }));
                }
            }
            for s in f * self.samples..(f + 1) * self.samples {
                for c in 0..n {
                    let x = raw(s, c) + if self.unsigned { 40000.0 } else { 0.0 };
                    if self.is_float {
                        bytes.extend(self.f32(x as f32));
                    } else {
                        bytes.extend(self.u16(x as u16));
                    }
                }
            }
        }
        bytes.resize(bytes.len().div_ceil(512) * 512, 0);
        bytes
    }
}

fn read(bytes: &[u8]) -> C3d {
    let (trial, log) = c3d::read(bytes, "t.c3d");
    assert!(!log.has_errors(), "{:?}", log.list);
    trial.unwrap()
}

#[test]
fn analytic_all_machines_and_formats() {
    for machine in [Machine::Intel, Machine::Dec, Machine::Sgi] {
        for (is_float, unsigned) in [(true, false), (false, false), (false, true)] {
            let t = Trial { machine, is_float, points: 300, channels: 3, samples: 4, frames: 6, unsigned };
            let c = read(&t.bytes(|_, _| {}));
            let case = format!("{machine:?}, float {is_float}, unsigned {unsigned}");
            assert_eq!((c.first_frame, c.point_rate, c.analog_rate), (5, 100.0, 400.0), "{case}");
            assert_eq!((c.points.rows(), c.points.labels().len(), c.analog.rows()), (6, 300, 24), "{case}");
            assert_eq!(c.points.labels()[299], "M299");
            for f in 0..6 {
                for i in 0..300 {
                    let p = c.points.vec3(f, i).to_array();
                    if i == HIDDEN && f % 2 == 1 {
                        assert!(p.iter().all(|x| x.is_nan()), "{case}");
                    } else {
                        assert_eq!(p, [0, 1, 2].map(|k| coordinate(f, i, k)), "{case}");
                    }
                }
            }
            // (raw − offset) × scale × general scale; the offset of unsigned numbers cancels.
            let offset = if unsigned { 0.0 } else { 16.0 };
            for (k, column) in c.analog.columns().iter().enumerate() {
                for (s, &x) in column.iter().enumerate() {
                    assert_eq!(x, (raw(s, k) - offset) * (1.0 + k as f64) * 0.5, "{case}");
                }
            }
            assert_eq!(c.markers().labels()[0], "M1", "angles are not markers");
            assert_eq!(
                (c.events[1].label.as_str(), c.events[1].context.as_str(), c.events[1].time),
                ("Foot Off", "Left", 62.5)
            );
            assert!((c.start_time() - 0.04).abs() < 1e-15);
        }
    }
}

/// Four plates, one of each type, 0.4 × 0.6 m with z down, as laboratories with z up have them.
fn plates(t: &Trial, p: &mut Vec<u8>) {
    t.integers(p, 3, "USED", &[], &[4]);
    t.integers(p, 3, "TYPE", &[4], &[1, 2, 3, 4]);
    let corners = [200.0, 300.0, 0.0, 200.0, -300.0, 0.0, -200.0, -300.0, 0.0, -200.0, 300.0, 0.0];
    t.floats(p, 3, "CORNERS", &[3, 4, 4], &corners.repeat(4));
    t.floats(p, 3, "ORIGIN", &[3, 4], &[0.0, 0.0, 0.0, 1.0, 2.0, -40.0, 120.0, 200.0, -50.0, 0.0, 0.0, 30.0]);
    let channels: Vec<u16> =
        [1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 2, 1, 4, 5, 6, 0, 0]
            .into();
    t.integers(p, 3, "CHANNEL", &[8, 4], &channels);
    let calibration: Vec<f32> =
        (0..144).map(|i| if i % 7 == 0 { 2.0 } else { (i % 5) as f32 * 0.125 }).collect();
    t.floats(p, 3, "CAL_MATRIX", &[6, 6, 4], &calibration);
}

fn with_plates() -> Vec<u8> {
    Trial {
        machine: Machine::Intel,
        is_float: true,
        points: 2,
        channels: 8,
        samples: 5,
        frames: 4,
        unsigned: false,
    }
    .bytes(plates)
}

#[test]
fn identity_force_plates_balance() {
    let c = read(&with_plates());
    let mut log = Diagnostics::new("t.c3d");
    let found = c.force_plates(&mut log);
    assert!(log.list.is_empty(), "{:?}", log.list);
    assert_eq!(found.iter().map(|p| p.kind).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(found[3].origin.to_array(), [0.0, 0.0, -30.0], "turned round");
    for plate in &found {
        let f = plate.compute_forces(&c.analog);
        for s in 0..c.analog.rows() {
            // The wrench about the middle is that of the force at the center of pressure plus the free moment.
            let arm = f.pressure[s] - plate.center();
            let M = arm.cross(f.force[s]) + f.free_moment[s];
            let size = 1.0 + f.moment[s].norm();
            assert!((M - f.moment[s]).norm() < 1e-12 * size, "type {}", plate.kind);
            // The center of pressure lies in the surface, and the free moment is normal to it.
            assert!(f.pressure[s].z.abs() < 1e-12);
            assert!(
                f.free_moment[s].x.abs() + f.free_moment[s].y.abs() < 1e-11 * size,
                "type {}",
                plate.kind
            );
        }
    }
    // Type 2 by hand, in the axes of the plate: x̂ = lab +y, ŷ = lab +x, ẑ = lab −z.
    let ch = |i: usize| c.analog.columns()[i][3];
    let f = found[1].compute_forces(&c.analog);
    assert_eq!(f.force[3].to_array(), [ch(1), ch(0), -ch(2)]);
    let M = vec3(ch(3), ch(4), ch(5)) + vec3(ch(0), ch(1), ch(2)).cross(vec3(1.0, 2.0, -40.0));
    assert!((f.pressure[3] - vec3(M.x / ch(2), -M.y / ch(2), 0.0)).norm() < 1e-12);
}

#[test]
fn analytic_ground_reactions_in_si_units() {
    let c = read(&with_plates());
    let mut log = Diagnostics::new("t.c3d");
    let t = c.ground_reactions(0.0, &mut log).unwrap();
    let vectors = c.forces(true, &mut log);
    assert_eq!(t.labels().len(), 36);
    let px = t.column("ground_force_2_px").unwrap()[3];
    assert!((px - vectors.vec3(3, 4).x * 1e-3).abs() < 1e-15);
    let mz = t.column("ground_moment_2_mz").unwrap()[3];
    assert!((mz - vectors.vec3(3, 5).z * 1e-3).abs() < 1e-12);
    let quiet = c.ground_reactions(1e9, &mut log).unwrap();
    assert!(quiet.columns().iter().flatten().all(|&x| x == 0.0), "below the threshold there is nothing");
}

#[test]
fn analytic_a_cut_file_is_an_error_and_still_read() {
    let bytes = with_plates();
    let (trial, log) = c3d::read(&bytes[..bytes.len() - 900], "t.c3d");
    assert!(log.has_errors());
    assert!(trial.is_some_and(|t| t.points.rows() < 4));
    assert!(c3d::read(b"not a c3d file", "t.c3d").0.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn conserves_life_on_damaged_files(
        wounds in prop::collection::vec((0usize..4096, any::<u8>()), 0..12),
        length in 0usize..6000,
    ) {
        let mut bytes = with_plates();
        for (at, value) in wounds {
            let n = bytes.len();
            bytes[at % n] = value;
        }
        bytes.truncate(length.max(3));
        let (trial, mut log) = c3d::read(&bytes, "t.c3d");
        if let Some(trial) = trial {
            trial.markers();
            trial.forces(true, &mut log);
            trial.ground_reactions(1.0, &mut log);
        }
    }

    #[test]
    fn conserves_life_on_any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 2..2000)) {
        bytes[0] = 2;
        bytes[1] = 0x50;
        c3d::read(&bytes, "t.c3d");
    }
}
