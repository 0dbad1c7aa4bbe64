//! Miner addresses and the replica_id that follows from miner and sector.

use crate::{
    circuit::{hash::replica_id, proof_type::proof_name, raw::Node, Statement},
    error::{Fault, Result},
    fail,
};

/// Reads a miner's address: `t01000`, `f01000`, or the actor id alone.
///
/// # Errors
/// [`Fault::Usage`] for anything else; other address protocols carry no actor id.
pub fn parse_miner(text: &str) -> Result<u64> {
    let digits = text.strip_prefix("f0").or_else(|| text.strip_prefix("t0")).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        if let Ok(id) = digits.parse() {
            return Ok(id);
        }
    }
    fail!(Fault::Usage, "`{text}` is no miner id address; expected e.g. t01000, f01000 or 1000")
}

/// prover_id of a miner: the actor id as unsigned LEB128, left-aligned in 32 bytes.
pub fn prover_id(miner: u64) -> Node {
    let mut id = [0u8; 32];
    let mut rest = miner;
    for byte in &mut id {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

/// Recomputes replica_id and compares.
pub(super) fn check_replica_id(statement: &Statement, miner: u64, sector: u64) -> Result<()> {
    let Statement { proof, ticket, comm_d, .. } = statement;
    let expected = replica_id(*proof, &prover_id(miner), sector, ticket, comm_d);
    if expected != statement.replica_id {
        fail!(
            Fault::Input,
            "replica_id: the file says {}, but miner f0{miner}, sector {sector}, the ticket, comm_d and {} make {}; check miner, \
             sector number and proof type",
            hex::encode(statement.replica_id),
            proof_name(*proof),
            hex::encode(expected)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn miners_parse() {
        for text in ["t01000", "f01000", "1000"] {
            assert_eq!(parse_miner(text).unwrap(), 1000);
        }
        assert_eq!(parse_miner("f00").unwrap(), 0);
        assert_eq!(parse_miner("18446744073709551615").unwrap(), u64::MAX);
        for text in ["", "t0", "t1abc", "-1", "+1", "18446744073709551616", "t0 1000"] {
            assert_eq!(parse_miner(text).unwrap_err().fault(), Fault::Usage, "{text}");
        }
    }

    #[test]
    fn prover_ids_are_leb128() {
        let mut expected = [0u8; 32];
        assert_eq!(prover_id(0), expected);
        expected[..2].copy_from_slice(&[0xe8, 0x07]);
        assert_eq!(prover_id(1000), expected);
        assert_eq!(prover_id(127)[..2], [0x7f, 0]);
        assert_eq!(prover_id(128)[..3], [0x80, 1, 0]);
        assert_eq!(prover_id(u64::MAX)[..11], [255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]);
    }
}
