//! Sums of scalars times bases on the device, by buckets of signed digits; bases whose scalar is a bit are added without.
//!
//! Bases go to the device as the parameter file has them, a chunk at a time, and are converted there. Whatever the scalars are, no
//! thread has more work than another by more than a small factor (kernels/msm/accumulate.cuh).

mod bases;
mod buckets;
pub mod curve;
mod sort;
pub mod variables;
mod windows;

use blstrs::Scalar as Fr;
use group::Group;

use crate::backend::bases::RawBases;
use crate::backend::check_lengths;
use crate::backend::scalars::Scalars;
use crate::error::{Fault, Result};
use crate::fail;
use crate::gpu::{Buffer, Stream, View};
use bases::Chunks;
use buckets::{Buckets, Scratch};
use curve::Curve;
use sort::{DeviceScalars, Sorter};
use variables::{count_elements, Piece, Pieces, VariableWord};
use windows::Windows;

/// Bases on the device at a time: in G2 400 MB in both forms, with 128 MB of sorted digits and 220 MB of partial sums, so that a
/// card of 4 GB has room; and the 2^19 buckets, which each chunk adds to, are a thirtieth of its additions.
pub const CHUNK: usize = 1 << 20;

/// Sums over the same bases that are made together: in G2 each has at most 400 MB of buckets.
pub const TOGETHER: usize = 4;

/// How elements on the device are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Element i is at i.
    Natural,
    /// Of 2^k elements, element i is where the k bits of i are reversed: what transforms leave.
    BitReversed,
}

