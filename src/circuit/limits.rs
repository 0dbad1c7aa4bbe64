//! The largest counts that vanilla proofs of any registered seal proof have, and lists that end there.
//!
//! A file may claim, or spell out, millions of empty lists. Deserialization stops at the first element too many, so what is
//! kept of a file is never much more than the largest legal vanilla proofs: some 300 MB.

use std::{fmt, marker::PhantomData};

use serde::{
    de::{Error, SeqAccess, Visitor},
    Deserialize, Deserializer,
};

use super::raw::{ChallengeProof, Proofs};

/// Partitions of a non-interactive 32 GiB or 64 GiB sector; interactive ones have 10.
pub const PARTITIONS: usize = 126;
/// Challenges of one partition.
pub const CHALLENGES: usize = 18;
/// Layers of labels.
pub const LAYERS: usize = 11;
/// Levels of a path: those of tree D of a 64 GiB sector.
pub const LEVELS: usize = 31;
/// Siblings on one level: those of arity 8.
pub const SIBLINGS: usize = 7;
/// Parents of a node within its layer.
pub const DRG_PARENTS: usize = 6;
/// Parents of a node in the layer before.
pub const EXP_PARENTS: usize = 8;

/// How the message begins where a list goes on after its limit.
pub const TOO_LONG: &str = "a list of more than";

/// Reads a list of at most `MAX` elements.
pub(super) fn at_most<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<T, MAX>(PhantomData))
}

/// Reads the vanilla proofs of a whole file, for `#[serde(deserialize_with)]`.
pub fn proofs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Proofs, D::Error> {
    let partitions: Vec<Partition> = at_most::<_, _, PARTITIONS>(deserializer)?;
    Ok(partitions.into_iter().map(|partition| partition.0).collect())
}

#[derive(Deserialize)]
struct Partition(#[serde(deserialize_with = "at_most::<_, _, CHALLENGES>")] Vec<ChallengeProof>);

struct Bounded<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Bounded<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        // What a format tells beforehand (bincode does) is only a claim: it is bounded before anything is reserved for it.
        let claimed = elements.size_hint().unwrap_or(0);
        if claimed > MAX {
            return Err(A::Error::custom(format_args!("a list of {claimed} elements, expected at most {MAX}")));
        }
        let mut list = Vec::with_capacity(claimed);
        while let Some(element) = elements.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::custom(format_args!("{TOO_LONG} {MAX} elements, expected at most that")));
            }
            list.push(element);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use filecoin_proofs::parameters::setup_params;

    use super::*;
    use crate::circuit::{
        hash::TOTAL_PARENTS,
        proof_type::{NON_INTERACTIVE, SUPPORTED},
        PoRep,
    };

    #[test]
    fn the_limits_are_the_largest_counts_of_any_proof_type() {
        let shapes = SUPPORTED.map(|proof| PoRep::new(proof).unwrap().shape());
        let largest = |count: fn(&crate::circuit::Shape) -> usize| shapes.iter().map(count).max().unwrap();
        assert_eq!(largest(|s| s.layers), LAYERS);
        assert_eq!(largest(|s| s.data_levels), LEVELS);
        assert_eq!((largest(|s| s.drg_parents), largest(|s| s.exp_parents)), (DRG_PARENTS, EXP_PARENTS));
        assert!(shapes.iter().all(|s| s.base_levels <= LEVELS && s.sub_arity <= 8 && s.top_arity <= 8));
        assert_eq!(TOTAL_PARENTS, 37);
        // Non-interactive files are read far enough to be recognised.
        let refused = NON_INTERACTIVE.map(|proof| {
            let challenges = setup_params(&proof.as_v1_config()).unwrap().challenges.num_challenges_per_partition();
            (usize::from(proof.partitions()), challenges)
        });
        let all = shapes.map(|s| (s.partitions, s.challenges_per_partition)).into_iter().chain(refused);
        let (partitions, challenges): (Vec<_>, Vec<_>) = all.unzip();
        assert_eq!((partitions.iter().max(), challenges.iter().max()), (Some(&PARTITIONS), Some(&CHALLENGES)));
    }

    #[test]
    fn lists_end_at_their_limit_in_json_and_bincode() {
        #[derive(Debug, Deserialize)]
        struct Three(#[serde(deserialize_with = "at_most::<_, _, 3>")] Vec<u8>);
        let json = |text: &str| serde_json::from_str::<Three>(text).map(|l| l.0).map_err(|e| e.to_string());
        assert_eq!(json("[]"), Ok(vec![]));
        assert_eq!(json("[1,2,3]"), Ok(vec![1, 2, 3]));
        // The fifth element is no number, and never looked at.
        assert_eq!(
            json("[1,2,3,4,x").unwrap_err(),
            "a list of more than 3 elements, expected at most that at line 1 column 9"
        );
        let bincode = |bytes: &[u8]| bincode::deserialize::<Three>(bytes).map(|l| l.0).map_err(|e| e.to_string());
        assert_eq!(bincode(&bincode::serialize(&vec![1u8, 2, 3]).unwrap()), Ok(vec![1, 2, 3]));
        let claimed = bincode(&u64::MAX.to_le_bytes()).unwrap_err();
        assert_eq!(claimed, format!("a list of {} elements, expected at most 3", u64::MAX));
    }
}
