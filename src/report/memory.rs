//! Memory of this process: anonymous pages and mapped file pages apart, since parameter pages are the page cache's.

use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The kernel keeps a peak of the whole resident set, not of its anonymous part: that one is sampled.
const INTERVAL: Duration = Duration::from_millis(20);

/// Resident memory in bytes; `None` where the system does not tell (not Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Anonymous pages: heap and stacks (`RssAnon`).
    pub anonymous: Option<u64>,
    /// Mapped file pages, parameters above all (`RssFile`).
    pub mapped: Option<u64>,
    /// The kernel's own peak of the whole resident set (`VmHWM`).
    pub resident_peak: Option<u64>,
}

impl Memory {
    /// This process, now.
    pub fn now() -> Self {
        std::fs::read_to_string("/proc/self/status").map_or_else(|_| Self::default(), |status| Self::parse(&status))
    }

    fn parse(status: &str) -> Self {
        let field = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
        };
        Self { anonymous: field("RssAnon"), mapped: field("RssFile"), resident_peak: field("VmHWM") }
    }

    /// The larger of each figure; a known one beats an unknown one.
    fn max(self, other: Self) -> Self {
        // `None` orders below every `Some`.
        Self {
            anonymous: self.anonymous.max(other.anonymous),
            mapped: self.mapped.max(other.mapped),
            resident_peak: self.resident_peak.max(other.resident_peak),
        }
    }
}

/// Samples this process's memory each 20 ms until dropped. A peak shorter than that can be missed.
pub struct MemorySampler {
    peak: Arc<Mutex<Memory>>,
    /// Dropping the sender wakes and ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MemorySampler {
    /// Starts the sampling thread; where none can be started, only the moments of [`MemorySampler::peak`] are seen.
    pub fn start() -> Self {
        let peak = Arc::new(Mutex::new(Memory::now()));
        let (stop, stopped) = channel::<()>();
        let shared = peak.clone();
        let sample = move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                raise(&shared);
            }
        };
        let thread = std::thread::Builder::new().name("memory sampler".into()).spawn(sample).ok();
        Self { peak, stop: Some(stop), thread }
    }

    /// The peaks since the start.
    pub fn peak(&self) -> Memory {
        raise(&self.peak)
    }
}

impl Drop for MemorySampler {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that could panic; a panic there would have lost samples, not results.
            let _ = thread.join();
        }
    }
}

fn raise(peak: &Mutex<Memory>) -> Memory {
    let now = Memory::now();
    let mut peak = peak.lock().unwrap_or_else(PoisonError::into_inner);
    *peak = peak.max(now);
    *peak
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_file_is_read_by_name() {
        let status = "Name:\tcuzk\nVmHWM:\t  2048 kB\nRssAnon:\t     100 kB\nRssFile:\t       7 kB\nRssShmem:\t 0 kB\n";
        let expected = Memory { anonymous: Some(102_400), mapped: Some(7_168), resident_peak: Some(2 << 20) };
        assert_eq!(Memory::parse(status), expected);
        assert_eq!(Memory::parse("VmHWM:\t lots\n"), Memory::default());
        assert_eq!(Memory::parse("RssAnonymous:\t 1 kB\n"), Memory::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_passing_allocation_is_seen_as_anonymous_memory() {
        const SIZE: usize = 64 << 20;
        let sampler = MemorySampler::start();
        let block = std::hint::black_box(vec![1u8; SIZE]);
        // What was seen before the block does not count: other tests allocate too.
        *sampler.peak.lock().unwrap() = Memory::default();
        let seen = || sampler.peak.lock().unwrap().anonymous >= Some(SIZE as u64);
        let start = std::time::Instant::now();
        while !seen() {
            assert!(start.elapsed() < Duration::from_secs(60), "no sample within a minute");
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(std::hint::black_box(block));
        assert!(sampler.peak().anonymous >= Some(SIZE as u64));
    }

    #[test]
    fn dropping_the_sampler_ends_its_thread_at_once() {
        let sampler = MemorySampler::start();
        let shared = Arc::downgrade(&sampler.peak);
        drop(sampler);
        assert!(shared.upgrade().is_none(), "the thread still holds the peak");
    }
}
