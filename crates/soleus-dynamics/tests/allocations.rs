//! After set-up, evaluation allocates nothing: a counting allocator says so.

use soleus_dynamics::implicit::ImplicitSystem;
use soleus_testing::{reference_test, shared};
use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::cell::Cell;
use std::path::PathBuf;

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
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as for `dealloc`.
        unsafe { SystemAllocator.realloc(p, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The models of a folder; there are some.
fn models(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let mut list: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    list.retain(|p| p.extension().is_some_and(|e| e == "osim"));
    list.sort();
    assert!(!list.is_empty(), "no model in {folder}");
    list
}

#[test]
fn identity_evaluation_allocates_nothing() {
    check(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models"));
}

#[reference_test]
fn identity_evaluation_of_reference_models_allocates_nothing() {
    check(shared!("reference/models"));
}

fn check(folder: &str) {
    for path in models(folder) {
        let bytes = std::fs::read(&path).unwrap();
        let (model, _) = soleus_io::osim::read_model(&bytes, path.to_str().unwrap());
        let system = soleus_dynamics::System::compile(&model.unwrap()).unwrap();
        let mut ws = system.workspace::<f64>();
        let mut x = system.default_state.clone();
        let controls = vec![0.1; system.num_controls];
        // The first evaluation may grow lists whose size depends on the pose.
        let _ = system.compute_motion(&x, &controls, &mut ws);
        let before = ALLOCATIONS.get();
        for i in 0..50 {
            for q in &mut x.q {
                *q += 1e-3 * f64::from(i % 7 - 3);
            }
            let _ = system.compute_motion(&x, &controls, &mut ws);
        }
        let count = ALLOCATIONS.get() - before;
        assert_eq!(count, 0, "{}: {count} allocations in 50 evaluations", path.display());

        // Jacobians and Hessian of the implicit equations.
        let implicit = ImplicitSystem::new(&system);
        let xdot = vec![0.1; implicit.num_states()];
        let lambda = vec![0.1; implicit.num_multipliers()];
        let y = vec![0.1; implicit.num_residuals()];
        let mut r = y.clone();
        let (mut jw, mut jacobian) = (implicit.jacobian_workspace(), implicit.jacobian());
        let (mut hw, mut hessian) = (implicit.hessian_workspace(), implicit.hessian());
        let mut before = 0;
        for i in 0..3 {
            if i == 1 {
                before = ALLOCATIONS.get();
            }
            implicit.compute_jacobian(&x, &xdot, &controls, &lambda, &mut ws, &mut jw, &mut r, &mut jacobian);
            implicit.compute_hessian(&x, &xdot, &controls, &lambda, &y, &mut hw, &mut hessian);
        }
        let count = ALLOCATIONS.get() - before;
        assert_eq!(count, 0, "{}: {count} allocations in 2 Jacobians and Hessians", path.display());
    }
}
