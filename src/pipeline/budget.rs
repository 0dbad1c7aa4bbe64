//! The memory budget: every stage reserves what it needs before it starts, and gives it back by dropping it.
//!
//! Requests are served strictly in the order of files and partitions: an older file never waits for memory that a younger
//! one was given meanwhile. What is waited for always comes back: partitions in flight hold all they need until their
//! device is done, and a file that is read ahead leaves room for one more partition (see `keep`).

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::stop::Stop;

/// How often a waiting stage looks whether it should stop.
const POLL: Duration = Duration::from_millis(50);

/// Whose request: lower ones are served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    pub job: usize,
    /// None for the file itself, before its first partition.
    pub partition: Option<usize>,
}

/// Bytes to share out between stages.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    peak: u64,
    waiting: Vec<Order>,
}

/// Bytes held; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, state: Mutex::default(), changed: Condvar::new() })
    }

    /// All bytes there are to share out.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Most bytes that were ever held at once.
    pub fn peak(&self) -> u64 {
        self.state().peak
    }

    #[cfg(test)]
    fn used(&self) -> u64 {
        self.state().used
    }

    /// Waits until `bytes` are free and `keep` would be left, and no older request waits. None when stopped, or when so
    /// much can never be free: callers compare with [`Self::total`] first.
    pub fn reserve(self: &Arc<Self>, bytes: u64, keep: u64, order: Order, stop: &Stop) -> Option<Reservation> {
        let wanted = bytes.saturating_add(keep);
        if wanted > self.total {
            return None;
        }
        let mut state = self.state();
        state.waiting.push(order);
        let granted = loop {
            if stop.is_requested() {
                break false;
            }
            if state.waiting.iter().all(|o| *o >= order) && state.used.saturating_add(wanted) <= self.total {
                break true;
            }
            state = self.changed.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(i) = state.waiting.iter().position(|o| *o == order) {
            state.waiting.swap_remove(i);
        }
        if granted {
            state.used += bytes;
            state.peak = state.peak.max(state.used);
        }
        drop(state);
        self.changed.notify_all();
        granted.then(|| Reservation { budget: self.clone(), bytes })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, bytes: u64) {
        self.state().used -= bytes;
        self.changed.notify_all();
    }
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives back all but `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let excess = self.bytes.saturating_sub(bytes);
        self.bytes -= excess;
        self.budget.give_back(excess);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    const fn order(job: usize) -> Order {
        Order { job, partition: Some(0) }
    }

    #[test]
    fn reservations_are_counted_and_given_back() {
        let (budget, stop) = (Budget::new(100), Stop::new());
        let mut first = budget.reserve(60, 0, order(0), &stop).unwrap();
        let second = budget.reserve(40, 0, order(1), &stop).unwrap();
        assert_eq!((budget.used(), budget.peak()), (100, 100));
        first.shrink_to(10);
        assert_eq!((budget.used(), first.bytes()), (50, 10));
        first.shrink_to(20);
        assert_eq!(first.bytes(), 10);
        drop((first, second));
        assert_eq!((budget.used(), budget.peak()), (0, 100));
        assert!(budget.reserve(101, 0, order(0), &stop).is_none());
        assert!(budget.reserve(90, 20, order(0), &stop).is_none());
    }

    #[test]
    fn the_older_request_is_served_first_though_the_younger_would_fit() {
        let (budget, stop) = (Budget::new(100), Stop::new());
        let held = budget.reserve(70, 0, order(0), &stop).unwrap();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for (job, bytes) in [(1, 50), (2, 20)] {
                let (sender, mine, stop) = (sender.clone(), budget.clone(), &stop);
                scope.spawn(move || {
                    let reservation = mine.reserve(bytes, 0, order(job), stop);
                    sender.send(job).unwrap();
                    drop(reservation);
                });
                while !budget.state().waiting.contains(&order(job)) {
                    thread::yield_now();
                }
            }
            assert!(receiver.recv_timeout(Duration::from_millis(120)).is_err(), "20 fit, but 50 came first");
            drop(held);
            // Now both fit.
            let mut served = [receiver.recv().unwrap(), receiver.recv().unwrap()];
            served.sort_unstable();
            assert_eq!(served, [1, 2]);
        });
    }

    #[test]
    fn whoever_waits_hears_of_a_stop() {
        let (budget, stop) = (Budget::new(10), Stop::new());
        let _held = budget.reserve(10, 0, order(0), &stop).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.reserve(1, 0, order(1), &stop).is_none());
            stop.request();
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn reading_ahead_leaves_room() {
        let (budget, stop) = (Budget::new(100), Stop::new());
        let held = budget.reserve(50, 0, order(0), &stop).unwrap();
        thread::scope(|scope| {
            let ahead = scope.spawn(|| budget.reserve(20, 40, order(1), &stop));
            while budget.state().waiting.is_empty() {
                thread::yield_now();
            }
            // 50 and 20 fit, but then no partition of 40 would.
            assert_eq!(budget.used(), 50);
            drop(held);
            assert_eq!(ahead.join().unwrap().unwrap().bytes(), 20);
        });
    }
}
