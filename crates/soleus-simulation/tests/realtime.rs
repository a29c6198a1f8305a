//! The real-time loop against a clock that is made up.

use crate::common::Oscillator;
use soleus_simulation::SemiExplicitEuler;
use soleus_simulation::realtime::RealTimeLoop;
use std::cell::Cell;

/// Every tenth step takes three periods: it and those that queue up behind it are late, and nothing is lost.
#[test]
fn analytic_missed_deadlines_are_counted() {
    let now = Cell::new(5.0);
    let period = 0.01;
    let mut p = Oscillator { omega: 3.0 };
    let mut method = SemiExplicitEuler::new(2, period);
    let mut run = RealTimeLoop::start(&mut method, &mut p, (0.0, &[1.0, 0.0]), period, now.get()).unwrap();
    let mut calls = 0;
    let mut late = 0;
    for i in 0..100 {
        let takes = if i % 10 == 9 { 3.0 * period } else { 0.25 * period };
        let mut readings = 0;
        let met = run
            .tick(
                &mut |t, x, p| {
                    assert!((t - f64::from(i) * period).abs() < 1e-12);
                    assert!(x.len() == 2);
                    // Input reaches the problem before the step.
                    p.omega = 3.0 + t;
                    calls += 1;
                },
                &mut || {
                    readings += 1;
                    if readings == 2 {
                        now.set(now.get() + takes);
                    }
                    now.get()
                },
            )
            .unwrap();
        late += usize::from(!met);
        // Sleep until the next period.
        now.set(now.get().max(run.next_begin()));
    }
    let pace = run.pace();
    assert_eq!((calls, pace.steps, pace.work.evaluations), (100, 100, 101));
    assert_eq!(pace.missed, late);
    // Lateness 2, then 1.25, 0.5 and −0.25 periods: three steps late each time, the last time only the first.
    assert_eq!(late, 9 * 3 + 1);
    assert!((pace.longest - 3.0 * period).abs() < 1e-9 && (pace.latest - 2.0 * period).abs() < 1e-9);
    assert!((run.state().0 - 1.0).abs() < 1e-12);
}
