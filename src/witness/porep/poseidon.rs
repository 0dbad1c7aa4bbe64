//! Poseidon with the variables that neptune's legacy circuit (`circuit::poseidon_hash`) allocates for it, in its order.
//!
//! An S-box takes the variable l and adds l^2, l^4 and l^5 plus the key of the round to come. What enters it has been a linear
//! combination until then, so l is a variable of its own, but in the first round, where it is an input plus its key. Linear
//! layers allocate nothing. The tag in state\[0\] is constant, and so is its first S-box.

use blstrs::Scalar as Fr;
use filecoin_hashers::{POSEIDON_CONSTANTS_11, POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8};

use super::{scalar::Scalar, sink::Sink};
#[cfg(target_arch = "x86_64")]
use crate::processor;

/// `W` elements: the tag, and the `W - 1` that are hashed.
pub type State<const W: usize> = [Scalar; W];

/// The constants of Poseidon for one width. Matrices are kept by columns: a result's element is a scalar product with one.
#[derive(Clone, Debug)]
pub struct Poseidon<const W: usize> {
    /// The tag after the first S-box.
    pub(super) tag: Scalar,
    /// Added to the inputs before the first S-box; the tag's is none.
    pub(super) before: State<W>,
    /// Of the full rounds of the first half: the keys added after the S-box, and the matrix.
    pub(super) first_half: Vec<(State<W>, [State<W>; W])>,
    pub(super) partial: Vec<PartialRound<W>>,
    /// As `first_half`; the last has no keys.
    pub(super) second_half: Vec<(State<W>, [State<W>; W])>,
}

/// A round that takes state\[0\] alone through the S-box.
#[derive(Clone, Debug)]
pub(super) struct PartialRound<const W: usize> {
    pub(super) key: Scalar,
    /// The matrix's first column.
    pub(super) column: State<W>,
    /// The rest of its first row, by place in the state (none at 0); all else is the unit matrix.
    pub(super) row: State<W>,
}

/// Sorts neptune's constants, whose type this crate does not name.
macro_rules! from_neptune {
    ($constants:expr) => {{
        let constants = &*$constants;
        let mut keys = constants.compressed_round_constants.iter().copied();
        let mut state = |count: usize| {
            let mut state = [Scalar::default(); W];
            state.iter_mut().zip(keys.by_ref().take(count)).for_each(|(place, key)| *place = key.into());
            state
        };
        let before = state(W);
        let (dense, into_sparse) = (columns(&constants.mds_matrices.m), columns(&constants.pre_sparse_matrix));
        let half = constants.half_full_rounds;
        let matrix = |round| if round + 1 == half { into_sparse } else { dense };
        let first_half: Vec<_> = (0..half).map(|round| (state(W), matrix(round))).collect();
        let sparse = constants.sparse_matrixes.iter().take(constants.partial_rounds);
        let partial = sparse.map(|matrix| PartialRound {
            key: state(1)[0],
            column: places(0, &matrix.w_hat),
            row: places(1, &matrix.v_rest),
        });
        let partial = partial.collect();
        let second_half = (0..half).map(|_| (state(W), dense)).collect();
        let tag = Scalar::from(constants.domain_tag).plus(&before[0]);
        let tag = quintic(tag, &first_half[0].0[0], &mut |_| {});
        Poseidon { tag, before, first_half, partial, second_half }
    }};
}

/// Of elements 0 and 1, e.g. the roots of trees C and R, or a level of arity 2, or a column of two layers.
pub fn of_two() -> Poseidon<3> {
    const W: usize = 3;
    from_neptune!(POSEIDON_CONSTANTS_2)
}

/// Of a level of arity 8.
pub fn of_eight() -> Poseidon<9> {
    const W: usize = 9;
    from_neptune!(POSEIDON_CONSTANTS_8)
}

