//! Poseidon of eight inputs at once, in the lanes of [`crate::lanes`]. The reference is [`Poseidon::hash_portable`].

use std::slice::IterMut;

use blstrs::Scalar as Fr;

use super::{
    hashes::Eight,
    poseidon::{Poseidon, State},
    scalar::Scalar,
};
use crate::lanes::fr::{self, add, canonical, carry, load, mul, sixteen, store, zero, Factor, Lanes, Sum, Term};

/// Partial rounds after which the state is reduced. Each adds up to 1.03 r to it, and it must stay below 35.3 r.
const ROUNDS_UNREDUCED: usize = 30;

type Keys<const W: usize> = [Term; W];
type Columns<const W: usize> = [[Factor; W]; W];

/// [`Poseidon`]'s constants as lanes take them.
pub struct PoseidonLanes<const W: usize> {
    tag: Term,
    before: Keys<W>,
    first_half: Vec<(Keys<W>, Columns<W>)>,
    partial: Vec<Partial<W>>,
    second_half: Vec<(Keys<W>, Columns<W>)>,
}

struct Partial<const W: usize> {
    key: Term,
    column: [Factor; W],
    row: [Factor; W],
}

impl<const W: usize> From<&Poseidon<W>> for PoseidonLanes<W> {
    fn from(constants: &Poseidon<W>) -> Self {
        let term = |element: Scalar| Term::from(Fr::from(element));
        let factors = |state: &State<W>| state.map(|element| Factor::from(Fr::from(element)));
        let round = |(keys, matrix): &(State<W>, [State<W>; W])| (keys.map(term), matrix.map(|c| factors(&c)));
        let partial = constants.partial.iter().map(|round| Partial {
            key: term(round.key),
            column: factors(&round.column),
            row: factors(&round.row),
        });
        Self {
            tag: term(constants.tag),
            before: constants.before.map(term),
            first_half: constants.first_half.iter().map(round).collect(),
            partial: partial.collect(),
            second_half: constants.second_half.iter().map(round).collect(),
        }
    }
}

/// Where the variables go, one after the other; those that find no place are dropped.
struct Output<'a, 'b>(&'a mut IterMut<'b, Eight>);

impl Output<'_, '_> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn put(&mut self, element: &Lanes) {
        if let Some(place) = self.0.next() {
            store(place, element);
        }
    }
}

impl<const W: usize> PoseidonLanes<W> {
    /// The hashes of the eight columns of `inputs` (`W - 1` rows); their variables go to `output`, the hash last.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn hash(&self, inputs: &[Eight], output: &mut IterMut<'_, Eight>) -> Eight {
        let mut output = Output(output);
        let mut state = [zero(); W];
        for (element, input) in state[1..].iter_mut().zip(inputs) {
            *element = load(input);
        }
        for (round, (keys, matrix)) in self.first_half.iter().enumerate() {
            if round == 0 {
                state[0] = self.tag.broadcast();
                for i in 1..W {
                    let input = canonical(&carry(&add(&state[i], &self.before[i].broadcast())));
                    state[i] = quintic(&input, &keys[i], &mut output);
                }
            } else {
                s_boxes(&mut state, keys, &mut output);
            }
            state = product(&state, matrix);
        }
        self.partial_rounds(&mut state, &mut output);
        for (keys, matrix) in &self.second_half {
            s_boxes(&mut state, keys, &mut output);
            state = product(&state, matrix);
        }
        let hash = reduced(&state[1]);
        output.put(&hash);
        let mut eight = Eight::default();
        store(&mut eight, &hash);
        eight
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn partial_rounds(&self, state: &mut [Lanes; W], output: &mut Output) {
        for (i, round) in self.partial.iter().enumerate() {
            state[0] = s_box(&state[0], &round.key, output);
            let first = dot(state, &round.column);
            for i in 1..W {
                state[i] = carry(&add(&mul(&state[0], &round.row[i].broadcast()), &state[i]));
            }
            state[0] = first;
            if i % ROUNDS_UNREDUCED == ROUNDS_UNREDUCED - 1 {
                for element in &mut state[1..] {
                    *element = reduced(element);
                }
            }
        }
    }
}

/// Of `W` values below 2^260: below (1 + W) r; of such below r, below 1.4 r.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn dot<const W: usize>(state: &[Lanes; W], column: &[Factor; W]) -> Lanes {
    const { assert!(W <= Sum::TERMS) };
    let mut sum = Sum::zero();
    for (element, factor) in state.iter().zip(column) {
        sum.add_product(element, &factor.broadcast());
    }
    carry(&sum.reduce())
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn product<const W: usize>(state: &[Lanes; W], columns: &Columns<W>) -> [Lanes; W] {
    let mut out = [zero(); W];
    for (element, column) in out.iter_mut().zip(columns) {
        *element = dot(state, column);
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn s_boxes<const W: usize>(state: &mut [Lanes; W], keys: &Keys<W>, output: &mut Output) {
    for (element, key) in state.iter_mut().zip(keys) {
        *element = s_box(element, key, output);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn s_box(input: &Lanes, key: &Term, output: &mut Output) -> Lanes {
    let input = reduced(input);
    output.put(&input);
    quintic(&input, key, output)
}

/// The element below r, of a carried value.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduced(a: &Lanes) -> Lanes {
    canonical(&fr::reduce(a))
}

/// input^5 + key, of an input below r; as are the results.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn quintic(input: &Lanes, key: &Term, output: &mut Output) -> Lanes {
    let sixteen_input = sixteen(input);
    // A product of two below r is below 1.5 r, as 16 r is of 2^260.
    let square = canonical(&carry(&mul(&sixteen_input, input)));
    let fourth = canonical(&carry(&mul(&sixteen(&square), &square)));
    let fifth = reduced(&carry(&add(&mul(&sixteen_input, &fourth), &key.broadcast())));
    output.put(&square);
    output.put(&fourth);
    output.put(&fifth);
    fifth
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    use super::super::{poseidon, tests::Values};
    use super::*;
    use crate::lanes::is_available;

    fn check<const W: usize>(poseidon: Poseidon<W>) {
        let lanes = PoseidonLanes::from(&poseidon);
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        for round in 0..12 {
            // Random inputs and, in every other lane at first, the least and the greatest.
            let mut input = |lane: usize| match (round, lane % 4) {
                (0 | 1, 0) => Fr::ZERO,
                (0 | 1, 1) => -Fr::ONE,
                (0, 2) => Fr::ONE,
                (0, _) => -Fr::from(2),
                _ => Fr::random(&mut rng),
            };
            let inputs: Vec<[Fr; 8]> = (1..W).map(|_| std::array::from_fn(&mut input)).collect();
            let eights: Vec<Eight> = inputs.clone();
            let mut out = vec![Eight::default(); poseidon.elements()];
            let mut places = out.iter_mut();
            // SAFETY: the processor has the instructions, as the test below found.
            let hashes = unsafe { lanes.hash(&eights, &mut places) };
            assert_eq!(places.len(), 0);
            for lane in 0..8 {
                let mut values = Values::default();
                let state = poseidon::state(inputs.iter().map(|eight| eight[lane]));
                let hash = poseidon.hash_portable(state, &mut values);
                assert_eq!(hashes[lane], hash);
                let got: Vec<Fr> = out.iter().map(|eight| eight[lane]).collect();
                assert_eq!(got, values.0, "width {W}, round {round}, lane {lane}");
            }
        }
    }

    #[test]
    fn lanes_are_hashes_of_their_own() {
        if is_available() {
            check(poseidon::of_two());
            check(poseidon::of_eight());
            check(poseidon::of_eleven());
        }
    }
}
