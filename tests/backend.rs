//! One generic test that every backend of the host passes, and what compares two of them.

#[path = "backend/dual.rs"]
mod dual;
#[path = "backend/properties.rs"]
mod properties;

use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::reference::Reference;
use properties::*;

#[test]
fn cpu_sums() {
    sums_equal_reference(&CpuBackend::default(), &LENGTHS);
    sums_equal_reference(&PortableCpu::default(), &LENGTHS);
}

#[test]
fn sums_at_once() {
    sums_at_once_are_the_sums(&Reference, &AT_ONCE);
    sums_at_once_are_the_sums(&CpuBackend::default(), &AT_ONCE);
    sums_at_once_are_the_sums(&PortableCpu::default(), &AT_ONCE);
}

#[test]
fn sums_of_variables() {
    sums_of_variables_are_right(&Reference, &LENGTHS);
    sums_of_variables_are_right(&CpuBackend::default(), &LENGTHS);
    sums_of_variables_are_right(&PortableCpu::default(), &LENGTHS);
}

#[test]
fn cpu_quotients() {
    quotients_equal_reference(&CpuBackend::default(), &ROWS);
    quotients_equal_reference(&PortableCpu::default(), &ROWS);
}

#[test]
fn cpu_quotients_in_lanes() {
    quotients_equal_each_other(&CpuBackend::default(), &PortableCpu::default());
}

#[test]
fn cpu_quotients_of_compact_rows() {
    quotients_of_compact_rows_are_the_same(&CpuBackend::default());
    quotients_of_compact_rows_are_the_same(&PortableCpu::default());
}

#[test]
fn cpu_long_quotients() {
    long_quotients_divide(&CpuBackend::default());
    long_quotients_divide(&PortableCpu::default());
}

#[test]
fn cpu_long_g1_sums() {
    long_g1_sums_are_right(&CpuBackend::default());
    long_g1_sums_are_right(&PortableCpu::default());
}

#[test]
fn cpu_long_g2_sums() {
    long_g2_sums_are_right(&CpuBackend::default());
}

#[test]
fn cpu_errors() {
    unequal_lengths_are_errors(&CpuBackend::default());
}
