//! How much memory reading a C1 file takes, counted allocation by allocation: hostile files must not take much more than their
//! own size, and no copy of a large one may outlive its use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::{engine::general_purpose::STANDARD, Engine};
use cuzk::c1::{read, sample, write, Format, ReadOptions, SampleOptions, C1};
use cuzk::circuit::SealProof;
use cuzk::error::{Fault, Result};

/// The system's allocator, with a count of the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's own, with the arguments and the result unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller keeps the contract of this function, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller keeps the contract of this function; the pointer is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;

/// Whoever counts must be the only one to allocate: each test holds this from its first line.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a file; the result, and the most memory in use meanwhile beyond what was in use before, the file's own bytes included.
fn measured<'a>(bytes: impl Into<Cow<'a, [u8]>>) -> (Result<C1>, usize) {
    let bytes = bytes.into();
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let length = bytes.len();
    let result = read("x", bytes, &ReadOptions::default());
    (result, PEAK.load(Ordering::Relaxed) - before + length)
}

#[track_caller]
fn refused_cheaply(bytes: Vec<u8>, part: &str) {
    let length = bytes.len();
    let (result, peak) = measured(bytes);
    let e = result.err().unwrap_or_else(|| panic!("read, expected {part}"));
    assert_eq!(e.fault(), Fault::Input);
    assert!(e.to_string().contains(part), "{e}");
    assert!(e.to_string().len() < 1000, "a message of {} bytes", e.to_string().len());
    assert!(peak < length + MIB, "{} bytes beyond a file of {length}", peak - length);
}

#[test]
fn hostile_files_take_no_more_than_their_own_size() {
    let _alone = alone();
    const MANY: usize = 2 * MIB;
    let json = |proofs: String| format!(r#"{{"vanilla_proofs":{{"StackedDrg2KiBV1":[{proofs}"#).into_bytes();
    refused_cheaply(json("[],".repeat(MANY)), "StackedDrg2KiBV1[126]: a list of more than 126 elements");
    refused_cheaply(format!(r#"{{"registered_proof":"{}"}}"#, "x".repeat(MANY)).into_bytes(), "byte 20: a text of");
    refused_cheaply(format!(r#"{{"seed":[],"{}":1}}"#, "x".repeat(MANY)).into_bytes(), "byte 11: a text of");

    // As bincode: partitions without challenges, and the same claimed only.
    let mut empty = vec![0; 8 * MANY];
    empty[..8].copy_from_slice(&(200u64).to_le_bytes());
    refused_cheaply(empty.clone(), "a list of 200 elements, expected at most 126");
    empty[..8].copy_from_slice(&(126u64).to_le_bytes());
    empty[8..16].copy_from_slice(&(MANY as u64).to_le_bytes());
    refused_cheaply(empty, "expected at most 18");
}

#[test]
fn no_copy_of_a_wrapper_outlives_its_use() {
    let _alone = alone();
    let c1 = sample(SealProof::StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
    // A C1 output made large by white space alone.
    let inner = [b"{", " ".repeat(24 * MIB).as_bytes(), &write(&c1, Format::Json).unwrap()[1..]].concat();
    let wrapper = format!(r#"{{"SectorNum":1,"Phase1Out":"{}","SectorSize":2048}}"#, STANDARD.encode(&inner));
    let (text, decoded) = (wrapper.len(), inner.len());
    drop(inner);

    let (result, peak) = measured(wrapper.as_bytes());
    assert_eq!(result.unwrap().statement, c1.statement);
    assert!(peak < text + decoded + 2 * MIB, "{peak} bytes for {text} of text and {decoded} decoded");
}

#[test]
fn a_file_handed_over_is_gone_while_its_content_is_parsed() {
    let _alone = alone();
    let c1 = sample(SealProof::StackedDrg32GiBV1_1, &SampleOptions::default()).unwrap();
    let binary = write(&c1, Format::Bincode).unwrap().len();
    let wrapper = write(&c1, Format::Wrapper).unwrap();
    drop(c1);
    let kept = measured(&wrapper).1;
    let handed_over = measured(wrapper).1;
    assert!(handed_over + binary / 2 < kept, "{handed_over} bytes against {kept}; {binary} as bincode");
}

#[test]
fn a_large_file_takes_its_own_size_and_its_proofs() {
    let _alone = alone();
    let c1 = sample(SealProof::StackedDrg512MiBV1_1, &SampleOptions::default()).unwrap();
    let small = write(&c1, Format::Json).unwrap();
    let binary = write(&c1, Format::Bincode).unwrap().len();
    let bytes = [b"{", " ".repeat(16 * MIB).as_bytes(), &small[1..]].concat();
    let length = bytes.len();
    let (result, peak) = measured(&bytes);
    assert_eq!(result.unwrap().statement, c1.statement);
    // Lists grow by doubling, and each proof is once kept in either form.
    assert!(peak < length + 6 * binary + MIB, "{peak} bytes for a file of {length}, {binary} as bincode");
}
