//! Proof files: a JSON document about the proof, or the bare proof as raw bytes, hex or base64.

use std::path::{Path, PathBuf};

use base64::prelude::{Engine, BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use crate::circuit::SealProof;
use crate::error::{Fault, OrFault, Result};
use crate::fail;

/// Bytes of one partition's proof: A and C compressed in G1, B in G2.
pub const PARTITION_BYTES: usize = 192;

/// No proof file is larger: a document about ten partitions takes 5 KB.
pub const MAX_BYTES: usize = 64 << 10;

const KIND: &str = "cuzk-proof";
const VERSION: u32 = 1;
const DEVELOPMENT_WARNING: &str =
    "made with development parameters: whoever made these can forge proofs; it proves nothing";

/// How a proof is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofFormat {
    Json,
    Hex,
    Raw,
    Base64,
}

impl ProofFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Json, Self::Hex, Self::Raw, Self::Base64];

    /// The last extension of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Hex => "hex",
            Self::Raw => "raw",
            Self::Base64 => "base64",
        }
    }

    /// `sector.json` to `sector.proof.json`: `.proof` and this format's extension in place of the last one.
    pub fn path_beside(self, c1: &Path) -> PathBuf {
        c1.with_extension(format!("proof.{}", self.extension()))
    }
}

/// A proof and what it is about. The proof is the partitions' proofs, 192 bytes each, in partition order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofFile {
    pub registered_proof: SealProof,
    /// Actor id, where known.
    pub miner: Option<u64>,
    pub sector: Option<u64>,
    pub comm_r: [u8; 32],
    pub comm_d: [u8; 32],
    pub proof: Vec<u8>,
    pub parameters: UsedParameters,
}

/// The parameters a proof was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedParameters {
    /// Name of the .params file, without its folder.
    pub file: String,
    /// Its digest, as filecoin-proofs' parameters.json writes it.
    pub digest: String,
    /// Development parameters: the proof proves nothing.
    pub development: bool,
}

/// The document as written; the order of the fields is the order in the file.
#[derive(Serialize, Deserialize)]
struct Document {
    kind: String,
    version: u32,
    registered_proof: SealProof,
    #[serde(skip_serializing_if = "Option::is_none")]
    miner: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sector: Option<u64>,
    comm_r: String,
    comm_d: String,
    proof: String,
    parameters: UsedParameters,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    cuzk: String,
}

/// What a proof file turned out to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Document(ProofFile),
    /// The bare proof: nothing is known about it but its bytes.
    Bare(Vec<u8>),
}

impl Found {
    /// The partitions' proofs, 192 bytes each.
    pub fn proof(&self) -> &[u8] {
        match self {
            Self::Document(file) => &file.proof,
            Self::Bare(proof) => proof,
        }
    }
}

impl ProofFile {
    /// The file's bytes in `format`; text ends with a newline.
    pub fn encode(&self, format: ProofFormat) -> Result<Vec<u8>> {
        Ok(match format {
            ProofFormat::Raw => self.proof.clone(),
            ProofFormat::Hex => format!("{}\n", hex::encode(&self.proof)).into_bytes(),
            ProofFormat::Base64 => format!("{}\n", BASE64_STANDARD.encode(&self.proof)).into_bytes(),
            ProofFormat::Json => {
                let mut text = serde_json::to_vec_pretty(&self.document())
                    .or_fault(Fault::Internal, || "writing the proof document".into())?;
                text.push(b'\n');
                text
            }
        })
    }

    fn document(&self) -> Document {
        Document {
            kind: KIND.into(),
            version: VERSION,
            registered_proof: self.registered_proof,
            miner: self.miner,
            sector: self.sector,
            comm_r: hex::encode(self.comm_r),
            comm_d: hex::encode(self.comm_d),
            proof: hex::encode(&self.proof),
            parameters: self.parameters.clone(),
            warning: self.parameters.development.then(|| DEVELOPMENT_WARNING.into()),
            cuzk: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// Reads a proof of any format; `name` stands for the file in messages. A document starts with a brace; a bare proof is
/// text of hex digits, text of the base64 alphabet, or else raw: a compressed point's first byte is no ASCII.
pub fn read(name: &str, bytes: &[u8]) -> Result<Found> {
    let text = bytes.trim_ascii();
    let found = if text.first() == Some(&b'{') {
        Found::Document(read_document(text).map_err(|e| e.context(name))?)
    } else if !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit) {
        Found::Bare(hex::decode(text).or_fault(Fault::Input, || format!("{name}: hex"))?)
    } else if !text.is_empty() && text.iter().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b)) {
        Found::Bare(BASE64_STANDARD.decode(text).or_fault(Fault::Input, || format!("{name}: base64"))?)
    } else {
        Found::Bare(bytes.to_owned())
    };
    let len = found.proof().len();
    if len == 0 || len % PARTITION_BYTES != 0 {
        fail!(
            Fault::Input,
            "{name}: expected a proof of {PARTITION_BYTES} bytes a partition (JSON document, hex, base64 or raw), got {len} bytes"
        );
    }
    Ok(found)
}

