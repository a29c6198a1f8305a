//! The stored problem from random starts.

use super::problem::{Leg, WalkingProblem};
use crate::experiment::report::Report;
use crate::failure::Failure;
use crate::walk::Teller;
use soleus_control::Trajectory;

/// Numbers from a seed, the same everywhere (Steele, Lea and Flood 2014: SplitMix64).
struct Random(u64);

impl Random {
    /// Uniform in −1 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = (z ^ (z >> 31)) >> 11;
        2.0 * bits as f64 / (1u64 << 53) as f64 - 1.0
    }
}

/// Straight lines with a random swing (5° to 40°), and at every point every angle off by up to 15°, the height by up to
/// 5 cm, every activation between 0 and 0.5.
fn start(p: &WalkingProblem, seed: u64) -> Trajectory {
    let mut random = Random(seed);
    let swing = (22.5 + 17.5 * random.next()).to_radians();
    let mut t = p.start(swing);
    let n = p.walker.base.num_coordinates();
    let names = t.states.names.clone();
    for row in &mut t.states.rows {
        for i in 0..row.len() {
            let noise = random.next();
            if i == p.walker.height {
                row[i] += 0.05 * noise;
            } else if i < n && i != p.walker.forward {
                row[i] += 15f64.to_radians() * noise;
            } else if names[i].ends_with("/activation") {
                row[i] = 0.25 + 0.25 * noise;
            }
        }
    }
    t
}

/// Solves from `count` seeds: how many converge, and to which cost.
pub fn check(count: u32, report: &mut Report) -> Result<(), Failure> {
    report.heading("Stored able problem from random starts");
    let p = WalkingProblem::stored(Leg::Able)?;
    let (mut costs, mut teller) = (Vec::new(), Teller::new());
    for seed in 1..=u64::from(count) {
        let o = p.solve_from(&start(&p, seed), &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        if super::holds(&o) {
            costs.push(o.solution.objective);
        }
        report.note(&format!("seed {seed}"), &super::describe(&o, teller.seconds()), "");
    }
    costs.sort_by(f64::total_cmp);
    let best = costs.iter().filter(|&&c| c <= 1.001 * 0.359_714).count();
    let range = costs.first().zip(costs.last()).map_or(String::new(), |(a, b)| format!(", {a:.4} to {b:.4}"));
    report.row(
        &format!("{count} random starts"),
        &format!("{} converge{range}; {best} to the stored cost or below", costs.len()),
        "90 % converge",
        10 * costs.len() >= 9 * count as usize,
    );
    Ok(())
}
