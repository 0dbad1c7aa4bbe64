//! Telling the formats apart by content, and naming what is none of them.

use super::Format;
use crate::{
    error::{Fault, Result},
    fail,
};

/// Starts of files that are something else, with what to say about them.
const FOREIGN: &[(&[u8], &str)] = &[
    (&[0x1f, 0x8b], "gzip data; decompress it first"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd data; decompress it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (&[0xef, 0xbb, 0xbf], "text with a byte order mark; remove its first three bytes"),
    (&[0xff, 0xfe], "UTF-16 text; convert it to UTF-8 without byte order mark"),
    (&[0xfe, 0xff], "UTF-16 text; convert it to UTF-8 without byte order mark"),
    (b"version https://git-lfs", "a Git LFS pointer; fetch the file itself"),
];

/// The format of a file.
///
/// # Errors
/// [`Fault::Input`] for an empty file and for anything else that is no C1 output.
pub(super) fn detect(bytes: &[u8]) -> Result<Format> {
    if bytes.is_empty() {
        fail!(Fault::Input, "the file is empty; expected a C1 output");
    }
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        fail!(Fault::Input, "this is {what}");
    }
    // bincode starts with the number of partitions as a little-endian u64; text has no zero bytes.
    if bytes.len() >= 8 && bytes[0] != 0 && bytes[1..8] == [0; 7] {
        return Ok(Format::Bincode);
    }
    match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'{') => json_format(bytes),
        Some(b'<') => fail!(Fault::Input, "this is HTML or XML, perhaps an error page; expected a C1 output"),
        Some(b'[') => fail!(Fault::Input, "this is a JSON array; expected a JSON object with the C1 output"),
        None => fail!(Fault::Input, "the file holds nothing but white space; expected a C1 output"),
        Some(_) => fail!(
            Fault::Input,
            "neither JSON nor bincode of a C1 output: it starts with the bytes {}",
            hex::encode(&bytes[..bytes.len().min(16)])
        ),
    }
}

/// The first key decides: no two of the formats share a key.
fn json_format(bytes: &[u8]) -> Result<Format> {
    let key = first_key(bytes);
    Ok(match key.as_deref() {
        Some(
            "registered_proof" | "vanilla_proofs" | "comm_r" | "comm_d" | "replica_id" | "seed" | "ticket",
        ) => Format::Json,
        Some("SectorNum" | "Phase1Out" | "SectorSize") => Format::Wrapper,
        Some("SectorID" | "PoRep") => Format::ProofShare,
        Some("kind") => fail!(Fault::Input, "this is a proof file of cuzk; expected a C1 output"),
        Some(key) => fail!(
            Fault::Input,
            "unknown field `{key}`: expected the fields of a C1 output (registered_proof, vanilla_proofs, comm_r, comm_d, \
             replica_id, seed, ticket), of a wrapper (SectorNum, Phase1Out, SectorSize), or of a proof share (SectorID, PoRep)"
        ),
        None => Format::Json,
    })
}

/// The first key of a JSON object, where it is a plain string.
fn first_key(bytes: &[u8]) -> Option<String> {
    let open = bytes.iter().position(|b| *b == b'{')?;
    let rest = &bytes[open + 1..];
    let quote = rest.iter().position(|b| !b.is_ascii_whitespace())?;
    let rest = rest[quote..].strip_prefix(b"\"")?;
    let end = rest.iter().take(100).position(|b| *b == b'"')?;
    String::from_utf8(rest[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        assert_eq!(detect(b" {\"seed\": []}").unwrap(), Format::Json);
        assert_eq!(detect(b"{ \"Phase1Out\": \"\"}").unwrap(), Format::Wrapper);
        assert_eq!(detect(b"{\"PoRep\": {}}").unwrap(), Format::ProofShare);
        assert_eq!(detect(&[10, 0, 0, 0, 0, 0, 0, 0]).unwrap(), Format::Bincode);
    }

    #[test]
    fn other_content_is_named() {
        let cases: [(&[u8], &str); 11] = [
            (b"", "empty"),
            (b" \n", "white space"),
            (&[0x1f, 0x8b, 8, 0], "gzip"),
            (b"\xef\xbb\xbf{}", "byte order mark"),
            (b"<html>", "HTML"),
            (b"[1]", "array"),
            (b"PK\x03\x04", "zip"),
            (b"hello", "68656c6c6f"),
            (&[0; 16], "neither JSON nor bincode"),
            (b"{\"Sealed\": 1}", "`Sealed`"),
            (b"{\n  \"kind\": \"cuzk-proof\"", "a proof file"),
        ];
        for (bytes, expected) in cases {
            let e = detect(bytes).unwrap_err();
            assert_eq!(e.fault(), Fault::Input);
            assert!(e.to_string().contains(expected), "{e}");
        }
    }
}
