//! Which bits of a compression bellperson's circuit allocates, found once for each kind of block.

use super::{
    gates::{choose, constant, majority, rotated, shifted, xor, Bit, Gate, Word, VARIABLE},
    ROUND_CONSTANTS,
};

/// Bits of a sum of so many words, carries included; those of bellperson's `UInt32::addmany`.
const SCHEDULE_SUM: u32 = 34;
const ROUND_SUM: u32 = 35;

/// One operation on 32 bits: which bits of the result are variables, and which of those are its negation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gates {
    pub mask: u32,
    pub negated: u32,
    /// Ones of the mask.
    pub count: u32,
}

/// The majority's variables: for each bit the majority, then b and c, so that bit i of the mask's even and odd bits is theirs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Majority {
    pub mask: u64,
    /// Of the majority alone, by bit.
    pub negated: u32,
    pub count: u32,
}

/// An extension of the message schedule: x ^ y and x ^ y ^ z of both sigmas, then the sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension {
    pub sigma0: [Gates; 2],
    pub sigma1: [Gates; 2],
    /// Bits of the sum: all, or none where it is constant.
    pub sum: u32,
}

/// A round, in the order of allocation: the sum that is e, sigma 1 of e, choose, the sum that is a, sigma 0 of a, majority.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub e: u32,
    pub sigma1: [Gates; 2],
    pub choose: Gates,
    pub a: u32,
    pub sigma0: [Gates; 2],
    pub majority: Majority,
}

/// One kind of block.
#[derive(Clone, Debug)]
pub struct Plan {
    pub extensions: [Extension; 48],
    pub rounds: [Round; 64],
}

impl Plan {
    /// Runs the compression on what is known of `state` and `message` when the circuit is built.
    ///
    /// The sums after the last round are not part of the plan: as long as the message or the state has a variable, all their bits
    /// are allocated.
    pub fn new(state: [Word; 8], message: [Word; 16]) -> Self {
        let mut plan = Self { extensions: [Extension::default(); 48], rounds: [Round::default(); 64] };
        let mut schedule = message.to_vec();
        for (i, extension) in plan.extensions.iter_mut().enumerate() {
            let (word, found) = extend(&schedule[i..i + 16]);
            *extension = found;
            schedule.push(word);
        }
        run_rounds(&mut plan.rounds, state, &schedule);
        plan
    }
}

/// The next word of the schedule from the last 16.
fn extend(last: &[Word]) -> (Word, Extension) {
    let (x, y) = (&last[1], &last[14]);
    let (s0, sigma0) = sigma(rotated(x, 7), rotated(x, 18), shifted(x, 3));
    let (s1, sigma1) = sigma(rotated(y, 17), rotated(y, 19), shifted(y, 10));
    let (word, sum) = total(&[last[0], s0, last[9], s1], SCHEDULE_SUM);
    (word, Extension { sigma0, sigma1, sum })
}

/// The rounds; a and e are only summed up where the next round needs them.
fn run_rounds(rounds: &mut [Round; 64], state: [Word; 8], schedule: &[Word]) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    let mut terms: Option<(Vec<Word>, Vec<Word>)> = None;
    for (i, round) in rounds.iter_mut().enumerate() {
        if let Some((a_terms, e_terms)) = terms {
            (a, round.a) = total(&a_terms, ROUND_SUM);
            (e, round.e) = total(&e_terms, ROUND_SUM);
        }
        let (s1, chosen, s0, most);
        (s1, round.sigma1) = sigma(rotated(&e, 6), rotated(&e, 11), rotated(&e, 25));
        (chosen, round.choose) = each(|j| choose(e[j], f[j], g[j]));
        (s0, round.sigma0) = sigma(rotated(&a, 2), rotated(&a, 13), rotated(&a, 22));
        (most, round.majority) = majorities(&a, &b, &c);
        let common = [h, s1, chosen, constant(ROUND_CONSTANTS[i]), schedule[i]];
        terms = Some(([&common[..], &[s0, most]].concat(), [&common[..], &[d]].concat()));
        (h, g, f, d, c, b) = (g, f, e, c, b, a);
    }
}

/// The sum of words, and its bits allocated: `bits`, but none where all terms are constant, and so is the sum.
fn total(terms: &[Word], bits: u32) -> (Word, u32) {
    if terms.iter().flatten().any(|bit| !bit.is_constant()) {
        return (VARIABLE, bits);
    }
    let value = |word: &Word| (0..32).map(|i| u32::from(word[i] == Bit::Constant(true)) << i).sum::<u32>();
    (constant(terms.iter().fold(0, |sum, term| sum.wrapping_add(value(term)))), 0)
}

/// x ^ y, then that ^ z.
fn sigma(x: Word, y: Word, z: Word) -> (Word, [Gates; 2]) {
    let (two, first) = each(|i| xor(x[i], y[i]));
    let (three, second) = each(|i| xor(two[i], z[i]));
    (three, [first, second])
}

/// A gate for each bit.
fn each(gate: impl Fn(usize) -> Gate) -> (Word, Gates) {
    let mut gates = Gates::default();
    let word = std::array::from_fn(|i| {
        let (bit, count) = gate(i);
        gates.mask |= count << i;
        gates.negated |= u32::from(bit == Bit::Not && count == 1) << i;
        gates.count += count;
        bit
    });
    (word, gates)
}

fn majorities(a: &Word, b: &Word, c: &Word) -> (Word, Majority) {
    let mut all = Majority::default();
    let word = std::array::from_fn(|i| {
        let (bit, count) = majority(a[i], b[i], c[i]);
        all.mask |= [0b00, 0b01, 0b11][count as usize] << (2 * i);
        all.negated |= u32::from(bit == Bit::Not && count > 0) << i;
        all.count += count;
        bit
    });
    (word, all)
}
