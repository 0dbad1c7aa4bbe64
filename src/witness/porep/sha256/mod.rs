//! SHA-256 compressions with the variables that bellperson's circuit allocates for them.
//!
//! The compression itself runs on words. For each operation on 32 bits a [`Plan`] says which bits of the result are variables, so
//! that they are picked out and written at once. Names are those of FIPS 180-4.

mod gates;
mod pick;
mod plan;
#[cfg(test)]
mod tests;

use super::sink::Sink;
use gates::{constant, Bit, Word, VARIABLE};
use pick::{Pick, Portable};
use plan::{Gates, Plan};

/// The state before the first block.
pub const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// A message word's bits as the circuit has them.
#[derive(Clone, Copy, Debug)]
pub enum MessageWord {
    Variable,
    Constant(u32),
    /// The last word of a node: the highest bit of its last byte is constant zero, all others are variables.
    NodeEnd,
}

/// The eight words of a node.
pub const NODE: [MessageWord; 8] = {
    let mut words = [MessageWord::Variable; 8];
    words[7] = MessageWord::NodeEnd;
    words
};

/// The padding after `used` words of the last block of a message of `bytes` bytes (zero for the words before).
pub fn padding(used: usize, bytes: u32) -> [u32; 16] {
    let mut words = [0; 16];
    words[used] = 1 << 31;
    words[15] = 8 * bytes;
    words
}

/// The words of a node's 32 bytes.
pub fn node_words(node: &[u8; 32]) -> [u32; 8] {
    std::array::from_fn(|i| u32::from_be_bytes([node[4 * i], node[4 * i + 1], node[4 * i + 2], node[4 * i + 3]]))
}

/// A digest as a node: the two highest bits, which no element of the field need have, are dropped.
pub fn node(digest: &[u32; 8]) -> [u8; 32] {
    let mut node = [0; 32];
    for (bytes, word) in node.chunks_exact_mut(4).zip(digest) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    node[31] &= 0x3f;
    node
}

/// One kind of block: where its constants are.
#[derive(Clone, Debug)]
pub struct Block(Box<Plan>);

impl Block {
    /// The first block of a message.
    pub fn first(message: [MessageWord; 16]) -> Self {
        Self(Box::new(Plan::new(INITIAL.map(constant), message.map(MessageWord::bits))))
    }

    /// Any other block.
    pub fn next(message: [MessageWord; 16]) -> Self {
        Self(Box::new(Plan::new([VARIABLE; 8], message.map(MessageWord::bits))))
    }

    /// The state after the block. `state` and `message` must have the plan's constants where those are.
    pub fn compress(&self, state: [u32; 8], message: &[u32; 16], sink: &mut impl Sink) -> [u32; 8] {
        #[cfg(target_arch = "x86_64")]
        if crate::processor::has_bmi2() {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { compress_bmi2(&self.0, state, message, sink) };
        }
        compress::<Portable>(&self.0, state, message, sink)
    }
}

impl MessageWord {
    fn bits(self) -> Word {
        match self {
            Self::Variable => VARIABLE,
            Self::Constant(value) => constant(value),
            Self::NodeEnd => {
                let mut word = VARIABLE;
                word[7] = Bit::Constant(false);
                word
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn compress_bmi2(plan: &Plan, state: [u32; 8], message: &[u32; 16], sink: &mut impl Sink) -> [u32; 8] {
    compress::<pick::Bmi2>(plan, state, message, sink)
}

#[inline(always)]
fn compress<P: Pick>(plan: &Plan, state: [u32; 8], message: &[u32; 16], sink: &mut impl Sink) -> [u32; 8] {
    let schedule = extend::<P>(plan, message, sink);
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    // The sums that are a and e, with their carries.
    let (mut a_sum, mut e_sum) = (u64::from(a), u64::from(e));
    for ((round, constant), word) in plan.rounds.iter().zip(ROUND_CONSTANTS).zip(schedule) {
        put_sum(e_sum, round.e, sink);
        let s1 = sigma::<P>(e.rotate_right(6), e.rotate_right(11), e.rotate_right(25), &round.sigma1, sink);
        let chosen = (e & f) ^ (!e & g);
        put::<P>(chosen, &round.choose, sink);
        put_sum(a_sum, round.a, sink);
        let s0 = sigma::<P>(a.rotate_right(2), a.rotate_right(13), a.rotate_right(22), &round.sigma0, sink);
        let both = b & c;
        let most = (a & (b ^ c)) ^ both;
        let pairs = P::interleave(most ^ round.majority.negated, both);
        sink.bits(P::pick(pairs, round.majority.mask), round.majority.count);
        let common = [h, s1, chosen, constant, word].into_iter().map(u64::from).sum::<u64>();
        (a_sum, e_sum) = (common + u64::from(s0) + u64::from(most), common + u64::from(d));
        (h, g, f, d, c, b) = (g, f, e, c, b, a);
        (a, e) = (a_sum as u32, e_sum as u32);
    }
    // a and e of the last round are never allocated: their terms are part of the sums with the state before.
    let after = [a_sum, b.into(), c.into(), d.into(), e_sum, f.into(), g.into(), h.into()];
    let bits = [35, 33, 33, 33, 35, 33, 33, 33];
    std::array::from_fn(|i| {
        let sum = u64::from(state[i]) + after[i];
        put_sum(sum, bits[i], sink);
        sum as u32
    })
}

/// The message schedule.
#[inline(always)]
fn extend<P: Pick>(plan: &Plan, message: &[u32; 16], sink: &mut impl Sink) -> [u32; 64] {
    let mut words = [0; 64];
    words[..16].copy_from_slice(message);
    for (i, extension) in plan.extensions.iter().enumerate() {
        let (x, y) = (words[i + 1], words[i + 14]);
        let s0 = sigma::<P>(x.rotate_right(7), x.rotate_right(18), x >> 3, &extension.sigma0, sink);
        let s1 = sigma::<P>(y.rotate_right(17), y.rotate_right(19), y >> 10, &extension.sigma1, sink);
        let sum = [words[i], s0, words[i + 9], s1].into_iter().map(u64::from).sum();
        put_sum(sum, extension.sum, sink);
        words[i + 16] = sum as u32;
    }
    words
}

/// x ^ y ^ z; the variables are those of x ^ y, then of all three.
#[inline(always)]
fn sigma<P: Pick>(x: u32, y: u32, z: u32, gates: &[Gates; 2], sink: &mut impl Sink) -> u32 {
    put::<P>(x ^ y, &gates[0], sink);
    put::<P>(x ^ y ^ z, &gates[1], sink);
    x ^ y ^ z
}

/// The variables of an operation.
#[inline(always)]
fn put<P: Pick>(result: u32, gates: &Gates, sink: &mut impl Sink) {
    sink.bits(P::pick((result ^ gates.negated).into(), gates.mask.into()), gates.count);
}

/// A sum's bits: all of them, or (`count` is zero) none.
#[inline(always)]
fn put_sum(sum: u64, count: u32, sink: &mut impl Sink) {
    sink.bits(if count == 0 { 0 } else { sum }, count);
}