/// The sum of each scalar times its base; the runs of scalars follow one another. Of none it is the identity.
///
/// # Errors
/// Unequal lengths; bases that are none ([`Fault::Parameters`]); the device's failures.
pub fn sum<C: Curve, const SIZE: usize>(
    stream: &Stream,
    bases: RawBases<'_, SIZE>,
    scalars: &[Scalars<'_>],
) -> Result<C::Projective> {
    Ok(sums::<C, SIZE>(stream, bases, &[scalars], CHUNK)?.swap_remove(0))
}

/// For each list of scalars the sum over the same bases, which go to the device `chunk` at a time, once for all sums that are made
/// together.
///
/// # Errors
/// As [`sum`].
///
/// # Panics
/// When `chunk` is not in 1..=2^30.
pub fn sums<C: Curve, const SIZE: usize>(
    stream: &Stream,
    bases: RawBases<'_, SIZE>,
    lists: &[&[Scalars<'_>]],
    chunk: usize,
) -> Result<Vec<C::Projective>> {
    lists.iter().try_for_each(|scalars| check_lengths(bases.len(), scalars))?;
    let mut sums = Vec::with_capacity(lists.len());
    for lists in lists.chunks(TOGETHER) {
        sums.extend(sums_together::<C, SIZE>(stream, bases, lists, chunk)?);
    }
    Ok(sums)
}

/// The sum of scalars that are on the device times their bases; elements beyond the bases count for nothing.
///
/// # Errors
/// Fewer scalars than bases, or for [`Order::BitReversed`] not a power of two of them; otherwise as [`sum`].
///
/// # Panics
/// As [`sums`].
pub fn sum_of_device<C: Curve, const SIZE: usize>(
    stream: &Stream,
    bases: RawBases<'_, SIZE>,
    scalars: View<'_, Fr>,
    order: Order,
    chunk: usize,
) -> Result<C::Projective> {
    let (count, elements) = (bases.len(), scalars.len());
    if count > elements || order == Order::BitReversed && !elements.is_power_of_two() && elements > 0 {
        fail!(Fault::Internal, "sum over {count} bases and {elements} scalars on the device, {order:?}");
    }
    if count == 0 {
        return Ok(C::Projective::identity());
    }
    let log_size = if order == Order::BitReversed { elements.ilog2() } else { 0 };
    let chunk = checked(chunk).min(count);
    let windows = Windows::for_length(count, count.div_ceil(chunk));
    let mut buckets = Buckets::<C>::new(stream, windows)?;
    let mut room = Room::new(stream, &[(windows, chunk)], 0)?;
    let mut chunks = Chunks::<C>::new(stream, chunk)?;
    for first in (0..count).step_by(chunk) {
        let bases = bases.slice(first..count.min(first + chunk));
        let points = chunks.convert(bases, first)?;
        let scalars = DeviceScalars { elements: scalars, gathered: None, first, log_size, count: bases.len() };
        buckets.add(points, scalars, &mut room.sorter, &mut room.scratch)?;
    }
    chunks.check(bases)?;
    buckets.sum()
}

fn checked(chunk: usize) -> usize {
    assert!((1..=1 << 30).contains(&chunk), "chunks of {chunk} bases");
    chunk
}

/// At most [`TOGETHER`] sums.
fn sums_together<C: Curve, const SIZE: usize>(
    stream: &Stream,
    bases: RawBases<'_, SIZE>,
    lists: &[&[Scalars<'_>]],
    chunk: usize,
) -> Result<Vec<C::Projective>> {
    let count = bases.len();
    if count == 0 {
        return Ok(vec![C::Projective::identity(); lists.len()]);
    }
    let chunk = checked(chunk).min(count);
    let windows = |elements| Windows::for_length(elements, elements.min(count.div_ceil(chunk)));
    let windows: Vec<_> = lists.iter().map(|scalars| windows(count_elements(scalars))).collect();
    let mut of_lists = Vec::with_capacity(lists.len());
    for (scalars, windows) in lists.iter().zip(&windows) {
        of_lists.push((Pieces::new(scalars), Buckets::<C>::new(stream, *windows)?));
    }
    let sizes = lists.iter().zip(&windows).map(|(scalars, windows)| (*windows, count_elements(scalars).min(chunk)));
    let mut room = Room::new(stream, &sizes.collect::<Vec<_>>(), words_at_a_time(chunk))?;
    let mut chunks = Chunks::<C>::new(stream, chunk)?;
    for first in (0..count).step_by(chunk) {
        let bases = bases.slice(first..count.min(first + chunk));
        let points = chunks.convert(bases, first)?;
        for (pieces, buckets) in &mut of_lists {
            let mut added = 0;
            while added < bases.len() {
                // The lengths were compared: there is one.
                let Some(piece) = pieces.next(bases.len() - added, words_at_a_time(chunk)) else { break };
                room.add(buckets, points.slice(added..added + piece.count()), &piece)?;
                added += piece.count();
            }
        }
    }
    chunks.check(bases)?;
    of_lists.iter().map(|(_, buckets)| buckets.sum()).collect()
}

/// Words of variables that are summed at a time: enough where one in four is selected, and their partial sums take no more memory than
/// the entries'.
fn words_at_a_time(chunk: usize) -> usize {
    (chunk / 16).max(1)
}

/// What every piece's sum uses again.
struct Room<'a, C: Curve> {
    stream: &'a Stream,
    sorter: Sorter<'a>,
    scratch: Scratch<C>,
    elements: Buffer<Fr>,
    words: Buffer<VariableWord>,
    places: Buffer<u32>,
    bases: Buffer<u32>,
}

impl<'a, C: Curve> Room<'a, C> {
    /// For pieces of elements in these windows, so many of them at a time, or of `words` words.
    fn new(stream: &'a Stream, sizes: &[(Windows, usize)], words: usize) -> Result<Self> {
        let largest = |of: fn(&(Windows, usize)) -> usize| sizes.iter().map(of).max().unwrap_or(0);
        let (buckets, most) = (largest(|(windows, _)| windows.buckets()), largest(|(_, elements)| *elements));
        let digits = largest(|(windows, elements)| windows.count as usize * elements);
        Ok(Self {
            stream,
            sorter: Sorter::new(stream, buckets, digits)?,
            scratch: Scratch::new(stream, digits, words)?,
            elements: stream.buffer("scalars", 0)?,
            words: stream.buffer("variables", words)?,
            places: stream.buffer("places of scalars", most)?,
            bases: stream.buffer("numbers of bases", most)?,
        })
    }

    /// Adds a piece's scalars times these bases.
    fn add(&mut self, buckets: &mut Buckets<'_, C>, bases: View<'_, C::Affine>, piece: &Piece<'_>) -> Result<()> {
        match piece {
            Piece::Elements(elements) => {
                self.upload(elements)?;
                let (elements, count) = (self.elements.view(), elements.len());
                let scalars = DeviceScalars { elements, gathered: None, first: 0, log_size: 0, count };
                buckets.add(bases, scalars, &mut self.sorter, &mut self.scratch)
            }
            Piece::Variables { words, elements, full, .. } => {
                self.stream.upload("variables", self.words.view_mut().slice(0..words.len()), words)?;
                let of_piece = self.words.view().slice(0..words.len());
                buckets.add_ones(bases, of_piece, &mut self.scratch)?;
                if *full == 0 {
                    return Ok(());
                }
                self.upload(elements)?;
                let of_piece = self.words.view().slice(0..words.len());
                gather(self.stream, of_piece, &mut self.places, &mut self.bases)?;
                let gathered = Some((self.places.view(), self.bases.view()));
                let scalars =
                    DeviceScalars { elements: self.elements.view(), gathered, first: 0, log_size: 0, count: *full };
                buckets.add(bases, scalars, &mut self.sorter, &mut self.scratch)
            }
        }
    }

    /// Puts elements on the device, in place of those that were there.
    fn upload(&mut self, elements: &[Fr]) -> Result<()> {
        if self.elements.len() < elements.len() {
            self.elements = self.stream.buffer("scalars", elements.len().next_power_of_two())?;
        }
        self.stream.upload("scalars", self.elements.view_mut().slice(0..elements.len()), elements)
    }
}

/// Finds the scalars among a piece's variables that are elements.
fn gather(
    stream: &Stream,
    words: View<'_, VariableWord>,
    places: &mut Buffer<u32>,
    bases: &mut Buffer<u32>,
) -> Result<()> {
    use crate::gpu::{kernels, Shape};
    let (shape, count) = (Shape::of(words.len(), 256), words.len() as u32);
    kernels::msm_gather(stream, shape, words, places.view_mut(), bases.view_mut(), count)
}
