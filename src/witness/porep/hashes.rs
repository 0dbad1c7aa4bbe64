//! The Poseidon hashes of a circuit: computed where they are allocated, or, where the processor has the lanes for it, beforehand
//! and eight at a time.
//!
//! A challenge's 16 paths in trees C and R are independent of each other and of one form. So two times eight of them are walked
//! level by level, and what each hash allocates is kept until its turn comes.

use blstrs::Scalar as Fr;
use ff::Field;

use super::{
    poseidon::{self, Poseidon},
    sink::Sink,
};
use crate::circuit::Level;

#[cfg(target_arch = "x86_64")]
use super::{gadget::Gadget, poseidon_lanes::PoseidonLanes};
#[cfg(target_arch = "x86_64")]
use crate::lanes;

/// Eight elements, one of each walk.
pub type Eight = [Fr; 8];

/// Poseidon of the numbers of elements that occur in a circuit.
pub struct Hashes {
    two: Poseidon<3>,
    eight: Poseidon<9>,
    /// For columns of eleven layers.
    eleven: Option<Box<Poseidon<12>>>,
    #[cfg(target_arch = "x86_64")]
    lanes: Option<Box<LaneHashes>>,
}

#[cfg(target_arch = "x86_64")]
struct LaneHashes {
    two: PoseidonLanes<3>,
    eight: PoseidonLanes<9>,
    eleven: Option<PoseidonLanes<12>>,
}

/// A walk up a tree: the leaf, or the rows whose hash it is, and the path.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Walk<'a> {
    pub leaf: Leaf<'a>,
    pub path: &'a [Level],
}

#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub enum Leaf<'a> {
    Element(Fr),
    Column(&'a [Fr]),
}

impl Hashes {
    /// For circuits of 2 or 11 layers. The lanes are taken where the processor has them and `lanes` is true.
    pub fn new(layers: usize, lanes: bool) -> Self {
        let (two, eight) = (poseidon::of_two(), poseidon::of_eight());
        let eleven = (layers == 11).then(|| Box::new(poseidon::of_eleven()));
        #[cfg(not(target_arch = "x86_64"))]
        let _ = lanes;
        #[cfg(target_arch = "x86_64")]
        let lanes = (lanes && lanes::is_available()).then(|| {
            let eleven = eleven.as_deref().map(PoseidonLanes::from);
            Box::new(LaneHashes { two: (&two).into(), eight: (&eight).into(), eleven })
        });
        Self {
            two,
            eight,
            eleven,
            #[cfg(target_arch = "x86_64")]
            lanes,
        }
    }

    /// The hash of 2, 8 or, where there are eleven layers, 11 elements. Others have none: nothing is allocated for them.
    pub fn hash(&self, inputs: &[Fr], sink: &mut impl Sink) -> Fr {
        let elements = inputs.iter().copied();
        match (inputs.len(), &self.eleven) {
            (2, _) => self.two.hash(poseidon::state(elements), sink),
            (8, _) => self.eight.hash(poseidon::state(elements), sink),
            (11, Some(eleven)) => eleven.hash(poseidon::state(elements), sink),
            _ => Fr::ZERO,
        }
    }

    /// Elements allocated by a hash of so many.
    fn elements(&self, inputs: usize) -> usize {
        match (inputs, &self.eleven) {
            (2, _) => self.two.elements(),
            (8, _) => self.eight.elements(),
            (11, Some(eleven)) => eleven.elements(),
            _ => 0,
        }
    }

    /// Whether hashes can be computed ahead.
    pub fn has_lanes(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.lanes.is_some();
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// All that eight walks of one form allocate, walk i in place i: first for the columns, then for each level. Nothing where the
    /// processor has no lanes. `layers` is the length of the columns; walks without one hash zeros there. `sink` gets no variables, and
    /// hears what is at work.
    pub fn ahead(&self, walks: &[Walk<'_>; 8], layers: usize, sink: &mut impl Sink) -> Option<Vec<Eight>> {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = &self.lanes {
            let levels = walks[0].path.iter().map(|level| self.elements(level.siblings.len() + 1));
            let mut output = vec![Eight::default(); self.elements(layers) + levels.sum::<usize>()];
            // SAFETY: `lanes` is there only if the processor has what they need.
            unsafe { lanes.walk(walks, layers, &mut output, sink) };
            return Some(output);
        }
        let _ = (walks, layers, sink);
        None
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneHashes {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn walk(&self, walks: &[Walk<'_>; 8], layers: usize, output: &mut [Eight], sink: &mut impl Sink) {
        sink.enter(Gadget::Columns);
        let mut output = output.iter_mut();
        let row = |i: usize| {
            walks.map(|walk| match walk.leaf {
                Leaf::Column(rows) => rows.get(i).copied().unwrap_or_default(),
                Leaf::Element(_) => Fr::ZERO,
            })
        };
        let rows: Vec<Eight> = (0..layers).map(row).collect();
        let mut current = self.hash(&rows, &mut output);
        for (place, walk) in current.iter_mut().zip(walks) {
            if let Leaf::Element(leaf) = walk.leaf {
                *place = leaf;
            }
        }
        sink.enter(Gadget::Paths);
        let mut children = Vec::with_capacity(8);
        for (i, level) in walks[0].path.iter().enumerate() {
            children.clear();
            children.resize(level.siblings.len() + 1, Eight::default());
            for (lane, walk) in walks.iter().enumerate() {
                if let Some(level) = walk.path.get(i) {
                    let siblings = level.siblings.iter().copied();
                    let (before, after) = (siblings.clone().take(level.position), siblings.skip(level.position));
                    let inserted = before.chain([current[lane]]).chain(after);
                    children.iter_mut().zip(inserted).for_each(|(child, element)| child[lane] = element);
                }
            }
            current = self.hash(&children, &mut output);
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn hash(&self, inputs: &[Eight], output: &mut std::slice::IterMut<'_, Eight>) -> Eight {
        match (inputs.len(), &self.eleven) {
            (2, _) => self.two.hash(inputs, output),
            (8, _) => self.eight.hash(inputs, output),
            (11, Some(eleven)) => eleven.hash(inputs, output),
            _ => Eight::default(),
        }
    }
}

/// Whence a walk's hashes come.
pub enum Source<'a> {
    Computed(&'a Hashes),
    /// What [`Hashes::ahead`] found for the walk in place `lane`, as far as it has not been taken.
    Ahead {
        hashes: &'a Hashes,
        rest: &'a [Eight],
        lane: usize,
    },
}

impl<'a> Source<'a> {
    /// The source for walk `lane`; a walk without a column leaves what there is of one.
    pub fn new(hashes: &'a Hashes, ahead: Option<&'a [Eight]>, lane: usize, skip_column: Option<usize>) -> Self {
        match ahead {
            Some(rest) => {
                let skipped = skip_column.map_or(0, |layers| hashes.elements(layers));
                Self::Ahead { hashes, rest: rest.get(skipped..).unwrap_or_default(), lane }
            }
            None => Self::Computed(hashes),
        }
    }

    /// As [`Hashes::hash`]; ahead, the inputs must be those of the walk.
    pub fn hash(&mut self, inputs: &[Fr], sink: &mut impl Sink) -> Fr {
        match self {
            Self::Computed(hashes) => hashes.hash(inputs, sink),
            Self::Ahead { hashes, rest, lane } => {
                let (own, others) = rest.split_at_checked(hashes.elements(inputs.len())).unwrap_or_default();
                *rest = others;
                sink.elements(own.iter().map(|eight| eight[*lane]));
                own.last().map_or(Fr::ZERO, |eight| eight[*lane])
            }
        }
    }
}
