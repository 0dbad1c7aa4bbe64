//! What this processor has beyond the baseline of its architecture, and whether that is used.
//!
//! All of our own detection at run time is here, so that one setting, made once when the program starts, takes everything to the
//! portable code: who suspects a processor, or wants to know what its instructions are worth, does without them. What libraries
//! detect for themselves stays as it is: ADX in blst, SHA extensions in sha2.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Fault, Result};
use crate::fail;

/// Which arithmetic is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The widest that this processor has.
    #[default]
    Auto,
    /// That of every processor.
    Scalar,
    /// Lanes of AVX-512 IFMA, and no run without them.
    Ifma,
}

/// The arithmetic of sums, transforms and hashes, and why it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Ifma,
    /// Portable: nothing else is wanted.
    Scalar,
    /// Portable: this processor has nothing else.
    Lacking,
}

/// Whether only what every processor has is used.
static PORTABLE_ONLY: AtomicBool = AtomicBool::new(false);

fn portable_only() -> bool {
    PORTABLE_ONLY.load(Ordering::Relaxed)
}

/// Whether this processor, and the system for it, has all of some features, by the compiler's names. The standard library remembers
/// the answers.
macro_rules! detected {
    ($($feature:tt),+) => {{
        #[cfg(target_arch = "x86_64")]
        let all = $(std::arch::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(target_arch = "x86_64"))]
        let all = false;
        all
    }};
}

/// Settles which instructions are used from now on; to be called before any work.
///
/// # Errors
/// `Usage`: lanes are wanted and this processor has none; with what it lacks.
pub fn choose(wanted: Wanted) -> Result<()> {
    if wanted == Wanted::Ifma {
        require([("avx512f", detected!("avx512f")), ("avx512ifma", detected!("avx512ifma"))])?;
    }
    PORTABLE_ONLY.store(wanted == Wanted::Scalar, Ordering::Relaxed);
    Ok(())
}

/// What the lanes need, and whether it is there.
fn require(features: [(&str, bool); 2]) -> Result<()> {
    let missing: Vec<_> = features.into_iter().filter(|(_, has)| !has).map(|(name, _)| name).collect();
    if !missing.is_empty() {
        fail!(
            Fault::Usage,
            "CUZK_CPU=ifma: this CPU lacks {}; unset CUZK_CPU to prove with what it has",
            missing.join(" and ")
        );
    }
    Ok(())
}

/// The arithmetic that is used.
pub fn arithmetic() -> Arithmetic {
    match (has_ifma(), portable_only()) {
        (true, _) => Arithmetic::Ifma,
        (false, true) => Arithmetic::Scalar,
        (false, false) => Arithmetic::Lacking,
    }
}

impl Arithmetic {
    /// One word, as CUZK_CPU has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ifma => "ifma",
            Self::Scalar | Self::Lacking => "scalar",
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ifma => "AVX-512 IFMA",
            Self::Scalar => "portable: CUZK_CPU=scalar",
            Self::Lacking => "portable: this CPU has no AVX-512 IFMA",
        })
    }
}

/// Whether blst multiplies with ADX: by the bit that it looks at itself, and whatever is wanted here. It is built with its feature
/// `portable`, so that it has the code of both kinds of processors.
pub fn blst_has_adx() -> bool {
    detected!("adx")
}

/// What the lanes need.
#[inline]
pub fn has_ifma() -> bool {
    detected!("avx512f", "avx512ifma") && !portable_only()
}

/// What rows of constraints are added with, 64 at a time.
pub fn has_avx512_bytes() -> bool {
    detected!("avx512f", "avx512bw", "bmi1", "bmi2", "adx", "popcnt", "lzcnt") && !portable_only()
}

/// Permutations of bits.
#[inline]
pub fn has_bmi2() -> bool {
    detected!("bmi1", "bmi2") && !portable_only()
}

/// A multiplication that leaves the flags alone, and two chains of carries.
#[inline]
pub fn has_adx() -> bool {
    detected!("bmi2", "adx") && !portable_only()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_are_wanted_and_missing_are_named() {
        require([("a", true), ("b", true)]).unwrap();
        for (has, what) in
            [([false, true], "lacks a;"), ([true, false], "lacks b;"), ([false, false], "lacks a and b;")]
        {
            let error = require([("a", has[0]), ("b", has[1])]).unwrap_err();
            assert_eq!(error.fault(), Fault::Usage);
            assert!(error.to_string().contains(what), "{error}");
        }
    }

    /// Without it, blst's build looks at the building machine and may leave out what others need.
    #[test]
    fn blst_is_built_for_every_processor() {
        let blst = include_str!("../Cargo.toml").lines().find(|line| line.starts_with("blst = "));
        assert!(blst.is_some_and(|line| line.contains("features = [\"portable\"]")), "{blst:?}");
    }
}
