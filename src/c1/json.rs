//! The three JSON formats. Fields are found by name, in any order; unknown, doubled and missing ones are errors.

use std::fmt;

use base64::{
    alphabet,
    engine::{general_purpose::NO_PAD, GeneralPurpose},
    Engine,
};
use serde::{
    de::{DeserializeOwned, Error as _, MapAccess, Visitor},
    Deserialize, Deserializer,
};

use super::{
    place::{byte_offset, field_path},
    SectorId,
};
use crate::{
    circuit::{
        proof_type::{parse_proof, proof_name, sector_bytes, sector_size_name, vanilla_key},
        raw::{Node, Proofs},
        SealProof,
    },
    error::{Fault, OrFault, Result},
    fail,
};

const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD);

/// JSON of filecoin-proofs-api `SealCommitPhase1Output`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    registered_proof: String,
    vanilla_proofs: KeyedProofs,
    pub comm_r: Node,
    pub comm_d: Node,
    pub replica_id: Node,
    pub seed: Node,
    pub ticket: Node,
}

/// The vanilla proofs under their one key.
struct KeyedProofs {
    key: String,
    proofs: Proofs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Wrapper {
    sector_num: u64,
    #[serde(rename = "Phase1Out")]
    phase1_out: String,
    sector_size: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofShare {
    #[serde(rename = "SectorID")]
    sector_id: ShareSectorId,
    #[serde(rename = "PoRep")]
    porep: Output,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct ShareSectorId {
    miner: u64,
    number: u64,
}

impl Output {
    /// Takes the vanilla proofs out, with the proof type they and the file's name agree on.
    pub fn take_proofs(&mut self) -> Result<(SealProof, Proofs)> {
        let proof = parse_proof(&self.registered_proof, Fault::Input).map_err(|e| e.context("registered_proof"))?;
        let (key, expected) = (&self.vanilla_proofs.key, vanilla_key(proof));
        if *key != expected {
            fail!(
                Fault::Input,
                "vanilla_proofs: the key is `{key}`, but registered_proof {} asks for `{expected}`",
                proof_name(proof)
            );
        }
        Ok((proof, std::mem::take(&mut self.vanilla_proofs.proofs)))
    }
}

/// Reads a bare C1 output.
pub(super) fn output(text: &[u8]) -> Result<Output> {
    parse(text)
}

/// Reads a wrapper: the C1 output within, and the sector number beside it.
pub(super) fn wrapper(text: &[u8]) -> Result<(Output, u64)> {
    let wrapper: Wrapper = parse(text)?;
    let inner = decode_base64(&wrapper.phase1_out).map_err(|e| e.context("Phase1Out"))?;
    if inner.first() != Some(&b'{') {
        fail!(Fault::Input, "Phase1Out: its base64 decodes to {} bytes that are no JSON object", inner.len());
    }
    let output: Output = parse(&inner).map_err(|e| e.context("Phase1Out, decoded from base64"))?;
    let proof = parse_proof(&output.registered_proof, Fault::Input).map_err(|e| e.context("registered_proof"))?;
    if wrapper.sector_size != sector_bytes(proof) {
        fail!(
            Fault::Input,
            "SectorSize is {} ({}), but Phase1Out is of {}",
            wrapper.sector_size,
            sector_size_name(wrapper.sector_size),
            proof_name(proof)
        );
    }
    Ok((output, wrapper.sector_num))
}

/// Reads a proof share: the C1 output and the sector it is of.
pub(super) fn proof_share(text: &[u8]) -> Result<(Output, SectorId)> {
    let share: ProofShare = parse(text)?;
    Ok((share.porep, SectorId { miner: share.sector_id.miner, number: share.sector_id.number }))
}

/// Standard or URL alphabet, line breaks and missing padding included.
fn decode_base64(text: &str) -> Result<Vec<u8>> {
    let plain = |b: u8| match b {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let mut bytes: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).map(plain).collect();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    if padding > 2 {
        fail!(Fault::Input, "base64 ends in {padding} padding characters; at most 2 make sense");
    }
    bytes.truncate(bytes.len() - padding);
    BASE64.decode(bytes).or_fault(Fault::Input, || "not base64".into())
}

/// Parses a whole document; an error names its byte offset and the path of fields that leads there.
fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).or_else(|e| {
        let end = byte_offset(text, e.line(), e.column());
        let path = match field_path(text, end) {
            path if path.is_empty() => String::new(),
            path => format!(", {path}"),
        };
        let full = e.to_string();
        let reason = full.rfind(" at line ").map_or(full.as_str(), |at| &full[..at]);
        let hint = match reason {
            "trailing characters" => "; the JSON document ends before",
            _ if e.is_eof() => "; the file is cut off",
            _ => "",
        };
        fail!(Fault::Input, "byte {}{path}: {reason}{hint}", end.saturating_sub(1))
    })
}

impl<'de> Deserialize<'de> for KeyedProofs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct OneKey;
        impl<'de> Visitor<'de> for OneKey {
            type Value = KeyedProofs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one key, e.g. StackedDrg32GiBV1")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<KeyedProofs, A::Error> {
                let Some((key, proofs)) = map.next_entry()? else {
                    return Err(A::Error::custom("no vanilla proofs; expected one key, e.g. StackedDrg32GiBV1"));
                };
                match map.next_key::<String>()? {
                    Some(second) => Err(A::Error::custom(format!("second key `{second}`; expected `{key}` alone"))),
                    None => Ok(KeyedProofs { key, proofs }),
                }
            }
        }
        deserializer.deserialize_map(OneKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_tolerantly() {
        for text in ["+/+/QQ==", "-_-_QQ", "+/\n+/\r\nQQ=", " +/+/ QQ== "] {
            assert_eq!(decode_base64(text).unwrap(), [0xfb, 0xff, 0xbf, 0x41], "{text}");
        }
        assert!(decode_base64("").unwrap().is_empty());
        for text in ["+/+/QQ===", "Q", "QQ==QQ", "Q*Q="] {
            assert_eq!(decode_base64(text).unwrap_err().fault(), Fault::Input, "{text}");
        }
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let mut text = b"{\"vanilla_proofs\":{\"k\":".to_vec();
        text.extend(std::iter::repeat_n(b'[', 1_000_000));
        let e = output(&text).err().unwrap();
        assert!(e.to_string().contains("vanilla_proofs.k[0]"), "{e}");
    }
}
