//! The text of kernels/ff/constants.cuh: the fields' constants from blstrs, through `ec_gpu::GpuField`.

use blstrs::{Fp, Scalar};
use ec_gpu::GpuField;

/// The whole file.
pub fn header() -> String {
    let [fr, fp] = [field::<Scalar>("Fr", "The scalar field"), field::<Fp>("Fp", "The base field")];
    format!(
        "// Constants of BLS12-381's fields on 32-bit limbs, least first. Written from blstrs through ec_gpu::GpuField, and
// compared with it, by tests/kernels.rs: do not edit (kernels/README.md says how to renew it).
#pragma once

#include <cstdint>

{fr}
{fp}"
    )
}

/// A constant's name, what it is, and its limbs.
type Constant = (&'static str, &'static str, Vec<u32>);

fn field<F: GpuField>(name: &str, what: &str) -> String {
    let constants = [
        ("modulus", "The modulus p, an integer", F::modulus()),
        ("one", "R = 2^(32 * LIMBS) modulo p: 1 in Montgomery form", F::one()),
        ("r2", "R^2 modulo p", F::r2()),
    ];
    let limbs = F::modulus().len();
    let inverse = negative_inverse(F::modulus()[0]);
    let functions: String = constants.iter().map(function).collect();
    format!(
        "// {what}.
struct {name}Constants {{
    static constexpr int LIMBS = {limbs};
    // -1/p modulo 2^32.
    static constexpr uint32_t NEGATIVE_INVERSE = {inverse:#010x};
{functions}}};
"
    )
}

/// A function of the limb's index: where that is known when compiling, the limb becomes part of an instruction.
fn function((name, what, limbs): &Constant) -> String {
    let rows: Vec<String> = limbs
        .chunks(4)
        .map(|row| {
            format!("            {},\n", row.iter().map(|w| format!("{w:#010x}")).collect::<Vec<_>>().join(", "))
        })
        .collect();
    format!(
        "
    // {what}.
    __device__ __forceinline__ static constexpr uint32_t {name}(int limb) {{
        constexpr uint32_t limbs[LIMBS] = {{
{}        }};
        return limbs[limb];
    }}
",
        rows.concat()
    )
}

/// -1/p modulo 2^32 by Newton's iteration: each step doubles the correct low bits, of which an odd p has three.
fn negative_inverse(p: u32) -> u32 {
    let inverse = (0..4).fold(p, |x, _| x.wrapping_mul(2u32.wrapping_sub(p.wrapping_mul(x))));
    assert_eq!(inverse.wrapping_mul(p), 1);
    inverse.wrapping_neg()
}
