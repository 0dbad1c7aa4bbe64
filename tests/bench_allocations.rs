//! The counting allocator, and what it says of the replay: a Vec is allocated as often as by bellpepper itself. Alone in its
//! process, since the counters are the process's.

mod circuits;

use bellperson::{LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use circuits::RandomCircuit;
use cuzk::bench::{Allocations, Counter, Counting, Stream, REPLAYS};
use cuzk::witness::{nameless, Nameless};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn counted<T>(work: impl FnOnce() -> T) -> (Allocations, T) {
    let counter = Counter::start().expect("this process's allocator counts");
    let result = work();
    (counter.so_far(), result)
}

/// Builds every row's linear combinations a second time, term by term, with bellpepper's own type.
#[derive(Default)]
struct Again {
    inputs: usize,
    aux: usize,
    allocations: Allocations,
}

fn again(combination: &LinearCombination<Fr>) -> LinearCombination<Fr> {
    combination.iter().fold(LinearCombination::zero(), |sum, (variable, coefficient)| sum + (*coefficient, variable))
}

impl Nameless for Again {
    fn aux(&mut self, _: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.aux += 1;
        Ok(self.aux - 1)
    }

    fn input(&mut self, _: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.inputs += 1;
        // ONE is input 0.
        Ok(self.inputs)
    }

    fn row(
        &mut self,
        a: impl FnOnce() -> LinearCombination<Fr>,
        b: impl FnOnce() -> LinearCombination<Fr>,
        c: impl FnOnce() -> LinearCombination<Fr>,
    ) {
        for combination in [a(), b(), c()] {
            let (allocations, built) = counted(|| again(&combination));
            assert!(built.iter().eq(combination.iter()));
            self.allocations.allocations += allocations.allocations;
            self.allocations.reallocations += allocations.reallocations;
            self.allocations.bytes += allocations.bytes;
        }
    }
}

/// Allocations are counted, and a replayed Vec makes bellpepper's.
fn main() {
    let (allocations, block) = counted(|| vec![1u8; 1000]);
    assert_eq!(allocations, Allocations { allocations: 1, reallocations: 0, bytes: 1000, peak_bytes: 1000 });
    let (allocations, _) = counted(|| {
        let mut block = block;
        block.reserve_exact(500);
        block
    });
    assert_eq!(allocations, Allocations { allocations: 0, reallocations: 1, bytes: 500, peak_bytes: 500 });
    let (allocations, _) = counted(|| vec![0u64; 4]);
    assert_eq!(allocations, Allocations { allocations: 1, reallocations: 0, bytes: 32, peak_bytes: 32 });
    let (allocations, _) = counted(|| {
        drop(std::hint::black_box(vec![1u8; 700]));
        vec![1u8; 600]
    });
    assert_eq!(allocations, Allocations { allocations: 2, reallocations: 0, bytes: 1300, peak_bytes: 700 });

    let circuit = RandomCircuit { rows: 2000, inputs: 3, seed: 1 };
    let bellpepper = nameless::run(circuit, Again::default()).unwrap();
    let stream = Stream::record(circuit).unwrap();
    let (mut replayed, rows) = counted(|| (REPLAYS[0].run)(&stream));
    // Theirs are built one at a time.
    assert!(replayed.peak_bytes > bellpepper.allocations.peak_bytes);
    replayed.peak_bytes = bellpepper.allocations.peak_bytes;
    // Those of the three vectors of values.
    replayed.allocations -= 3;
    replayed.bytes -= rows.iter().map(|values| (values.capacity() * size_of::<Fr>()) as u64).sum::<u64>();
    assert_eq!(replayed, bellpepper.allocations);
    assert!(replayed.allocations > 2000 && replayed.reallocations > 0, "{replayed:?}");
}
