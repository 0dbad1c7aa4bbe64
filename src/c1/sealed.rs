//! C1 outputs of sectors that filecoin-proofs really seals, for the sizes small enough.
//!
//! filecoin-proofs keeps a parent cache of the graph in `FIL_PROOFS_PARENT_CACHE` (/var/tmp/filecoin-parents unless set): a
//! few KiB for 2 KiB sectors, 15 MB for 8 MiB ones. Everything else goes to a temporary folder that is gone afterwards. Other
//! `FIL_PROOFS_*` settings apply as they do to any program that uses filecoin-proofs.

use std::{fs::File, io::Cursor, path::Path};

use filecoin_proofs_api::{
    seal::{
        add_piece, clear_cache, generate_synth_proofs, seal_commit_phase1, seal_pre_commit_phase1,
        seal_pre_commit_phase2, SealCommitPhase1Output, VanillaSealProof,
    },
    UnpaddedBytesAmount,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::{prover_id, Format, SampleData, SampleOptions, C1};
use crate::{
    circuit::{
        proof_type::{is_non_interactive, is_synthetic, proof_name, sector_bytes, sector_size_name},
        SealProof, Statement, VanillaProofs,
    },
    error::{Fault, OrFault, Result},
    fail,
    files::TemporaryFolder,
};

/// The largest sector that is sealed here.
const MAX_SECTOR_BYTES: u64 = 8 << 20;

/// Seals a sector of 2 KiB or 8 MiB and returns its C1 output; same options, same output. Unlike in a fabricated sector, random data
/// does not repeat.
///
/// 2 KiB takes a second. A synthetic sector of 8 MiB has as many synthetic challenges as nodes, 262,144, and filecoin-proofs makes
/// and verifies a vanilla proof of each: expect half an hour of CPU time and 19 GB of memory.
///
/// # Errors
/// [`Fault::Usage`] for larger sectors and non-interactive proof types; [`Fault::Internal`] where filecoin-proofs fails, as
/// on a full disk.
pub fn sealed(proof: SealProof, options: &SampleOptions) -> Result<C1> {
    let bytes = sector_bytes(proof);
    if bytes > MAX_SECTOR_BYTES || is_non_interactive(proof) {
        fail!(
            Fault::Usage,
            "only interactive and synthetic sectors of 2KiB and 8MiB are really sealed, {} is of {}; without `--sealed` larger ones \
             can be fabricated (not synthetic ones)",
            proof_name(proof),
            sector_size_name(bytes)
        );
    }
    let folder = TemporaryFolder::create().or_fault(Fault::Output, || "a temporary folder to seal in".into())?;
    let output = seal(proof, options, folder.path())
        .or_fault(Fault::Internal, || format!("sealing a {} sector", sector_size_name(bytes)))?;
    let mut replica_id = [0; 32];
    replica_id.copy_from_slice(output.replica_id.as_ref());
    let SealCommitPhase1Output { comm_r, comm_d, seed, ticket, vanilla_proofs, .. } = output;
    let vanilla = match vanilla_proofs {
        VanillaSealProof::StackedDrg2KiBV1(p) | VanillaSealProof::StackedDrg8MiBV1(p) => VanillaProofs::Base(p),
        _ => fail!(Fault::Internal, "filecoin-proofs returned vanilla proofs of another sector size"),
    };
    let statement = Statement { proof, comm_r, comm_d, replica_id, seed, ticket };
    Ok(C1 { statement, vanilla, format: Format::Json, miner: Some(options.miner), sector: Some(options.sector) })
}

/// The steps of a storage provider, in `folder`.
fn seal(proof: SealProof, options: &SampleOptions, folder: &Path) -> anyhow::Result<SealCommitPhase1Output> {
    let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
    let (mut ticket, mut seed) = ([0u8; 32], [0u8; 32]);
    for value in [&mut ticket, &mut seed] {
        rng.fill_bytes(value);
        value[31] &= 0x3f;
    }
    // 254 of 256 bits of a sector are data
    let mut data = vec![0u8; (sector_bytes(proof) / 128 * 127) as usize];
    if options.data == SampleData::Random {
        rng.fill_bytes(&mut data);
    }
    let (cache, staged, replica) = (folder.join("cache"), folder.join("staged"), folder.join("sealed"));
    std::fs::create_dir(&cache)?;
    File::create(&replica)?;
    let size = UnpaddedBytesAmount(data.len() as u64);
    let (piece, _) = add_piece(proof, Cursor::new(data), File::create(&staged)?, size, &[])?;
    let (pieces, prover, sector) = ([piece], prover_id(options.miner), options.sector.into());
    let labels = seal_pre_commit_phase1(proof, &cache, &staged, &replica, prover, sector, ticket, &pieces)?;
    let commitments = seal_pre_commit_phase2(labels, &cache, &replica)?;
    if is_synthetic(proof) {
        generate_synth_proofs(&cache, &replica, prover, sector, ticket, commitments.clone(), &pieces)?;
        clear_cache(&cache)?;
    }
    seal_commit_phase1(&cache, &replica, prover, sector, ticket, seed, commitments, &pieces)
}
