//! The dual backend: agrees with backends that agree, and names the operation and both where they differ.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use cuzk::backend::bases::{G1Bases, G2Bases};
use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::{dual::Dual, memory::Lent, scalars::Scalars, Backend};
use cuzk::constraints::Rows;
use cuzk::error::{Fault, Result};
use ff::Field;
use group::Group;

use crate::properties::{
    quotients_equal_reference, sums_at_once_are_the_sums, sums_of_variables_are_right, AT_ONCE, LENGTHS, ROWS,
};

/// Is wrong by one in each result: in the last coefficient, and by one generator.
#[derive(Default)]
struct Wrong(CpuBackend);

impl Backend for Wrong {
    fn name(&self) -> String {
        "wrong".into()
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        let mut h = self.0.quotient(a, b)?;
        if let Some(last) = h.last_mut() {
            *last += Fr::ONE;
        }
        Ok(h)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        Ok(self.0.sum_g1(bases, scalars)? + G1Projective::generator())
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        Ok(self.0.sum_g2(bases, scalars)? + G2Projective::generator())
    }
}

#[test]
fn what_agrees_is_answered() {
    let dual = Dual::new(CpuBackend::default(), PortableCpu::default());
    quotients_equal_reference(&dual, &ROWS);
    sums_at_once_are_the_sums(&dual, &AT_ONCE);
    sums_of_variables_are_right(&dual, &LENGTHS);
    assert!(dual.name().contains(" compared with cpu (") && dual.name().ends_with("portable)"), "{}", dual.name());
    assert!(dual.host_bytes(1000, 1) > CpuBackend::default().host_bytes(1000, 1));
}

#[test]
fn a_difference_names_the_operation_the_place_and_both_backends() {
    let dual = Dual::new(CpuBackend::default(), Wrong::default());
    let (x, y) = (vec![Fr::ONE; 5], vec![Fr::from(3); 5]);
    let g1 = G1Affine::from(G1Projective::generator()).to_uncompressed();
    let g2 = G2Affine::from(G2Projective::generator()).to_uncompressed();
    let scalars = [Scalars::Elements(&[Fr::ONE])];
    let errors = [
        (dual.quotient(&x, &y).unwrap_err(), "the quotient on cpu (", "coefficient 6 of 7"),
        (
            dual.sum_g1(G1Bases::new(&g1).unwrap(), &scalars).unwrap_err(),
            "sums over 1 bases in G1 on cpu (",
            "sum 0 of 1",
        ),
        (
            dual.sum_g2(G2Bases::new(&g2).unwrap(), &scalars).unwrap_err(),
            "sums over 1 bases in G2 on cpu (",
            "sum 0 of 1",
        ),
    ];
    for (error, operation, place) in errors {
        assert_eq!(error.fault(), Fault::Device);
        let text = error.to_string();
        assert!(
            text.starts_with(operation) && text.contains("and on wrong differ: ") && text.contains(place),
            "{text}"
        );
    }
}
