//! C1 files of every format read back, and every kind of bad file refused with a message that names the place.

use base64::{engine::general_purpose::STANDARD, Engine};
use cuzk::{
    c1::{describe, read, sample, write, Format, ReadOptions, SampleOptions, C1},
    circuit::{raw, PoRep, SealProof, VanillaProofs},
    error::{Error, Fault},
};
use serde_json::{json, Value};

fn fabricated() -> C1 {
    sample(SealProof::StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap()
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn refused(bytes: &[u8], options: &ReadOptions, parts: &[&str]) -> Error {
    let e = read("x.json", bytes, options).err().unwrap_or_else(|| panic!("read, expected {parts:?}"));
    assert_eq!(e.fault(), Fault::Input, "{e}");
    assert!(e.to_string().starts_with("x.json: "), "{e}");
    for part in parts {
        assert!(e.to_string().contains(part), "`{part}` is not in: {e}");
    }
    e
}

/// The sample's JSON, changed.
fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&write(&fabricated(), Format::Json).unwrap()).unwrap();
    change(&mut value);
    serde_json::to_vec(&value).unwrap()
}

fn challenge(value: &mut Value) -> &mut Value {
    &mut value["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]
}

/// The sample with its raw proofs changed, as bincode: reaches what JSON of the right types reaches, and more cheaply.
fn refused_raw(change: impl FnOnce(&mut raw::ChallengeProof), parts: &[&str]) {
    let c1 = fabricated();
    let mut proofs = c1.vanilla.to_raw().unwrap();
    change(&mut proofs[0][1]);
    let s = &c1.statement;
    let bytes = bincode::serialize(&(proofs, s.comm_r, s.comm_d, s.replica_id, s.seed, s.ticket)).unwrap();
    let options = ReadOptions { proof: Some(s.proof), ..options() };
    refused(&bytes, &options, &[&["partition 0, challenge 1"], parts].concat());
}

#[test]
fn every_format_reads_back_equal() {
    let c1 = fabricated();
    let raw = c1.vanilla.to_raw().unwrap();
    for format in Format::ALL {
        let bytes = write(&c1, format).unwrap();
        let back = read("x", &bytes, &options()).unwrap();
        assert_eq!(back.format, format);
        assert_eq!(back.statement, c1.statement, "{format:?}");
        assert_eq!(back.vanilla.to_raw().unwrap(), raw);
        let knows = (format == Format::ProofShare, matches!(format, Format::Wrapper | Format::ProofShare));
        assert_eq!((back.miner.is_some(), back.sector.is_some()), knows);
        let known = ReadOptions { miner: Some(1000), sector: Some(1), ..options() };
        assert_eq!(write(&read("x", &bytes, &known).unwrap(), format).unwrap(), bytes);
    }
}

#[test]
fn bytes_are_those_of_filecoin_proofs() {
    let c1 = fabricated();
    let bytes = write(&c1, Format::Json).unwrap();
    let theirs: filecoin_proofs_api::seal::SealCommitPhase1Output = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(serde_json::to_vec(&theirs).unwrap(), bytes);

    use filecoin_proofs::{constants::SectorShapeBase, types::SealCommitPhase1Output};
    let bytes = write(&c1, Format::Bincode).unwrap();
    let theirs: SealCommitPhase1Output<SectorShapeBase> = bincode::deserialize(&bytes).unwrap();
    assert_eq!(bincode::serialize(&theirs).unwrap(), bytes);
}

#[test]
fn fields_are_found_by_name_and_base64_tolerantly() {
    // serde_json's Value sorts the keys: another order than filecoin-proofs'
    let sorted = changed(|_| ());
    assert_ne!(sorted, write(&fabricated(), Format::Json).unwrap());
    let back = read("x", &sorted, &options()).unwrap();
    assert_eq!(back.statement, fabricated().statement);
    let text = STANDARD.encode(&sorted).replace('+', "-").replace('/', "_");
    let lines: Vec<&str> =
        text.trim_end_matches('=').as_bytes().chunks(76).map(|c| std::str::from_utf8(c).unwrap()).collect();
    let wrapper = json!({"SectorSize": 2048, "SectorNum": 1, "Phase1Out": lines.join("\n")});
    let back = read("x", serde_json::to_vec_pretty(&wrapper).unwrap(), &options()).unwrap();
    assert_eq!((back.format, back.sector, back.miner), (Format::Wrapper, Some(1), None));
}

#[test]
fn sectors_are_checked_and_must_not_contradict() {
    let c1 = fabricated();
    let bytes = write(&c1, Format::Json).unwrap();
    let known = |miner, sector| ReadOptions { miner: Some(miner), sector: Some(sector), ..options() };
    read("x", &bytes, &known(1000, 1)).unwrap();
    refused(&bytes, &known(1001, 1), &["replica_id", "f01001", "sector 1"]);
    refused(&bytes, &known(1000, 2), &["replica_id", "sector 2"]);
    let share = write(&c1, Format::ProofShare).unwrap();
    refused(&share, &known(1001, 1), &["miner", "f01000", "f01001"]);
    refused(&share, &known(1000, 7), &["sector", "7"]);
    let other = ReadOptions { proof: Some(SealProof::StackedDrg2KiBV1), ..options() };
    refused(&share, &other, &["StackedDrg2KiBV1_1", "options say StackedDrg2KiBV1"]);
    let wrapper = |size: u64| {
        serde_json::to_vec(&json!({"SectorSize": size, "SectorNum": 1, "Phase1Out": STANDARD.encode(&bytes)})).unwrap()
    };
    read("x", wrapper(2048), &options()).unwrap();
    refused(&wrapper(34359738368), &options(), &["SectorSize", "32GiB", "StackedDrg2KiBV1_1"]);
    refused(
        br#"{"SectorNum": 1, "SectorSize": 2048, "Phase1Out": "AAAA"}"#,
        &options(),
        &["Phase1Out", "no JSON object"],
    );
    refused(br#"{"SectorNum": 1, "SectorSize": 2048, "Phase1Out": "A*"}"#, &options(), &["Phase1Out", "base64"]);
    refused(br#"{"SectorNum": 1, "Phase1Out": ""}"#, &options(), &["missing field `SectorSize`"]);
}

#[test]
fn writing_needs_the_sector_the_format_names() {
    let mut c1 = fabricated();
    c1.miner = None;
    assert!(write(&c1, Format::Wrapper).is_ok());
    assert_eq!(write(&c1, Format::ProofShare).unwrap_err().fault(), Fault::Usage);
    c1.sector = None;
    assert_eq!(write(&c1, Format::Wrapper).unwrap_err().fault(), Fault::Usage);
}

#[test]
fn bincode_tells_its_proof_type_by_graph_and_replica_id() {
    for proof in [SealProof::StackedDrg2KiBV1, SealProof::StackedDrg2KiBV1_1] {
        let c1 = sample(proof, &SampleOptions::default()).unwrap();
        let bytes = write(&c1, Format::Bincode).unwrap();
        assert_eq!(read("x", &bytes, &options()).unwrap().statement.proof, proof);
        let known = ReadOptions { miner: Some(1000), sector: Some(1), ..options() };
        assert_eq!(read("x", &bytes, &known).unwrap().statement.proof, proof);
        let wrong = ReadOptions { miner: Some(1000), sector: Some(2), ..options() };
        refused(&bytes, &wrong, &["--registered-proof", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep"]);
    }
    // another seed: other challenges, so nothing fits
    let c1 = fabricated();
    let mut bytes = write(&c1, Format::Bincode).unwrap();
    let seed = bytes.len() - 64;
    bytes[seed] ^= 1;
    refused(&bytes, &options(), &["--registered-proof"]);
    let proof = Some(c1.statement.proof);
    let back = read("x", &bytes, &ReadOptions { proof, ..options() }).unwrap();
    assert!(PoRep::new(back.statement.proof).unwrap().check_vanilla(&back.statement, &back.vanilla).is_err());
    let proof = Some(SealProof::StackedDrg32GiBV1_1);
    refused(
        &write(&c1, Format::Bincode).unwrap(),
        &ReadOptions { proof, ..options() },
        &["partitions: 1, expected 10"],
    );
}

#[test]
fn bad_bincode_is_refused() {
    let bytes = write(&fabricated(), Format::Bincode).unwrap();
    refused(&bytes[..bytes.len() - 1], &options(), &["cut off", &format!("of {} bytes", bytes.len() - 1)]);
    refused(&bytes[..1000], &options(), &["byte 1000"]);
    refused(&[&bytes[..], b"xy"].concat(), &options(), &[&format!("byte {}", bytes.len()), "2 bytes follow"]);
    // a length that claims more than the file holds
    let mut huge = bytes.clone();
    huge[8..16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    refused(&huge, &options(), &["byte 16", "not the bincode", "at most 18"]);
    let mut variant = bytes.clone();
    variant[16] = 9;
    refused(&variant, &options(), &["byte 20", "variant"]);
    let thirteen: Vec<raw::ChallengeProof> = fabricated().vanilla.to_raw().unwrap().remove(0);
    let partitions = vec![thirteen; 13];
    let all = bincode::serialize(&(partitions, [1u8; 32], [1u8; 32], [1u8; 32], [1u8; 32], [1u8; 32])).unwrap();
    refused(&all, &options(), &["non-interactive"]);
}

#[test]
fn bad_json_is_refused_with_path_and_offset() {
    let bytes = write(&fabricated(), Format::Json).unwrap();
    refused(&bytes[..5000], &options(), &["byte 4999", "vanilla_proofs.StackedDrg2KiBV1[0][0]", "cut off"]);
    refused(&[&bytes[..], b"{}"].concat(), &options(), &[&format!("byte {}", bytes.len()), "trailing"]);
    let text = String::from_utf8(bytes).unwrap();
    let twice = text.replacen("\"comm_r\"", "\"comm_d\"", 1);
    refused(twice.as_bytes(), &options(), &["duplicate field `comm_d`"]);
    let byte = text.replacen("\"labeling_proofs\":[{\"parents\":[[", "\"labeling_proofs\":[{\"parents\":[[2", 1);
    assert_ne!(byte, text);
    let offset = byte.find("\"labeling_proofs\"").unwrap();
    let e = refused(byte.as_bytes(), &options(), &["[0][0].labeling_proofs[0].parents[0][0]", "expected u8"]);
    let at: usize = e.to_string().split("byte ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert!((offset..offset + 50).contains(&at), "{at} is not near {offset}");

    let unknown = changed(|v| challenge(v)["comm_d_proofs"]["extra"] = json!(1));
    refused(&unknown, &options(), &["unknown field `extra`", "[0][1].comm_d_proofs.extra"]);
    let missing = changed(|v| drop(challenge(v)["encoding_proof"].as_object_mut().unwrap().remove("node")));
    refused(&missing, &options(), &["missing field `node`", "[0][1].encoding_proof"]);
    let missing = changed(|v| drop(v.as_object_mut().unwrap().remove("seed")));
    refused(&missing, &options(), &["missing field `seed`"]);
    let short = changed(|v| drop(v["seed"].as_array_mut().unwrap().pop()));
    refused(&short, &options(), &["seed", "length 31"]);
    let second = changed(|v| v["vanilla_proofs"]["StackedDrg8MiBV1"] = json!([]));
    refused(&second, &options(), &["second key `StackedDrg8MiBV1`"]);
    let none = changed(|v| v["vanilla_proofs"] = json!({}));
    refused(&none, &options(), &["vanilla_proofs", "no vanilla proofs"]);
}

#[test]
fn proof_types_are_checked() {
    let named = |name: &str| changed(|v| v["registered_proof"] = json!(name));
    refused(&named("StackedDrg9KiBV1"), &options(), &["registered_proof", "unknown", "StackedDrg2KiBV1_1"]);
    refused(&named("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"), &options(), &["non-interactive"]);
    refused(&named("StackedDrg8MiBV1_1"), &options(), &["vanilla_proofs", "`StackedDrg2KiBV1`", "`StackedDrg8MiBV1`"]);
    let bad_key = changed(|v| {
        let proofs = v["vanilla_proofs"]["StackedDrg2KiBV1"].take();
        v["vanilla_proofs"] = json!({ "StackedDrg2KiBV1_1": proofs });
    });
    refused(&bad_key, &options(), &["vanilla_proofs", "`StackedDrg2KiBV1_1`"]);
    // a larger synthetic type: right key, wrong shape
    let larger = changed(|v| {
        v["registered_proof"] = json!("StackedDrg32GiBV1_1_Feat_SyntheticPoRep");
        let proofs = v["vanilla_proofs"]["StackedDrg2KiBV1"].take();
        v["vanilla_proofs"] = json!({ "StackedDrg32GiBV1": proofs });
    });
    refused(&larger, &options(), &["partitions: 1, expected 10"]);
}

#[test]
fn statements_are_checked() {
    for field in ["comm_r", "comm_d", "seed"] {
        refused(&changed(|v| v[field] = json!(vec![0u8; 32])), &options(), &[field, "all zero"]);
    }
    for field in ["comm_r", "comm_d", "replica_id"] {
        refused(&changed(|v| v[field] = json!(vec![255u8; 32])), &options(), &[field, "modulus"]);
    }
    for field in ["comm_d", "replica_id"] {
        refused(&changed(|v| v[field][31] = json!(0x40)), &options(), &[field, "top two bits"]);
    }
    // a ticket may be anything: only replica_id follows from it
    read("x", changed(|v| v["ticket"] = json!(vec![0u8; 32])), &options()).unwrap();
}

#[test]
fn counts_and_lengths_are_checked() {
    refused(
        &changed(|v| v["vanilla_proofs"]["StackedDrg2KiBV1"] = json!([])),
        &options(),
        &["partitions: 0, expected 1"],
    );
    let fewer = changed(|v| drop(v["vanilla_proofs"]["StackedDrg2KiBV1"][0].as_array_mut().unwrap().pop()));
    refused(&fewer, &options(), &["partition 0", "challenges: 1, expected 2"]);
    refused_raw(
        |p| drop(single(&mut p.comm_d_proofs).pop()),
        &["comm_d_proofs.data.Single.path, levels: 5, expected 6"],
    );
    refused_raw(|p| drop(single(&mut p.comm_r_last_proof).pop()), &["comm_r_last_proof", "levels: 1, expected 2"]);
    refused_raw(
        |p| assert!(single(&mut p.comm_r_last_proof)[1].hashes.pop().is_some()),
        &["comm_r_last_proof.data.Single.path.path[1], sibling hashes: 6, expected 7"],
    );
    refused_raw(|p| single(&mut p.comm_r_last_proof)[0].index = 8, &["path[0].index is 8, expected one below 8"]);
    refused_raw(|p| single(&mut p.comm_d_proofs)[3].index = u64::MAX, &["comm_d_proofs", "path[3].index"]);
    let columns = |p: &mut raw::ChallengeProof| p.replica_column_proofs.clone();
    refused_raw(|p| drop(p.replica_column_proofs.drg_parents.pop()), &["drg_parents: 5, expected 6"]);
    refused_raw(|p| drop(p.replica_column_proofs.exp_parents.pop()), &["exp_parents: 7, expected 8"]);
    refused_raw(|p| p.replica_column_proofs.exp_parents = columns(p).drg_parents, &["exp_parents: 6, expected 8"]);
    refused_raw(
        |p| assert!(p.replica_column_proofs.c_x.column.rows.pop().is_some()),
        &["c_x.column.rows: 1, expected 2"],
    );
    refused_raw(|p| drop(p.labeling_proofs.pop()), &["labeling_proofs: 1, expected 2"]);
    refused_raw(
        |p| assert!(p.labeling_proofs[1].parents.pop().is_some()),
        &["labeling_proofs[1].parents: 36, expected 37"],
    );
    refused_raw(|p| p.encoding_proof.parents.clear(), &["encoding_proof.parents: 0, expected 37"]);
    refused_raw(
        |p| {
            let raw::PathData::Single(path) = p.comm_r_last_proof.data.clone() else { unreachable!() };
            let raw::SingleProof { root, leaf, path } = path;
            let sub = raw::SubProof { base_proof: path.clone(), sub_proof: path, root, leaf };
            p.comm_r_last_proof.data = raw::PathData::Sub(sub);
        },
        &["comm_r_last_proof.data is a Sub proof, expected Single"],
    );
}

/// A list that no proof type has as long ends reading where it becomes too long, in either encoding.
#[test]
fn lists_longer_than_any_legal_one_end_reading() {
    type List = fn(&mut Value) -> &mut Value;
    let lists: [(List, &str, usize); 10] = [
        (|v| &mut v["vanilla_proofs"]["StackedDrg2KiBV1"], "StackedDrg2KiBV1", 126),
        (|v| &mut v["vanilla_proofs"]["StackedDrg2KiBV1"][0], "StackedDrg2KiBV1[0]", 18),
        (|v| &mut challenge(v)["comm_d_proofs"]["data"]["Single"]["path"]["path"], "Single.path.path", 31),
        (|v| &mut challenge(v)["comm_d_proofs"]["data"]["Single"]["path"]["path"][2]["hashes"], "path[2].hashes", 7),
        (|v| &mut challenge(v)["replica_column_proofs"]["drg_parents"], "drg_parents", 6),
        (|v| &mut challenge(v)["replica_column_proofs"]["exp_parents"], "exp_parents", 8),
        (|v| &mut challenge(v)["replica_column_proofs"]["c_x"]["column"]["rows"], "c_x.column.rows", 11),
        (|v| &mut challenge(v)["labeling_proofs"], "labeling_proofs", 11),
        (|v| &mut challenge(v)["labeling_proofs"][1]["parents"], "labeling_proofs[1].parents", 37),
        (|v| &mut challenge(v)["encoding_proof"]["parents"], "encoding_proof.parents", 37),
    ];
    for (list, field, limit) in lists {
        let longer = |length: usize| {
            changed(|v| {
                let elements = list(v).as_array_mut().unwrap();
                elements.resize(length, elements[0].clone());
            })
        };
        // Read to its end, and refused for another reason or for none.
        if let Err(e) = read("x", longer(limit), &options()) {
            assert!(!e.to_string().contains("a list of more"), "{field}: {e}");
        }
        let expected = format!("a list of more than {limit} elements");
        refused(&longer(limit + 1), &options(), &[&format!("{field}[{limit}]"), &expected]);
    }
    let longer = |proof: &mut raw::ChallengeProof| proof.labeling_proofs[1].parents.resize(38, [0; 32]);
    let c1 = fabricated();
    let mut proofs = c1.vanilla.to_raw().unwrap();
    longer(&mut proofs[0][1]);
    let s = &c1.statement;
    let bytes = bincode::serialize(&(proofs, s.comm_r, s.comm_d, s.replica_id, s.seed, s.ticket)).unwrap();
    refused(&bytes, &options(), &["not the bincode", "a list of 38 elements, expected at most 37"]);
}

#[test]
fn repetitions_are_checked() {
    refused_raw(|p| p.labeling_proofs[1].layer_index = 1, &["labeling_proofs[1].layer_index is 1, expected 2"]);
    refused_raw(|p| p.labeling_proofs[0].node ^= 1, &["labeling_proofs[0].node"]);
    refused_raw(|p| p.encoding_proof.node ^= 1, &["encoding_proof.node"]);
    refused_raw(|p| p.encoding_proof.parents[36][0] ^= 1, &["encoding_proof.parents[36]", "column.rows["]);
    refused_raw(|p| p.replica_column_proofs.drg_parents[2].column.index ^= 1, &["drg_parents[2]: column.index"]);
    refused_raw(|p| single(&mut p.comm_d_proofs)[0].index ^= 1, &["comm_d_proofs leads from leaf"]);
    refused_raw(|p| single(&mut p.comm_r_last_proof)[0].index ^= 1, &["comm_r_last_proof leads from leaf"]);
}

#[test]
fn nodes_outside_the_field_are_refused() {
    let outside = [0xff; 32];
    refused_raw(
        |p| single(&mut p.comm_d_proofs)[2].hashes[0] = outside,
        &["comm_d_proofs", "path[2].hashes[0]", "modulus"],
    );
    refused_raw(
        |p| single(&mut p.comm_r_last_proof)[1].hashes[6] = outside,
        &["comm_r_last_proof", "path[1].hashes[6]"],
    );
    refused_raw(
        |p| p.replica_column_proofs.exp_parents[7].column.rows[1] = outside,
        &["exp_parents[7].column.rows[1]"],
    );
    refused_raw(
        |p| {
            let raw::PathData::Single(path) = &mut p.replica_column_proofs.c_x.inclusion_proof.data else {
                unreachable!()
            };
            path.leaf = outside;
        },
        &["c_x.inclusion_proof, leaf", "modulus"],
    );
}

#[test]
fn descriptions_tell_what_is_in_a_file() {
    let c1 = fabricated();
    let facts = describe(&c1).unwrap();
    assert_eq!((facts.partitions, facts.challenges_per_partition, facts.layers), (1, 2, 2));
    assert_eq!((facts.sector_size.as_str(), facts.miner.as_deref(), facts.sector), ("2KiB", Some("f01000"), Some(1)));
    assert!(facts.replica_id_checked);
    assert!(facts
        .parameters
        .starts_with("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"));
    let bare = read("x", write(&c1, Format::Json).unwrap(), &options()).unwrap();
    let facts = describe(&bare).unwrap();
    assert!(!facts.replica_id_checked);
    assert!(facts.rows().iter().any(|(label, value)| *label == "sector" && value == "not known"));
}

#[test]
fn vanilla_proofs_of_another_shape_are_refused() {
    let c1 = fabricated();
    let porep = PoRep::new(SealProof::StackedDrg32GiBV1_1).unwrap();
    assert_eq!(porep.check_vanilla(&c1.statement, &c1.vanilla).unwrap_err().fault(), Fault::Input);
    assert!(porep.circuit(&c1.statement, &c1.vanilla, 0).is_err());
    assert!(VanillaProofs::from_raw(SealProof::StackedDrg32GiBV1_1, c1.vanilla.to_raw().unwrap()).is_err());
}

fn single(proof: &mut raw::MerkleProof) -> &mut Vec<raw::PathElement> {
    let raw::PathData::Single(path) = &mut proof.data else { panic!("2 KiB paths are single") };
    &mut path.path.path
}
