//! After set-up, a frame of inverse kinematics and an instant of inverse dynamics or static optimization allocate nothing.

use soleus_dynamics::System;
use soleus_math::norm::largest;
use soleus_math::vec3;
use soleus_model::Model;
use soleus_tools::inverse_dynamics::Solver;
use soleus_tools::inverse_kinematics::{InverseKinematics, Settings, Tasks};
use soleus_tools::static_optimization::{self, LoadSharing};
use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread: those of the test harness beside it do not count.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator; only a counter is kept.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises about `layout` hold for this call too.
        unsafe { SystemAllocator.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: `p` came from `alloc` above with the same layout.
        unsafe { SystemAllocator.dealloc(p, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The model that ships, with a marker on every body.
fn leg() -> Model {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
    let mut model = soleus_io::osim::read_model(&std::fs::read(path).unwrap(), "leg_swing.osim").0.unwrap();
    for (i, body) in model.bodies.iter().enumerate() {
        for (k, location) in [vec3(0.05, -0.1, 0.0), vec3(-0.02, 0.03, 0.06)].into_iter().enumerate() {
            let name = format!("m{i}_{k}");
            let path = format!("/markerset/{name}");
            model.markers.push(soleus_model::body::Marker {
                name,
                path,
                frame: body.frame,
                location,
                fixed: false,
            });
        }
    }
    model
}

#[test]
fn analytic_frames_allocate_nothing() {
    let model = leg();
    let system = System::compile(&model).unwrap();
    let names: Vec<String> = model.markers.iter().map(|m| m.name.clone()).collect();
    let mut ik =
        InverseKinematics::new(&model, &system, &names, &Tasks::default(), Settings::default()).unwrap();
    let mut id = Solver::new(&system);
    let mut so = LoadSharing::new(&model, &system, &static_optimization::Settings::default()).unwrap();
    so.solve(&system.default_state, &id.udot).unwrap();
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let mut places = vec![vec3(0.0, 0.0, 0.0); names.len()];
    let (mut worst, mut exchanges): (f64, usize) = (0.0, 0);
    let before = ALLOCATIONS.get();
    for frame in 0..20 {
        for (i, q) in x.q.iter_mut().enumerate() {
            *q += 0.01 * ((frame * (i + 1)) as f64).sin();
        }
        system.compute_kinematics(&x, &mut ws);
        for (p, m) in places.iter_mut().zip(&system.markers) {
            *p = ws.kin.X_GB[m.body] * m.p_BS;
        }
        // One frame in which two labels are exchanged, so that it is solved again.
        if frame == 12 {
            places.swap(5, 8);
        }
        worst = largest([worst, ik.solve_frame(0.01 * frame as f64, &places).max]);
        exchanges += ik.exchanged().len();
        id.state.q.copy_from_slice(&x.q);
        id.compute(&system);
        // Whether or not the muscles can do it.
        so.solve(&x, &id.udot).unwrap();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(worst < 1e-8 && exchanges == 1, "{worst}, {exchanges}");
}
