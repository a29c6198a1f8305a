//! After the start, steps allocate nothing: a counting allocator says so.

mod common;

use common::passive;
use soleus_simulation::linear::SparseLu;
use soleus_simulation::system::Constant;
use soleus_simulation::{
    ExplicitRungeKutta, ImplicitMidpoint, ImplicitSystemOde, Integrator, RadauIIA5, RosenbrockEuler,
    SemiExplicitEuler, StepOptions, SystemOde,
};
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

fn count<P>(name: &str, i: &mut dyn Integrator<P>, p: &mut P, x0: &[f64]) {
    i.start(p, 0.0, x0).unwrap();
    for _ in 0..5 {
        i.step(p, 10.0).unwrap();
    }
    let before = ALLOCATIONS.get();
    for _ in 0..20 {
        i.step(p, 10.0).unwrap();
    }
    let found = ALLOCATIONS.get() - before;
    assert_eq!(found, 0, "{name} allocated {found} times in 20 steps");
}

/// One test in this file: the counter is shared by the whole process.
#[test]
fn identity_steps_allocate_nothing() {
    let (_, system) = passive();
    let mut ode = SystemOde::new(&system, Constant(vec![]));
    let x0 = SystemOde::<Constant>::vector(&system.default_state);
    let norm = ode.error_norm();
    let o = StepOptions::default;
    count("Merson", &mut ExplicitRungeKutta::merson(norm.clone(), o()), &mut ode, &x0);
    count("Dormand–Prince", &mut ExplicitRungeKutta::dormand_prince(norm.clone(), o()), &mut ode, &x0);
    count("semi-explicit Euler", &mut SemiExplicitEuler::new(norm.dim(), 1e-3), &mut ode, &x0);
    let mut ode = ImplicitSystemOde::new(&system, Constant(vec![]));
    let y0 = ode.vector(&system.default_state);
    let norm = ode.error_norm();
    let n = norm.dim();
    count(
        "Rosenbrock",
        &mut RosenbrockEuler::with_solver(norm.clone(), 1e-3, SparseLu::new(n)),
        &mut ode,
        &y0,
    );
    count(
        "midpoint",
        &mut ImplicitMidpoint::with_solver(norm.clone(), 1e-3, SparseLu::new(n)),
        &mut ode,
        &y0,
    );
    let mut radau = RadauIIA5::with_solvers(norm.clone(), o(), SparseLu::new(n), SparseLu::new(n));
    count("Radau", &mut radau, &mut ode, &y0);
}
