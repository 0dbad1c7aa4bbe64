//! What bellperson's gates allocate, by what is known of their operands when the circuit is built.
//!
//! Mirrors `Boolean::xor`, `and`, `sha256_ch` and `sha256_maj` of bellpepper-core: constants make them skip the variable or take
//! a cheaper gate, and what is left may stand for the variable's negation.

use Bit::{Constant, Is, Not};

/// A circuit's bit, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bit {
    Constant(bool),
    /// A variable.
    Is,
    /// A variable's negation.
    Not,
}

/// 32 bits, lowest first.
pub type Word = [Bit; 32];

/// A word of variables.
pub const VARIABLE: Word = [Is; 32];

/// A gate's result, and how many variables it allocates.
pub type Gate = (Bit, u32);

pub fn constant(value: u32) -> Word {
    std::array::from_fn(|i| Constant(value >> i & 1 == 1))
}

pub fn rotated(word: &Word, by: usize) -> Word {
    std::array::from_fn(|i| word[(i + by) % 32])
}

pub fn shifted(word: &Word, by: usize) -> Word {
    std::array::from_fn(|i| *word.get(i + by).unwrap_or(&Constant(false)))
}

impl Bit {
    pub fn is_constant(self) -> bool {
        matches!(self, Constant(_))
    }
}

impl std::ops::Not for Bit {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Constant(value) => Constant(!value),
            Is => Not,
            Not => Is,
        }
    }
}

pub fn xor(a: Bit, b: Bit) -> Gate {
    match (a, b) {
        (Constant(false), x) | (x, Constant(false)) => (x, 0),
        (Constant(true), x) | (x, Constant(true)) => (!x, 0),
        (Is, Not) | (Not, Is) => (Not, 1),
        (Is, Is) | (Not, Not) => (Is, 1),
    }
}

fn and(a: Bit, b: Bit) -> Gate {
    match (a, b) {
        (Constant(false), _) | (_, Constant(false)) => (Constant(false), 0),
        (Constant(true), x) | (x, Constant(true)) => (x, 0),
        _ => (Is, 1),
    }
}

/// a or b, as not (not a and not b).
fn or(a: Bit, b: Bit) -> Gate {
    let (neither, count) = and(!a, !b);
    (!neither, count)
}

/// b where a, else c.
pub fn choose(a: Bit, b: Bit, c: Bit) -> Gate {
    match (a, b, c) {
        (Constant(a), Constant(b), Constant(c)) => (Constant(if a { b } else { c }), 0),
        (Constant(false), _, c) => (c, 0),
        (a, Constant(false), c) => and(!a, c),
        (a, b, Constant(false)) => and(a, b),
        (a, b, Constant(true)) => or(!a, b),
        (a, Constant(true), c) => or(a, c),
        _ => (Is, 1),
    }
}

/// Two of the three. Two variables are the majority, then b and c.
pub fn majority(a: Bit, b: Bit, c: Bit) -> Gate {
    match (a, b, c) {
        (Constant(a), Constant(b), Constant(c)) => (Constant(a & b | a & c | b & c), 0),
        (Constant(false), b, c) => and(b, c),
        (a, Constant(false), c) => and(a, c),
        (a, b, Constant(false)) => and(a, b),
        (a, b, Constant(true)) => or(a, b),
        (a, Constant(true), c) => or(a, c),
        (Constant(true), b, c) => or(b, c),
        _ => (Is, 2),
    }
}
