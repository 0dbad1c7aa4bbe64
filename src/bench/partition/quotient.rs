//! Whether h is the quotient, without computing it again: h(t) (t^n - 1) = a(t) b(t) - c(t) holds for all t, or for fewer than 2n of
//! more than 2^254.

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use crate::backend::cpu::ntt::root_of_unity;
use crate::constraints::Rows;

/// Rows and coefficients of a parallel task.
const TASK: usize = 1 << 12;

/// Does the equation hold at `t`, a point outside the domain of the rows' polynomials a, b and c, where c has the rows' products?
pub fn is_quotient(h: &[Fr], a: &dyn Rows, b: &dyn Rows, t: Fr) -> bool {
    let log_size = a.len().max(1).next_power_of_two().ilog2();
    let size = 1usize << log_size;
    let vanishing = t.pow_vartime([size as u64]) - Fr::ONE;
    if vanishing == Fr::ZERO || b.len() != a.len() || h.len() != size - 1 {
        return false;
    }
    // p(t) = (t^n - 1) / n times the sum of p(w^i) w^i / (t - w^i).
    let factor = vanishing * Fr::from(size as u64).invert().unwrap_or(Fr::ZERO);
    let [a, b, c] = weighted(a, b, t, root_of_unity(log_size)).map(|sum| sum * factor);
    at(h, t) * vanishing == a * b - c
}

/// The value of a polynomial, lowest coefficient first.
fn at(coefficients: &[Fr], t: Fr) -> Fr {
    let tasks = coefficients.par_chunks(TASK).enumerate();
    let parts = tasks.map(|(k, chunk)| {
        let value = chunk.iter().rev().fold(Fr::ZERO, |value, coefficient| value * t + coefficient);
        value * t.pow_vartime([(k * TASK) as u64])
    });
    parts.reduce(|| Fr::ZERO, |x, y| x + y)
}

/// A task's room.
struct Room {
    /// a's and b's rows.
    values: [Vec<Fr>; 2],
    /// `w^i`.
    powers: Vec<Fr>,
    /// For each row the product of the `t - w^i` before it.
    products: Vec<Fr>,
}

/// The sums of the rows of a, of b, and of their products, each row i times `w^i / (t - w^i)`. Beyond the last row there are zeros.
fn weighted(a: &dyn Rows, b: &dyn Rows, t: Fr, w: Fr) -> [Fr; 3] {
    let room = || {
        let zeros = || vec![Fr::ZERO; TASK];
        Room { values: [zeros(), zeros()], powers: zeros(), products: zeros() }
    };
    let tasks = (0..a.len().div_ceil(TASK)).into_par_iter();
    let sums = tasks.map_init(room, |room, k| {
        let rows = k * TASK..a.len().min((k + 1) * TASK);
        let [a_values, b_values] = &mut room.values;
        a.expand_into(rows.clone(), &mut a_values[..rows.len()]);
        b.expand_into(rows.clone(), &mut b_values[..rows.len()]);
        room.weigh(rows.len(), t, w, w.pow_vartime([rows.start as u64]))
    });
    sums.reduce(|| [Fr::ZERO; 3], |x, y| std::array::from_fn(|i| x[i] + y[i]))
}

impl Room {
    /// Of the first `count` rows here; `first` is the first one's power of w. One inversion serves all.
    fn weigh(&mut self, count: usize, t: Fr, w: Fr, first: Fr) -> [Fr; 3] {
        let (mut power, mut product) = (first, Fr::ONE);
        for (place, before) in self.powers.iter_mut().zip(&mut self.products).take(count) {
            (*place, *before) = (power, product);
            product *= t - power;
            power *= w;
        }
        // The caller's t is no w^i.
        let mut inverse = product.invert().unwrap_or(Fr::ZERO);
        let mut sums = [Fr::ZERO; 3];
        for i in (0..count).rev() {
            let weight = self.powers[i] * inverse * self.products[i];
            inverse *= t - self.powers[i];
            let (a, b) = (self.values[0][i], self.values[1][i]);
            let a_weighted = a * weight;
            sums[0] += a_weighted;
            sums[1] += b * weight;
            sums[2] += a_weighted * b;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::PortableCpu;
    use crate::backend::Backend;

    fn rows(count: usize, seed: u64) -> Vec<Fr> {
        (0..count as u64).map(|i| Fr::from(seed + i).square() - Fr::from(i % 3)).collect()
    }

    /// Around a task's end and a domain's.
    #[test]
    fn the_quotient_passes_and_nothing_else_does() {
        let t = -Fr::from(0x1234_5678_9abc);
        for count in [1, 2, 3, 100, 4095, 4096, 4097, 9000] {
            let (a, b) = (rows(count, 3), rows(count, 7));
            let h = PortableCpu::default().quotient(&a, &b).unwrap();
            assert!(is_quotient(&h, &a, &b, t), "{count}");
            for place in [0, h.len() / 2, h.len().saturating_sub(1)].into_iter().filter(|place| *place < h.len()) {
                let mut wrong = h.to_vec();
                wrong[place] += Fr::ONE;
                assert!(!is_quotient(&wrong, &a, &b, t), "coefficient {place} of {count}");
            }
            if h.len() > 1 {
                let mut wrong = h.to_vec();
                wrong.swap(0, 1);
                assert!(!is_quotient(&wrong, &a, &b, t), "{count}");
            }
            assert!(!is_quotient(&h, &a, &rows(count, 8), t) || h.is_empty(), "{count}");
        }
    }

    #[test]
    fn what_cannot_be_checked_does_not_pass() {
        let (a, b) = (rows(5, 1), rows(5, 2));
        let h = PortableCpu::default().quotient(&a, &b).unwrap();
        assert!(!is_quotient(&h[..6], &a, &b, Fr::from(9)), "too short");
        assert!(!is_quotient(&h, &a, &rows(6, 2), Fr::from(9)), "other rows");
        assert!(!is_quotient(&h, &a, &b, root_of_unity(3)), "a point of the domain");
    }
}
