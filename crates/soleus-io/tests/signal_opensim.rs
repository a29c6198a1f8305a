//! Filters against motions that OpenSim 4.6 filtered.

use crate::common::reference;
use soleus_io::table;
use soleus_math::Table;
use soleus_math::signal::{lowpass_butterworth, lowpass_fir, padded};
use soleus_testing::reference_test;
use std::path::Path;

fn read(path: &Path) -> Table {
    let bytes = std::fs::read(path).unwrap();
    let (t, log) = table::read(&bytes, &path.to_string_lossy());
    assert!(!log.has_errors(), "{:?}", log.list);
    t.unwrap()
}

/// The largest difference of any number, times among them.
fn difference(a: &Table, b: &Table) -> f64 {
    assert_eq!((a.rows(), a.labels()), (b.rows(), b.labels()));
    let columns = a.columns().iter().zip(b.columns()).flat_map(|(a, b)| a.iter().zip(b));
    let times = a.times().iter().zip(b.times());
    columns.chain(times).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[reference_test]
fn opensim_val_filtered_motion() {
    let folder = reference();
    let motion = read(&folder.join("pipelines/Gait2354_Simbody/reference/subject01_walk1_ik.mot"));
    // Input and output are printed with 8 decimals: 5e-9 each. Padding doubles the error of the
    // end points, 1.5e-8. Filters add up weighted errors of their input with |weights| that sum to less than 2.
    let half = padded(&motion, motion.rows() / 2).unwrap();
    let d = difference(&half, &read(&folder.join("curves/ik_padded.sto")));
    println!("padded: {d:e}");
    assert!(d < 2e-8, "{d:e}");
    let iir = lowpass_butterworth(&half, 6.0).unwrap();
    let d = difference(&iir, &read(&folder.join("curves/ik_padded_lowpassIIR_6Hz.sto")));
    println!("Butterworth: {d:e}");
    assert!(d < 4e-8, "{d:e}");
    let fir = lowpass_fir(&padded(&motion, 60).unwrap(), 50, 6.0).unwrap();
    let d = difference(&fir, &read(&folder.join("curves/ik_pad60_lowpassFIR50_6Hz.sto")));
    println!("FIR: {d:e}");
    assert!(d < 4e-8, "{d:e}");
}
