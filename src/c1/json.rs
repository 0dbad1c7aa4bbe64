//! The three JSON formats. Fields are found by name, in any order; unknown, doubled and missing ones are errors.

use std::{borrow::Cow, fmt};

use base64::{
    alphabet,
    engine::{general_purpose::NO_PAD, GeneralPurpose},
    Engine,
};
use serde::{
    de::{Error as _, MapAccess, Visitor},
    Deserialize, Deserializer,
};

use super::{
    place::{byte_offset, field_path, string_end},
    SectorId,
};
use crate::{
    circuit::{
        limits,
        proof_type::{parse_proof, proof_name, sector_bytes, sector_size_name, vanilla_key},
        raw::{Node, Proofs},
        SealProof,
    },
    error::{Fault, OrFault, Result},
    fail,
};

const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD);
/// Bytes of base64 that are decoded at a time; a multiple of 4.
const BASE64_CHUNK: usize = 1 << 12;
/// Names and proof types are shorter; only `Phase1Out` holds more. serde repeats a text it does not expect in its message.
const MAX_TEXT_BYTES: usize = 200;

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
struct BoundedProofs(#[serde(deserialize_with = "limits::proofs")] Proofs);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Wrapper<'a> {
    sector_num: u64,
    /// The largest part of the file: borrowed from it, unless it holds escapes.
    #[serde(rename = "Phase1Out", borrow)]
    phase1_out: Cow<'a, str>,
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
pub(super) fn wrapper(text: Cow<'_, [u8]>) -> Result<(Output, u64)> {
    let Wrapper { sector_num, phase1_out, sector_size } = parse(&text)?;
    let inner = decode_base64(&phase1_out).map_err(|e| e.context("Phase1Out"))?;
    drop(phase1_out);
    drop(text);
    if inner.first() != Some(&b'{') {
        fail!(Fault::Input, "Phase1Out: its base64 decodes to {} bytes that are no JSON object", inner.len());
    }
    let output: Output = parse(&inner).map_err(|e| e.context("Phase1Out, decoded from base64"))?;
    let proof = parse_proof(&output.registered_proof, Fault::Input).map_err(|e| e.context("registered_proof"))?;
    if sector_size != sector_bytes(proof) {
        fail!(
            Fault::Input,
            "SectorSize is {sector_size} ({}), but Phase1Out is of {}",
            sector_size_name(sector_size),
            proof_name(proof)
        );
    }
    Ok((output, sector_num))
}

/// Reads a proof share: the C1 output and the sector it is of.
pub(super) fn proof_share(text: &[u8]) -> Result<(Output, SectorId)> {
    let share: ProofShare = parse(text)?;
    Ok((share.porep, SectorId { miner: share.sector_id.miner, number: share.sector_id.number }))
}

/// Standard or URL alphabet, line breaks and missing padding included; keeps no copy of the text.
fn decode_base64(text: &str) -> Result<Vec<u8>> {
    let decode = |chunk: &[u8], decoded: &mut Vec<u8>| {
        BASE64.decode_vec(chunk, decoded).or_fault(Fault::Input, || "not base64".into())
    };
    // Decoding a chunk reserves up to 3 bytes more than come of it.
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3 + 8);
    let (mut chunk, mut filled, mut padding) = ([0u8; BASE64_CHUNK], 0, 0);
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        if byte == b'=' {
            padding += 1;
            continue;
        }
        if padding > 0 {
            fail!(Fault::Input, "base64 goes on after its padding");
        }
        if filled == BASE64_CHUNK {
            decode(&chunk, &mut decoded)?;
            filled = 0;
        }
        chunk[filled] = match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        filled += 1;
    }
    if padding > 2 {
        fail!(Fault::Input, "base64 ends in {padding} padding characters; at most 2 make sense");
    }
    decode(&chunk[..filled], &mut decoded)?;
    Ok(decoded)
}

/// Parses a whole document; an error names its byte offset and the path of fields that leads there.
fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T> {
    check_texts(text)?;
    serde_json::from_slice(text).or_else(|e| {
        let end = byte_offset(text, e.line(), e.column());
        let full = e.to_string();
        let reason = full.rfind(" at line ").map_or(full.as_str(), |at| &full[..at]);
        // Of a list that is too long serde_json tells after it has tried to end it: one byte past the element.
        let element_end = end.saturating_sub(usize::from(reason.starts_with(limits::TOO_LONG)));
        let path = match field_path(text, element_end) {
            path if path.is_empty() => String::new(),
            path => format!(", {path}"),
        };
        let hint = match reason {
            "trailing characters" => "; the JSON document ends before",
            _ if e.is_eof() => "; the file is cut off",
            _ => "",
        };
        fail!(Fault::Input, "byte {}{path}: {reason}{hint}", end.saturating_sub(1))
    })
}

/// Refuses a text longer than any that belongs here, wherever it stands, but for the value of `Phase1Out`.
fn check_texts(text: &[u8]) -> Result<()> {
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|b| *b == b'"') {
        let open = at + found;
        let close = string_end(text, open + 1, text.len());
        let length = close - open - 1;
        if length > MAX_TEXT_BYTES && !is_value_of_phase1_out(&text[..open]) {
            fail!(
                Fault::Input,
                "byte {open}: a text of {length} bytes, expected at most {MAX_TEXT_BYTES}; only Phase1Out holds a longer one"
            );
        }
        at = (close + 1).min(text.len());
    }
    Ok(())
}

fn is_value_of_phase1_out(before: &[u8]) -> bool {
    let key = before.trim_ascii_end().strip_suffix(b":");
    key.is_some_and(|key| key.trim_ascii_end().ends_with(b"\"Phase1Out\""))
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
                let Some((key, BoundedProofs(proofs))) = map.next_entry()? else {
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
    fn base64_is_read_whole_at_lengths_around_a_chunk() {
        for length in (BASE64_CHUNK / 4 * 3 - 4..BASE64_CHUNK / 4 * 3 + 4).chain([0, 1, 20_000]) {
            let bytes: Vec<u8> = (0..length).map(|i| (i * i >> 3) as u8).collect();
            let text = BASE64.encode(&bytes);
            assert!(decode_base64(&text).unwrap() == bytes, "{length} bytes");
            let broken: Vec<&str> = text.as_bytes().chunks(77).map(|c| std::str::from_utf8(c).unwrap()).collect();
            assert!(decode_base64(&broken.join("\r\n")).unwrap() == bytes, "{length} bytes in lines");
        }
    }

    #[test]
    fn only_phase1_out_holds_a_long_text() {
        let long = "A".repeat(MAX_TEXT_BYTES + 1);
        for (text, at) in [
            (format!(r#"{{"registered_proof":"{long}"}}"#), 20),
            (format!(r#"{{"{long}":1}}"#), 1),
            (format!(r#"{{"vanilla_proofs":{{"\"{long}":[]"#), 19),
            (format!(r#"{{"seed":"{long}"#), 8),
        ] {
            let e = output(text.as_bytes()).err().unwrap();
            assert!(e.to_string().starts_with(&format!("byte {at}: a text of ")), "{text}: {e}");
        }
        check_texts(format!(r#"{{"Phase1Out" : "{long}", "x": "{}"}}"#, &long[1..]).as_bytes()).unwrap();
        check_texts(br#"{"a": "\\", "b": "\"}"#).unwrap();
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let mut text = b"{\"vanilla_proofs\":{\"k\":".to_vec();
        text.extend(std::iter::repeat_n(b'[', 1_000_000));
        let e = output(&text).err().unwrap();
        assert!(e.to_string().contains("vanilla_proofs.k[0]"), "{e}");
    }
}
