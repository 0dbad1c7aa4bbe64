//! Sectors really sealed by filecoin-proofs, proved by us, accepted by filecoin-proofs' own `verify_seal`.
//!
//! One test, since filecoin-proofs reads its settings once in a process.

mod common;

use cuzk::c1::{self, Format, SampleData, SampleOptions};
use cuzk::circuit::SealProof;
use filecoin_proofs_api::seal::verify_seal;

#[test]
fn proofs_of_really_sealed_sectors_are_accepted_by_filecoin_proofs() {
    let folder = common::dev_params();
    std::env::set_var("FIL_PROOFS_PARAMETER_CACHE", &folder);
    let options = SampleOptions { miner: 1234, sector: 56, seed: 7, data: SampleData::Random };
    let types =
        [SealProof::StackedDrg2KiBV1, SealProof::StackedDrg2KiBV1_1, SealProof::StackedDrg2KiBV1_1_Feat_SyntheticPoRep];
    for proof_type in types {
        // Through file and binary, as a provider's C1 goes.
        let c1 = c1::sealed(proof_type, &options).unwrap();
        let place = common::Place::new();
        place.write("sealed.json", c1::write(&c1, Format::ProofShare).unwrap());
        place.run(&format!("prove sealed.json --format raw --dev-params --params {}", folder.display())).ok();
        let proof = place.read("sealed.proof.raw");

        let accepted = |seed: [u8; 32], proof: &[u8]| {
            let s = &c1.statement;
            let prover_id = c1::prover_id(options.miner);
            verify_seal(proof_type, s.comm_r, s.comm_d, prover_id, options.sector.into(), s.ticket, seed, proof)
        };
        assert!(accepted(c1.statement.seed, &proof).unwrap(), "{proof_type:?}");
        // The test can fail: another seed has other challenges, and a changed byte is no proof.
        let mut other = c1.statement.seed;
        other[0] ^= 1;
        assert!(!accepted(other, &proof).unwrap_or(false), "{proof_type:?}");
        let mut changed = proof.clone();
        changed[100] ^= 1;
        assert!(!accepted(c1.statement.seed, &changed).unwrap_or(false), "{proof_type:?}");
    }
}
