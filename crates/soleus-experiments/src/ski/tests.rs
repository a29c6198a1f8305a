//! The skier at rest, in the air and turned.

use super::landing::{self, DURATION};
use super::readings::{self, Sensors};
use super::skier::{Skier, USUAL};
use super::{perturb, whole};
use soleus_control::goal::Sensor;

/// A hinge with the spring 3 EI/L gives way at its end as a beam of length L does: F L³/(3 EI).
#[test]
fn analytic_skis_bend_like_beams() {
    let skier = Skier::new(USUAL).unwrap();
    let system = &skier.planar.base.system;
    let (ei, force) = (250.0, 10.0);
    for (part, length) in [(0, 0.95), (1, 0.75)] {
        for ski in skier.skis {
            let angle = force * length * length / (3.0 * ei);
            let mut x = system.default_state.clone();
            x.q[skier.planar.height] = 5.0;
            x.q[ski[part]] = angle;
            let mut ws = system.workspace::<f64>();
            system.compute_motion(&x, &vec![0.0; system.num_controls], &mut ws).unwrap();
            // The load F at the end has the moment F L, which the spring bears at this angle.
            let moment = -ws.mobility_load[ski[part]];
            assert!((moment - force * length).abs() < 1e-9, "{moment}");
        }
    }
}

/// The landing is one: it ends on its skis, trunk forward, and the snow carries about the weight.
#[test]
fn identity_truth_lands() {
    let skier = Skier::new(USUAL).unwrap();
    let truth = landing::truth(&skier).unwrap();
    let last = truth.states.last().unwrap();
    assert!((-0.9..-0.3).contains(&last.q[skier.planar.trunk]), "{}", last.q[skier.planar.trunk]);
    assert!(last.q[skier.planar.height] > 0.7);
    let snow = skier.snow(&truth.states);
    let normal = |k: usize| snow[0][k][1] + snow[1][k][1];
    let (n, half) = (truth.times.len(), truth.times.len() / 2);
    // cos 25° = 0.906 of the weight on average, once the body has come to rest above the skis.
    let mean = (half..n).map(normal).sum::<f64>() / (n - half) as f64 / skier.weight;
    assert!((0.6..1.2).contains(&mean), "{mean}");
    assert!(normal(0).abs() < 0.02 * skier.weight, "{}", normal(0));
}

/// Turning keeps the mass centre: a turn and back again is where it was.
#[test]
fn identity_turned_there_and_back() {
    let skier = Skier::new(USUAL).unwrap();
    let x = landing::truth(&skier).unwrap().states[0].clone();
    let turned = perturb::turned(&skier, &x, 0.2);
    assert!((turned.q[skier.planar.trunk] - x.q[skier.planar.trunk] - 0.2).abs() < 1e-15);
    let back = perturb::turned(&skier, &turned, -0.2);
    assert!(back.q.iter().zip(&x.q).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// The same seed gives a channel the same noise whichever others there are.
#[test]
fn identity_noise_belongs_to_its_channel() {
    let skier = Skier::new(USUAL).unwrap();
    let truth = landing::truth(&skier).unwrap().at(&skier, &readings::times(DURATION));
    let all = whole(&skier);
    let knee = skier.planar.legs[1][1];
    let one = Sensors { coordinates: vec![knee], ..all.clone() };
    let (a, b) = (all.read(&skier, &truth, 3).unwrap(), one.read(&skier, &truth, 3).unwrap());
    let of_knee = a.iter().find(|r| r.sensor == Sensor::State(knee)).unwrap();
    assert_eq!(of_knee.readings, b[0].readings);
}
