//! The bincode of filecoin-proofs `SealCommitPhase1Output`.

use bincode::Options;
use serde::Deserialize;

use crate::{
    circuit::{
        limits,
        raw::{Node, Proofs},
    },
    error::{Fault, OrFault, Result},
    fail,
};

/// Fields in file order; the format carries no proof type.
#[derive(Deserialize)]
pub(super) struct Output {
    #[serde(deserialize_with = "limits::proofs")]
    pub vanilla_proofs: Proofs,
    pub comm_r: Node,
    pub comm_d: Node,
    pub replica_id: Node,
    pub seed: Node,
    pub ticket: Node,
}

/// Reads a whole file. Lengths within it cannot make it allocate more than the largest legal proofs take.
pub(super) fn output(bytes: &[u8]) -> Result<Output> {
    let options = bincode::DefaultOptions::new().with_fixint_encoding().with_limit(bytes.len() as u64);
    let mut rest = bytes;
    let output = options.allow_trailing_bytes().deserialize_from(&mut rest);
    let at = bytes.len() - rest.len();
    let output = match output.map_err(|error| *error) {
        // The limit is the file's length: more is announced than there is.
        Err(bincode::ErrorKind::SizeLimit) => fail!(
            Fault::Input,
            "byte {at}: the bincode of a C1 output that is cut off or damaged: of {} bytes in all, fewer are left than it says follow",
            bytes.len()
        ),
        other => other.or_fault(Fault::Input, || format!("byte {at}: not the bincode of a C1 output"))?,
    };
    if !rest.is_empty() {
        fail!(Fault::Input, "byte {at}: {} bytes follow the end of the C1 output", rest.len());
    }
    Ok(output)
}