fn read_document(text: &[u8]) -> Result<ProofFile> {
    // Kind and version first: a document of another kind would otherwise be told off for a missing field.
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        kind: String,
        #[serde(default)]
        version: u32,
    }
    let head: Head = serde_json::from_slice(text).or_fault(Fault::Input, || "proof document".into())?;
    if head.kind != KIND {
        fail!(Fault::Input, "expected a proof (a document with \"kind\": \"{KIND}\"), got kind {:?}", head.kind);
    }
    if head.version != VERSION {
        fail!(Fault::Input, "expected version {VERSION} of the proof document, got {}", head.version);
    }
    let document: Document = serde_json::from_slice(text).or_fault(Fault::Input, || "proof document".into())?;
    Ok(ProofFile {
        registered_proof: document.registered_proof,
        miner: document.miner,
        sector: document.sector,
        comm_r: field_hex("comm_r", &document.comm_r)?,
        comm_d: field_hex("comm_d", &document.comm_d)?,
        proof: hex::decode(&document.proof).or_fault(Fault::Input, || "field proof: hex".into())?,
        parameters: document.parameters,
    })
}

fn field_hex(field: &str, text: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes)
        .or_fault(Fault::Input, || format!("field {field}: 64 hex digits expected"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ProofFile {
        let mut proof: Vec<u8> = (0..2 * PARTITION_BYTES).map(|i| (i * 7) as u8).collect();
        proof[0] = 0x93;
        ProofFile {
            registered_proof: SealProof::StackedDrg2KiBV1_1,
            miner: Some(1000),
            sector: None,
            comm_r: [1; 32],
            comm_d: [2; 32],
            proof,
            parameters: UsedParameters { file: "v28.params".into(), digest: "ab".into(), development: true },
        }
    }

    #[test]
    fn every_format_reads_back() {
        let example = example();
        for format in ProofFormat::ALL {
            let found = read("x", &example.encode(format).unwrap()).unwrap();
            assert_eq!(found.proof(), example.proof, "{format:?}");
            assert_eq!(matches!(found, Found::Document(_)), format == ProofFormat::Json);
        }
        assert_eq!(read("x", &example.encode(ProofFormat::Json).unwrap()).unwrap(), Found::Document(example));
    }

    #[test]
    fn development_parameters_are_named_in_the_document() {
        let text = String::from_utf8(example().encode(ProofFormat::Json).unwrap()).unwrap();
        assert!(text.contains(DEVELOPMENT_WARNING));
        let mut official = example();
        official.parameters.development = false;
        let text = String::from_utf8(official.encode(ProofFormat::Json).unwrap()).unwrap();
        assert!(!text.contains("warning"));
    }

    #[test]
    fn broken_files_say_what_was_expected() {
        let json = String::from_utf8(example().encode(ProofFormat::Json).unwrap()).unwrap();
        let cases = [
            (Vec::new(), "192 bytes a partition"),
            (vec![0x93; 191], "got 191 bytes"),
            (b"93".repeat(191), "got 191 bytes"),
            (json.replace("cuzk-proof", "other").into_bytes(), "kind \"other\""),
            (json.replace("\"version\": 1", "\"version\": 2").into_bytes(), "got 2"),
            (json.replace(&"01".repeat(32), "01").into_bytes(), "comm_r"),
            (json.replace("StackedDrg2KiBV1_1", "StackedDrg3KiBV1_1").into_bytes(), "StackedDrg3KiBV1_1"),
            (json[..json.len() / 2].into(), "EOF"),
            (b"{\"SectorNum\": 1}".to_vec(), "expected a proof"),
        ];
        for (bytes, expected) in cases {
            let error = read("x", &bytes).unwrap_err();
            assert_eq!(error.fault(), Fault::Input);
            assert!(error.to_string().starts_with("x: "), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn the_proof_lies_beside_its_c1() {
        let beside = |name: &str| ProofFormat::Json.path_beside(Path::new(name));
        assert_eq!(beside("a/x.json"), Path::new("a/x.proof.json"));
        assert_eq!(beside("s-t01000-1"), Path::new("s-t01000-1.proof.json"));
        assert_eq!(beside("x.c1.json"), Path::new("x.c1.proof.json"));
        assert_eq!(ProofFormat::Raw.path_beside(Path::new("x.json")), Path::new("x.proof.raw"));
    }
}