/// Of a column of eleven layers.
pub fn of_eleven() -> Poseidon<12> {
    const W: usize = 12;
    from_neptune!(POSEIDON_CONSTANTS_11)
}

fn columns<const W: usize>(matrix: &[Vec<Fr>]) -> [State<W>; W] {
    std::array::from_fn(|j| std::array::from_fn(|i| matrix[i][j].into()))
}

/// The elements from place `first` on, zero elsewhere.
fn places<const W: usize>(first: usize, elements: &[Fr]) -> State<W> {
    let mut state = [Scalar::default(); W];
    state[first..].iter_mut().zip(elements).for_each(|(place, element)| *place = (*element).into());
    state
}

/// The inputs behind the tag's place.
pub fn state<const W: usize>(inputs: impl IntoIterator<Item = Fr>) -> State<W> {
    let mut state = [Scalar::default(); W];
    state[1..].iter_mut().zip(inputs).for_each(|(place, input)| *place = input.into());
    state
}

impl<const W: usize> Poseidon<W> {
    /// Elements that a hash allocates.
    pub fn elements(&self) -> usize {
        let (full, partial) = (self.first_half.len() + self.second_half.len(), self.partial.len());
        3 * (W - 1) + 4 * (W * (full - 1) + partial) + 1
    }

    /// The hash of `state[1..]`; what stands in `state[0]` does not matter.
    pub fn hash(&self, state: State<W>, sink: &mut impl Sink) -> Fr {
        #[cfg(target_arch = "x86_64")]
        if processor::has_adx() {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { self.hash_bmi2(state, sink) };
        }
        self.hash_portable(state, sink)
    }

    /// BMI2 has a multiplication that leaves the flags alone.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,adx")]
    fn hash_bmi2(&self, state: State<W>, sink: &mut impl Sink) -> Fr {
        self.hash_portable(state, sink)
    }

    #[inline(always)]
    pub(super) fn hash_portable(&self, mut state: State<W>, sink: &mut impl Sink) -> Fr {
        let mut put = |value: Scalar| sink.element(value.into());
        for (round, (keys, matrix)) in self.first_half.iter().enumerate() {
            if round == 0 {
                state[0] = self.tag;
                for i in 1..W {
                    state[i] = quintic(state[i].plus(&self.before[i]), &keys[i], &mut put);
                }
            } else {
                s_boxes(&mut state, keys, &mut put);
            }
            state = product(&state, matrix);
        }
        for round in &self.partial {
            state[0] = s_box(state[0], &round.key, &mut put);
            let first = Scalar::dot(&state, &round.column);
            for i in 1..W {
                state[i] = state[i].plus(&state[0].times(&round.row[i]));
            }
            state[0] = first;
        }
        for (keys, matrix) in &self.second_half {
            s_boxes(&mut state, keys, &mut put);
            state = product(&state, matrix);
        }
        put(state[1]);
        state[1].into()
    }
}

#[inline(always)]
fn product<const W: usize>(state: &State<W>, columns: &[State<W>; W]) -> State<W> {
    std::array::from_fn(|j| Scalar::dot(state, &columns[j]))
}

#[inline(always)]
fn s_boxes<const W: usize>(state: &mut State<W>, keys: &State<W>, put: &mut impl FnMut(Scalar)) {
    for (element, key) in state.iter_mut().zip(keys) {
        *element = s_box(*element, key, put);
    }
}

#[inline(always)]
fn s_box(input: Scalar, key: &Scalar, put: &mut impl FnMut(Scalar)) -> Scalar {
    put(input);
    quintic(input, key, put)
}

/// input^5 + key.
#[inline(always)]
fn quintic(input: Scalar, key: &Scalar, put: &mut impl FnMut(Scalar)) -> Scalar {
    let square = input.times(&input);
    let fourth = square.times(&square);
    let fifth = fourth.times(&input).plus(key);
    [square, fourth, fifth].into_iter().for_each(put);
    fifth
}
