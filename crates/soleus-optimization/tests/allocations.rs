//! Iterations of the interior-point method work in memory they have: counted by an allocator that counts.

mod common;

use common::chain::{FastChain, swing_up};
use soleus_optimization::nlp::{Options, Status, solve};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

struct Counting;

thread_local! {
    /// Allocations of this thread: those of the test harness beside it do not count.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn conserves_memory_in_iterations() {
    let mut problem = FastChain::new(swing_up(2, 41, 2.0, 15.0));
    let mut counts = Vec::with_capacity(1000);
    let s = solve(&mut problem, &Options::default(), None, &mut |_| {
        counts.push(COUNT.get());
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!((s.status, s.counts.restoration_iterations), (Status::Solved, 0));
    assert!(counts.len() > 8);
    // The first factorisations find out how large fronts become; the last iterations may keep an acceptable point.
    let middle = &counts[3..counts.len() - 2];
    assert_eq!(middle.first(), middle.last(), "{counts:?}");
}
