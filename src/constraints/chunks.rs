//! Repetition in the stream of rows, found in one pass: cuts that depend on content alone, equal chunks stored once, and the
//! same again for chunks of chunks.
//!
//! A row enters as its number and the variables allocated since the row before. A cut falls where a hash of the last four
//! rows says so; equal stretches of a circuit are therefore cut alike, whatever lies before them. The step into a chunk
//! belongs to its place, not to its content, or equal chunks would differ.

use super::intern::{mix, Interner};
use super::recorder::Variables;
use super::tables::Instance;

/// Rows of a chunk: at least, about (more where rows repeat), and at most.
const CHUNK: [usize; 3] = [8, 32, 256];
/// Chunks of a superchunk.
const SUPERCHUNK: [usize; 3] = [4, 16, 128];

/// A number and the step to it in one word: number in the low 32 bits, then 20 of aux variables, then 12 of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub number: u32,
    pub step: Variables,
}

impl Symbol {
    const MAX_STEP: Variables = Variables { aux: (1 << 20) - 1, inputs: (1 << 12) - 1 };

    fn fits(step: Variables) -> bool {
        step.aux <= Self::MAX_STEP.aux && step.inputs <= Self::MAX_STEP.inputs
    }

    fn pack(self) -> u64 {
        u64::from(self.number) | (self.step.aux as u64) << 32 | (self.step.inputs as u64) << 52
    }

    pub fn unpack(word: u64) -> Self {
        let step = Variables { aux: (word >> 32) as usize & Self::MAX_STEP.aux, inputs: (word >> 52) as usize };
        Self { number: word as u32, step }
    }
}

fn difference(later: Variables, earlier: Variables) -> Variables {
    Variables { inputs: later.inputs - earlier.inputs, aux: later.aux - earlier.aux }
}

/// Cuts the stream.
pub(super) struct Chunker {
    /// Distinct chunks, a [`Symbol`] per row.
    pub chunks: Interner,
    /// Distinct superchunks, a [`Symbol`] per chunk.
    pub superchunks: Interner,
    pub instances: Vec<Instance>,
    /// The chunk and the superchunk being gathered.
    chunk: Vec<u64>,
    superchunk: Vec<u64>,
    /// Hash of the last four rows: each moves up by 16 bits with every row after it.
    hash: u64,
    rows: usize,
    /// Variables at the last row.
    last: Variables,
    /// Step into the chunk being gathered.
    lead: Variables,
    /// Where the superchunk being gathered begins.
    start: Instance,
}

impl Chunker {
    pub fn new() -> Self {
        Self {
            chunks: Interner::new(),
            superchunks: Interner::new(),
            instances: Vec::new(),
            chunk: Vec::new(),
            superchunk: Vec::new(),
            hash: 0,
            rows: 0,
            last: Variables::default(),
            lead: Variables::default(),
            start: Instance::default(),
        }
    }

    /// The next row. Numbers, rows and variables fit 32 bits.
    pub fn row(&mut self, number: u32, variables: Variables) {
        let step = difference(variables, self.last);
        if !Symbol::fits(step) {
            // Steps into chunks may be of any size.
            self.cut();
        }
        if self.chunk.is_empty() {
            self.begin(step, variables);
            self.chunk.push(Symbol { number, step: Variables::default() }.pack());
        } else {
            self.chunk.push(Symbol { number, step }.pack());
        }
        self.rows += 1;
        self.last = variables;
        let seen = mix(u64::from(number), mix(step.aux as u64, step.inputs as u64));
        self.hash = (self.hash << 16).wrapping_add(seen);
        let [least, about, most] = CHUNK;
        let says = self.hash >> (64 - about.ilog2()) == 0;
        if self.chunk.len() >= most || says && self.chunk.len() >= least {
            self.cut();
        }
    }

    /// A chunk begins; with it, perhaps, a superchunk.
    fn begin(&mut self, step: Variables, variables: Variables) {
        self.lead = step;
        if !Symbol::fits(step) {
            self.cut_superchunk();
        }
        if self.superchunk.is_empty() {
            let (aux, inputs) = (variables.aux as u32, variables.inputs as u32);
            self.start = Instance { superchunk: 0, row: self.rows as u32, aux, inputs };
            self.lead = Variables::default();
        }
    }

