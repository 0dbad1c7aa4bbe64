//! Registered seal proof types: their names, sector sizes and features.

use filecoin_proofs_api::ApiFeature;

use super::SealProof;
use crate::{
    error::{Fault, Result},
    fail,
};

use SealProof::*;

/// Bytes of every sector size in use, smallest first.
pub const SECTOR_SIZES: [u64; 5] = [1 << 11, 1 << 23, 1 << 29, 1 << 35, 1 << 36];

/// The proof types that can be proved: V1, V1_1 and synthetic, each for every sector size, in the order of their ids.
pub const SUPPORTED: [SealProof; 15] = [
    StackedDrg2KiBV1,
    StackedDrg8MiBV1,
    StackedDrg512MiBV1,
    StackedDrg32GiBV1,
    StackedDrg64GiBV1,
    StackedDrg2KiBV1_1,
    StackedDrg8MiBV1_1,
    StackedDrg512MiBV1_1,
    StackedDrg32GiBV1_1,
    StackedDrg64GiBV1_1,
    StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
    StackedDrg8MiBV1_1_Feat_SyntheticPoRep,
    StackedDrg512MiBV1_1_Feat_SyntheticPoRep,
    StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
    StackedDrg64GiBV1_1_Feat_SyntheticPoRep,
];

/// Non-interactive proof types: recognised, and refused.
pub const NON_INTERACTIVE: [SealProof; 5] = [
    StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
    StackedDrg8MiBV1_2_Feat_NonInteractivePoRep,
    StackedDrg512MiBV1_2_Feat_NonInteractivePoRep,
    StackedDrg32GiBV1_2_Feat_NonInteractivePoRep,
    StackedDrg64GiBV1_2_Feat_NonInteractivePoRep,
];

/// The name filecoin-proofs-api serializes, e.g. `StackedDrg32GiBV1_1`.
pub fn proof_name(proof: SealProof) -> String {
    format!("{proof:?}")
}

/// Reads such a name.
///
/// # Errors
/// `fault` for an unknown name and for a non-interactive proof type.
pub fn parse_proof(name: &str, fault: Fault) -> Result<SealProof> {
    if let Some(proof) = SUPPORTED.iter().find(|p| proof_name(**p) == name) {
        return Ok(*proof);
    }
    if NON_INTERACTIVE.iter().any(|p| proof_name(*p) == name) {
        fail!(fault, "{}", non_interactive_message(name));
    }
    let names: Vec<String> = SUPPORTED.iter().map(|p| proof_name(*p)).collect();
    fail!(fault, "unknown registered seal proof `{name}`; known are {}", names.join(", "))
}

pub(super) fn non_interactive_message(name: &str) -> String {
    format!("{name} is a non-interactive PoRep, which cuzk does not prove yet; interactive and synthetic types are supported")
}

/// Does the proof type draw its challenges from a synthetic set, which depends on comm_r?
pub fn is_synthetic(proof: SealProof) -> bool {
    proof.feature_enabled(ApiFeature::SyntheticPoRep)
}

/// Does the proof type derive its challenges without a seed from the chain?
pub fn is_non_interactive(proof: SealProof) -> bool {
    proof.feature_enabled(ApiFeature::NonInteractivePoRep)
}

/// Bytes of a sector of this proof type.
pub fn sector_bytes(proof: SealProof) -> u64 {
    proof.sector_size().into()
}

/// The key of the vanilla proofs in filecoin-proofs-api's JSON: the V1 name, whatever the version.
pub fn vanilla_key(proof: SealProof) -> String {
    format!("StackedDrg{}V1", sector_size_name(sector_bytes(proof)))
}

/// `2KiB`, `8MiB`, `512MiB`, `32GiB`, `64GiB`; bytes for anything else.
pub fn sector_size_name(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes >> shift > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes} bytes")
}

/// The proof type meant by a bare sector size: V1_1, which every network of today uses.
///
/// # Errors
/// [`Fault::Usage`] for a size that no proof type has.
pub fn default_proof(bytes: u64) -> Result<SealProof> {
    match SUPPORTED[5..10].iter().copied().find(|p| sector_bytes(*p) == bytes) {
        Some(proof) => Ok(proof),
        None => fail!(Fault::Usage, "no proof type has sectors of {bytes} bytes"),
    }
}

/// The supported proof types of one sector size: V1, V1_1, synthetic.
pub fn proofs_of_size(bytes: u64) -> Vec<SealProof> {
    SUPPORTED.iter().copied().filter(|p| sector_bytes(*p) == bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_serde() {
        for proof in SUPPORTED.into_iter().chain(NON_INTERACTIVE) {
            assert_eq!(serde_json::to_string(&proof).unwrap(), format!("\"{}\"", proof_name(proof)));
        }
        for proof in SUPPORTED {
            assert_eq!(parse_proof(&proof_name(proof), Fault::Usage).unwrap(), proof);
        }
        for (i, proof) in SUPPORTED.into_iter().chain(NON_INTERACTIVE).enumerate() {
            let name = proof_name(proof);
            assert_eq!(is_synthetic(proof), (10..15).contains(&i), "{name}");
            assert_eq!(is_non_interactive(proof), i >= 15, "{name}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        let e = parse_proof("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", Fault::Usage).unwrap_err();
        assert!(e.to_string().contains("non-interactive"), "{e}");
        let e = parse_proof("StackedDrg2KiBV2", Fault::Input).unwrap_err();
        assert_eq!(e.fault(), Fault::Input);
        assert!(e.to_string().contains("StackedDrg2KiBV1_1"), "{e}");
    }

    #[test]
    fn sector_sizes_have_proof_types() {
        for bytes in SECTOR_SIZES {
            assert_eq!(sector_bytes(default_proof(bytes).unwrap()), bytes);
            assert_eq!(proofs_of_size(bytes).len(), 3);
        }
        assert!(default_proof(1 << 12).is_err());
        assert_eq!(sector_size_name(1000), "1000 bytes");
    }
}
