//! How much memory a case takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Beyond this nothing is given any more, and the program ends: the machine is worth more than the case, which lies on disk.
const MOST: usize = 6 << 30;

/// The system's allocator, counted. A program that wants memory checked makes it its `#[global_allocator]`.
pub struct Counting;

// SAFETY: every request is passed on to the system's allocator with the same arguments, or refused with a null pointer.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; `pointer` came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !take(size - layout.size()) {
            return std::ptr::null_mut();
        }
        if size < layout.size() {
            NOW.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Counts a request; false if it is refused.
fn take(size: usize) -> bool {
    let now = NOW.load(Relaxed).saturating_add(size);
    if now > MOST {
        return false;
    }
    NOW.fetch_add(size, Relaxed);
    PEAK.fetch_max(now, Relaxed);
    true
}

/// Forgets the peak; what is in use now.
pub(crate) fn start() -> usize {
    let now = NOW.load(Relaxed);
    PEAK.store(now, Relaxed);
    now
}

/// The largest use since `start`, beyond what was in use then.
pub(crate) fn peak_since(start: usize) -> usize {
    PEAK.load(Relaxed).saturating_sub(start)
}
