//! A global allocator that counts while it is asked to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// The system's allocator, with counters that run between [`Counter::start`] and its drop. At other times each call costs one
/// load of a flag that nobody writes.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static REALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Bytes of blocks that live, less those of blocks that lived at the start; and the most of that.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// What was allocated, by all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Blocks that were asked for.
    pub allocations: u64,
    /// Blocks that were asked to change their size.
    pub reallocations: u64,
    /// Bytes of the new blocks, and by how much others grew.
    pub bytes: u64,
    /// Most bytes of living blocks above what there was at the start.
    pub peak_bytes: u64,
}

fn note(count: &AtomicU64, bytes: usize) {
    count.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
    grow(bytes as i64);
}

/// By how much the living blocks grow, or shrink.
fn grow(bytes: i64) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every call goes to `System` with the arguments it came with, and the answer back as it is, so `System`'s own keeping of
// the contract is ours. The counters are atomics: counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            note(&ALLOCATIONS, layout.size());
        }
        // SAFETY: the caller's promise on `layout`, passed on.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            note(&ALLOCATIONS, layout.size());
        }
        // SAFETY: the caller's promise on `layout`, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            note(&REALLOCATIONS, size.saturating_sub(layout.size()));
            grow(-(layout.size().saturating_sub(size) as i64));
        }
        // SAFETY: the caller's promise that `block` came from here (that is, from `System`) with `layout`, and on `size`.
        unsafe { System.realloc(block, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            grow(-(layout.size() as i64));
        }
        // SAFETY: the caller's promise that `block` came from here (that is, from `System`) with `layout`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Counting, until dropped. One at a time: the counters are the process's.
pub struct Counter(());

impl Counter {
    /// Sets the counters to zero and lets them run. `None` where the process has another allocator.
    pub fn start() -> Option<Self> {
        for count in [&ALLOCATIONS, &REALLOCATIONS, &BYTES] {
            count.store(0, Relaxed);
        }
        ON.store(true, Relaxed);
        let counter = Self(());
        // A block that the allocator must see, if it is the one that is asked.
        drop(std::hint::black_box(Box::new(0u8)));
        let installed = ALLOCATIONS.swap(0, Relaxed) > 0;
        BYTES.store(0, Relaxed);
        LIVE.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        installed.then_some(counter)
    }

    /// What was allocated since the start.
    pub fn so_far(&self) -> Allocations {
        Allocations {
            allocations: ALLOCATIONS.load(Relaxed),
            reallocations: REALLOCATIONS.load(Relaxed),
            bytes: BYTES.load(Relaxed),
            peak_bytes: PEAK.load(Relaxed).max(0) as u64,
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        ON.store(false, Relaxed);
    }
}
