//! Circuits at the edges: nothing, one thing, much of one thing, things far apart.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

use super::check;

/// A circuit that is a closure: called with a function that allocates a value and one that adds a row of A and B.
struct Made<F>(F);

/// What a [`Made`] circuit can do.
trait Make {
    fn aux(&mut self, value: Fr) -> Variable;
    fn input(&mut self, value: Fr) -> Variable;
    fn row(&mut self, a: &[(Fr, Variable)], b: &[(Fr, Variable)]);
}

struct Over<'a, CS>(&'a mut CS);

fn sum(terms: &[(Fr, Variable)]) -> impl FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr> + '_ {
    move |lc| terms.iter().fold(lc, |lc, (coefficient, variable)| lc + (*coefficient, *variable))
}

impl<CS: ConstraintSystem<Fr>> Make for Over<'_, CS> {
    fn aux(&mut self, value: Fr) -> Variable {
        self.0.alloc(|| "aux", || Ok(value)).unwrap()
    }

    fn input(&mut self, value: Fr) -> Variable {
        self.0.alloc_input(|| "input", || Ok(value)).unwrap()
    }

    fn row(&mut self, a: &[(Fr, Variable)], b: &[(Fr, Variable)]) {
        self.0.enforce(|| "row", sum(a), sum(b), |lc| lc);
    }
}

impl<F: FnOnce(&mut dyn Make)> Circuit<Fr> for Made<F> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0(&mut Over(cs));
        Ok(())
    }
}

#[track_caller]
fn made(make: impl Fn(&mut dyn Make) + Copy) -> cuzk::constraints::Constraints {
    check(|| Made(make))
}

/// A variable by its number; the circuits here need not keep them.
fn aux(i: usize) -> Variable {
    Variable::new_unchecked(bellperson::Index::Aux(i))
}

fn one() -> Variable {
    Variable::new_unchecked(bellperson::Index::Input(0))
}

fn value(i: usize) -> Fr {
    [Fr::ZERO, Fr::ONE, Fr::ONE, -Fr::from(i as u64 + 5)][i * i % 7 % 4]
}

#[test]
fn nothing_at_all() {
    let constraints = made(|_| ());
    assert_eq!((constraints.tables().rows, constraints.tables().inputs, constraints.tables().aux), (1, 1, 0));
}

#[test]
fn variables_without_rows_and_rows_without_variables() {
    made(|cs| (0..100).for_each(|i| _ = cs.aux(value(i))));
    made(|cs| (0..100).for_each(|i| _ = cs.input(value(i))));
    made(|cs| (0..100).for_each(|_| cs.row(&[], &[])));
    made(|cs| (0..100).for_each(|i| cs.row(&[(Fr::from(i), one())], &[])));
}

#[test]
fn one_row_of_each_kind() {
    for coefficient in [Fr::ONE, -Fr::ONE, Fr::ZERO, Fr::from(127), Fr::from(128), -Fr::from(127), -Fr::from(128)] {
        for value in [Fr::ZERO, Fr::ONE, Fr::from(2), -Fr::ONE] {
            check(|| {
                Made(move |cs: &mut dyn Make| {
                    let x = cs.aux(value);
                    cs.row(&[(coefficient, x)], &[(coefficient, one())]);
                })
            });
            check(|| {
                Made(move |cs: &mut dyn Make| {
                    let x = cs.input(value);
                    cs.row(&[(coefficient, x), (Fr::ONE, one())], &[(coefficient, x)]);
                })
            });
        }
    }
}

#[test]
fn rows_longer_than_anything_else() {
    made(|cs| {
        let all: Vec<Variable> = (0..20_000).map(|i| cs.aux(value(i))).collect();
        let ones: Vec<_> = all.iter().map(|x| (Fr::ONE, *x)).collect();
        let rising: Vec<_> = all.iter().enumerate().map(|(i, x)| (Fr::from(i as u64), *x)).collect();
        for _ in 0..3 {
            cs.row(&ones, &rising);
            cs.row(&rising[..127], &ones[..127]);
            cs.row(&ones[..128], &ones[..126]);
        }
    });
}

#[test]
fn columns_and_rows_far_apart() {
    // Steps between rows of more variables than a chunk, an entry or a tile can count, with references to both ends.
    made(|cs| {
        let mut count = 0;
        for step in [1, 1 << 16, 70_000, (1 << 20) - 1, 1, 1 << 20, 1, 1 << 16, 1 << 20] {
            (0..step).for_each(|i| _ = cs.aux(value(i + count)));
            count += step;
            let wide = -Fr::from(300);
            for _ in 0..3 {
                cs.row(&[(Fr::ONE, aux(0)), (Fr::ONE, aux(count - 1))], &[(Fr::ONE, aux(count / 2))]);
                cs.row(&[(wide, aux(0)), (wide, aux(count - 1))], &[(wide, aux(count / 3))]);
            }
        }
    });
    made(|cs| {
        for (turn, step) in [1, 255, 256, 4095, 4096, 1, 5000].into_iter().enumerate() {
            let inputs: Vec<Variable> = (0..step).map(|i| cs.input(value(i + turn))).collect();
            cs.row(&[(Fr::ONE, inputs[0]), (Fr::from(3), inputs[step / 2])], &[(-Fr::ONE, inputs[step - 1])]);
            cs.row(&[(Fr::ONE, one())], &[(Fr::ONE, one())]);
        }
    });
}

#[test]
fn runs_of_doubling_coefficients_over_bits_and_elements() {
    for stride in [1, 2, 3] {
        for wide in [0, 1, 7] {
            check(|| {
                Made(move |cs: &mut dyn Make| {
                    let value = |i: usize| {
                        if wide != 0 && i.is_multiple_of(wide) {
                            -Fr::from(9)
                        } else {
                            Fr::from(i as u64 % 2)
                        }
                    };
                    let all: Vec<Variable> = (0..700).map(|i| cs.aux(value(i))).collect();
                    for length in [1, 2, 31, 32, 33, 62, 63, 64, 65, 130] {
                        let power = |i: usize| Fr::from(2).pow_vartime([i as u64 + 3]);
                        let run: Vec<_> = (0..length).map(|i| (power(i), all[300 + i * stride])).collect();
                        cs.row(&run, &run[length / 2..]);
                        // At the very end: windows reach past the last variable.
                        let last: Vec<_> =
                            (0..length).filter_map(|i| Some((power(i), *all.get(690 + i * stride)?))).collect();
                        cs.row(&last, &run[..length / 2]);
                    }
                })
            });
        }
    }
}

#[test]
fn many_rows_that_are_all_alike() {
    let constraints = made(|cs| {
        for i in 0..100_000 {
            let x = cs.aux(value(i));
            cs.row(&[(Fr::ONE, one()), (-Fr::ONE, x)], &[(Fr::ONE, x)]);
        }
    });
    assert!(constraints.bytes() < 20_000, "{} bytes", constraints.bytes());
}

#[test]
fn rows_that_keep_their_columns_and_rows_that_skip() {
    made(|cs| {
        (0..500).for_each(|i| _ = cs.aux(value(i)));
        for i in 0..130 {
            cs.row(&[(Fr::ONE, aux(7)), (Fr::from(5), aux(100 + i))], &[(Fr::ONE, aux(2 * i))]);
            if i % 3 == 0 {
                cs.row(&[(Fr::from(77), one())], &[(Fr::ONE, aux(499 - i))]);
            }
            if i % 2 == 0 {
                cs.row(&[(Fr::from(2), aux(3 * i))], &[(Fr::ONE, aux(i / 2)), (Fr::ONE, aux(i))]);
            }
        }
    });
}
