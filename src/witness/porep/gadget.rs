//! What a generator's time goes into.

use std::time::{Duration, Instant};

/// A part of the circuit, by what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gadget {
    /// Labels of the challenged nodes, recomputed: bits of the parents, SHA-256, packing.
    Labels,
    /// The path of the data leaf in tree D.
    TreeD,
    /// Hashes of the columns.
    Columns,
    /// Paths in the trees C and R.
    Paths,
    /// Everything else.
    Rest,
}

impl Gadget {
    pub const ALL: [Self; 5] = [Self::Labels, Self::TreeD, Self::Columns, Self::Paths, Self::Rest];
}

/// Time and aux variables of each gadget. Time is that of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GadgetTimes([(Duration, u64); Gadget::ALL.len()]);

impl GadgetTimes {
    pub fn time(&self, gadget: Gadget) -> Duration {
        self.0[gadget as usize].0
    }

    pub fn variables(&self, gadget: Gadget) -> u64 {
        self.0[gadget as usize].1
    }

    fn add(&mut self, gadget: Gadget, time: Duration, variables: u64) {
        let (sum, count) = &mut self.0[gadget as usize];
        (*sum, *count) = (*sum + time, *count + variables);
    }

    /// Adds what another part took.
    pub(super) fn merge(&mut self, other: &Self) {
        Gadget::ALL.into_iter().for_each(|gadget| self.add(gadget, other.time(gadget), other.variables(gadget)));
    }
}

/// Runs from one gadget to the next.
pub(super) struct Stopwatch {
    times: GadgetTimes,
    gadget: Gadget,
    since: Instant,
    /// Variables when the gadget began.
    position: usize,
}

impl Stopwatch {
    /// Begins with [`Gadget::Rest`].
    pub fn start(position: usize) -> Self {
        Self { times: GadgetTimes::default(), gadget: Gadget::Rest, since: Instant::now(), position }
    }

    pub fn switch(&mut self, gadget: Gadget, position: usize) {
        let now = Instant::now();
        self.times.add(self.gadget, now - self.since, (position - self.position) as u64);
        (self.gadget, self.since, self.position) = (gadget, now, position);
    }

    pub fn stop(mut self, position: usize) -> GadgetTimes {
        self.switch(Gadget::Rest, position);
        self.times
    }
}
