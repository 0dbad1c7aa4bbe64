//! The least that a kernel of arithmetic executes in one thread, counted from its algorithm: what its machine code is held against.
//!
//! Counted are instructions on 32-bit words. A product of two words is one, with the addition of a 64-bit addend and of a carry (IMAD.WIDE);
//! so is an addition of up to three words with its carries, a selection of one word, and a load or store of four words.

use std::ops::{Add, Mul};

use blstrs::{Fp, Scalar};
use ec_gpu::GpuField;

/// Instructions of arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    products: u64,
    /// Additions, subtractions, selections.
    others: u64,
}

/// What a kernel executes at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minimum {
    pub instructions: u64,
    /// Those of them that multiply two words.
    pub products: u64,
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { products: self.products + other.products, others: self.others + other.others }
    }
}

impl Mul<u64> for Work {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self { products: self.products * times, others: self.others * times }
    }
}

fn products(count: u64) -> Work {
    Work { products: count, others: 0 }
}

fn others(count: u64) -> Work {
    Work { products: 0, others: count }
}

/// What the operations of a field take.
#[derive(Clone, Copy)]
struct Field {
    /// Words of an element.
    words: u64,
    mul: Work,
    square: Work,
    add: Work,
    sub: Work,
}

/// A prime field's Montgomery multiplication, in parts.
struct Montgomery {
    limbs: u64,
    /// What makes a sum of products an element.
    reduction: Work,
}

impl Montgomery {
    fn of<F: GpuField>() -> Self {
        let modulus = F::modulus();
        let limbs = modulus.len() as u64;
        // A limb of 1 or 2^32 - 1 is an addition or a subtraction.
        let trivial = modulus.iter().filter(|limb| [1, u32::MAX].contains(*limb)).count() as u64;
        // The multiple of each row: the lowest limb times -1/p modulo 2^32, or minus that limb where p is 1 modulo 2^32.
        let multiple = if modulus[0] == 1 { others(1) } else { products(1) };
        let of_row = multiple + products(limbs - trivial) + others(trivial);
        // Even and odd products are two chains: between rows one word of one is added to the other, and a carry is taken over. At the
        // end they are added, p is subtracted, and one of the two is selected.
        let reduction = of_row * limbs + others(2 * (limbs - 1) + 3 * limbs);
        Self { limbs, reduction }
    }

    /// A sum of products of elements, by one reduction.
    fn sum_of_products(&self, count: u64) -> Work {
        products(count * self.limbs * self.limbs) + self.reduction
    }

    fn field(&self) -> Field {
        let limbs = self.limbs;
        Field {
            words: limbs,
            mul: self.sum_of_products(1),
            // Products of different limbs are made once, of the doubled element.
            square: products(limbs * (limbs + 1) / 2) + others(limbs) + self.reduction,
            // The sum, less p, and the selection.
            add: others(3 * limbs),
            // The difference, and p added where it borrows.
            sub: others(2 * limbs),
        }
    }
}

/// Pairs over a prime field with u^2 = -1.
fn quadratic(base: &Montgomery) -> Field {
    let Field { words, mul, add, sub, .. } = base.field();
    Field {
        words: 2 * words,
        // (a0 b0 - a1 b1) + (a0 b1 + a1 b0) u.
        mul: sub + base.sum_of_products(2) * 2,
        // (a0 + a1) (a0 - a1) + 2 a0 a1 u.
        square: mul * 2 + add * 2 + sub,
        add: add * 2,
        sub: sub * 2,
    }
}

/// Points in XYZZ coordinates: the Explicit-Formulas Database's madd-2008-s, add-2008-s and dbl-2008-s-1, of which doublings are
/// additions.
impl Field {
    fn add_affine(&self) -> Work {
        self.mul * 8 + self.square * 2 + self.sub * 6 + self.add
    }

    fn add_point(&self) -> Work {
        self.mul * 12 + self.square * 2 + self.sub * 6 + self.add
    }

    fn double_point(&self) -> Work {
        self.mul * 6 + self.square * 3 + self.sub * 3 + self.add * 4
    }
}

/// A kernel of one element of each array a thread: the words of what it reads, array by array, and of what it writes.
fn elementwise(reads: &[u64], writes: u64, work: Work) -> Minimum {
    // Thread and block, the index of both, its comparison, and two ends; of each array an address.
    let arrays = reads.len() as u64 + 1;
    let index = others(5) + products(1) + products(arrays);
    let memory = others((reads.iter().sum::<u64>() + writes).div_ceil(4));
    let Work { products, others } = work + index + memory;
    Minimum { instructions: products + others, products }
}

/// The minimum of the kernel with this name; none of kernels that nobody has counted, and of those whose work depends on data.
pub fn minimum(kernel: &str) -> Option<Minimum> {
    let (fr, fp) = (Montgomery::of::<Scalar>(), Montgomery::of::<Fp>());
    let (name, operation) = kernel.split_once('_')?;
    match (name, operation) {
        ("g1", "convert") => return Some(converted(&fp, 2)),
        ("g2", "convert") => return Some(converted(&fp, 4)),
        _ => {}
    }
    match name {
        "fr" => of_prime_field(&fr, operation),
        "fp" => of_prime_field(&fp, operation),
        "fp2" => of_field(&quadratic(&fp), operation),
        "g1" => of_points(&fp.field(), operation),
        "g2" => of_points(&quadratic(&fp), operation),
        _ => None,
    }
}

/// A point of so many coordinates, and of those of the base field: each word's bytes turned round, then multiplied by a constant.
fn converted(prime: &Montgomery, coordinates: u64) -> Minimum {
    let words = coordinates * prime.limbs;
    elementwise(&[words], words, prime.sum_of_products(1) * coordinates + others(words))
}

fn of_prime_field(prime: &Montgomery, operation: &str) -> Option<Minimum> {
    let words = prime.limbs;
    match operation {
        // By a constant.
        "from_canonical" => Some(elementwise(&[words], words, prime.sum_of_products(1))),
        // By 1, of whose products none is to be made.
        "to_canonical" => Some(elementwise(&[words], words, prime.reduction)),
        "sum_of_products" => Some(elementwise(&[words; 2], words, prime.sum_of_products(2))),
        _ => of_field(&prime.field(), operation),
    }
}

fn of_field(field: &Field, operation: &str) -> Option<Minimum> {
    let words = field.words;
    let (operands, work) = match operation {
        "add" => (2, field.add),
        "sub" => (2, field.sub),
        "negate" => (1, field.sub),
        "mul" => (2, field.mul),
        "square" => (1, field.square),
        _ => return None,
    };
    Some(elementwise(&[words; 2][..operands], words, work))
}

fn of_points(field: &Field, operation: &str) -> Option<Minimum> {
    let (affine, xyzz) = (2 * field.words, 4 * field.words);
    match operation {
        "add_affine" => Some(elementwise(&[xyzz, affine], xyzz, field.add_affine())),
        "add" => Some(elementwise(&[xyzz; 2], xyzz, field.add_point())),
        "double" => Some(elementwise(&[xyzz], xyzz, field.double_point())),
        "negate" => Some(elementwise(&[xyzz], xyzz, field.sub)),
        _ => None,
    }
}