    fn cut(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        let number = self.chunks.intern(&self.chunk);
        self.chunk.clear();
        self.superchunk.push(Symbol { number, step: self.lead }.pack());
        let [least, about, most] = SUPERCHUNK;
        let says = mix(u64::from(number), 1).is_multiple_of(about as u64);
        if self.superchunk.len() >= most || says && self.superchunk.len() >= least {
            self.cut_superchunk();
        }
    }

    fn cut_superchunk(&mut self) {
        if self.superchunk.is_empty() {
            return;
        }
        let superchunk = self.superchunks.intern(&self.superchunk);
        self.superchunk.clear();
        self.instances.push(Instance { superchunk, ..self.start });
    }

    /// After the last row.
    pub fn finish(&mut self) {
        self.cut();
        self.cut_superchunk();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that chunks, superchunks and instances stand for.
    fn unrolled(chunker: &Chunker) -> Vec<(u32, Variables)> {
        let mut rows = Vec::new();
        for instance in &chunker.instances {
            assert_eq!(instance.row as usize, rows.len());
            let mut at = Variables { aux: instance.aux as usize, inputs: instance.inputs as usize };
            for word in chunker.superchunks.get(instance.superchunk) {
                let chunk = Symbol::unpack(*word);
                at = Variables { aux: at.aux + chunk.step.aux, inputs: at.inputs + chunk.step.inputs };
                for word in chunker.chunks.get(chunk.number) {
                    let row = Symbol::unpack(*word);
                    at = Variables { aux: at.aux + row.step.aux, inputs: at.inputs + row.step.inputs };
                    rows.push((row.number, at));
                }
            }
        }
        rows
    }

    fn cut(rows: &[(u32, Variables)]) -> Chunker {
        let mut chunker = Chunker::new();
        rows.iter().for_each(|(number, variables)| chunker.row(*number, *variables));
        chunker.finish();
        chunker
    }

    /// Rows with steps from none to more than a symbol holds.
    fn stream(len: usize, kinds: u64) -> Vec<(u32, Variables)> {
        let mut at = Variables { inputs: 1, aux: 0 };
        let row = |i: usize| {
            let random = mix(i as u64, 9);
            at.aux +=
                [0, 1, 1, 2, (1 << 20) - 1, 1 << 20, 1 << 22][if random.is_multiple_of(40) { i % 7 } else { i % 3 }];
            at.inputs += [0, 0, 1 << 12, 1][if random.is_multiple_of(50) { i % 4 } else { 0 }];
            ((mix(random, 1) % kinds) as u32, at)
        };
        (0..len).map(row).collect()
    }

    #[test]
    fn what_is_cut_is_what_came() {
        for len in [0, 1, 7, 8, 9, 255, 256, 257, 5000] {
            for kinds in [1, 2, 50, 1 << 31] {
                let rows = stream(len, kinds);
                assert_eq!(unrolled(&cut(&rows)), rows, "{len} rows of {kinds} kinds");
            }
        }
    }

    #[test]
    fn equal_stretches_are_stored_once_wherever_they_stand() {
        // The same 3,000 rows ten times, with a different number of other rows before each.
        let stretch: Vec<u32> = (0..3000).map(|i| (mix(i, 3) % 400) as u32).collect();
        let (mut rows, mut aux) = (Vec::new(), 0);
        for turn in 0..10u32 {
            for number in (0..7 * turn).map(|i| 1000 + 100 * turn + i).chain(stretch.iter().copied()) {
                aux += 1;
                rows.push((number, Variables { inputs: 1, aux }));
            }
        }
        let chunker = cut(&rows);
        assert_eq!(unrolled(&chunker), rows);
        let stored = chunker.chunks.words().len();
        // One copy, what is between, and torn ends.
        assert!(stored < 3000 + 7 * 45 + 10 * 2 * CHUNK[2], "{stored} rows stored");
    }
}
