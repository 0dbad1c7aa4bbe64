//! Bases on the device, a chunk of the parameter file at a time.

use std::marker::PhantomData;

use blstrs::Fp;

use super::curve::Curve;
use crate::backend::bases::RawBases;
use crate::error::{Fault, Result};
use crate::fail;
use crate::gpu::{Buffer, Stream, View};

/// Memory for the chunks, one after another.
pub struct Chunks<'a, C: Curve> {
    stream: &'a Stream,
    raw: Buffer<u8>,
    points: Buffer<C::Affine>,
    /// The least number of a point that is none, or `u64::MAX`.
    bad: Buffer<u64>,
    curve: PhantomData<C>,
}

impl<'a, C: Curve> Chunks<'a, C> {
    /// For chunks of at most `most` points.
    ///
    /// # Errors
    /// The device's: no memory.
    pub fn new(stream: &'a Stream, most: usize) -> Result<Self> {
        let mut bad = stream.buffer("the number of a base that is none", 1)?;
        stream.upload("the number of a base that is none", bad.view_mut(), &[u64::MAX])?;
        let raw = stream.buffer("bases as in the file", most * C::BYTES)?;
        Ok(Self { stream, raw, points: stream.buffer("bases", most)?, bad, curve: PhantomData })
    }

    /// Enqueues the conversion of `bases`, the first of which has the number `first`; they take the last chunk's place.
    ///
    /// # Errors
    /// The device's failure.
    pub fn convert<const SIZE: usize>(
        &mut self,
        bases: RawBases<'_, SIZE>,
        first: usize,
    ) -> Result<View<'_, C::Affine>> {
        const { assert!(SIZE == C::BYTES) };
        let (count, bytes) = (bases.len(), bases.bytes().len());
        self.stream.upload("bases as in the file", self.raw.view_mut().slice(0..bytes), bases.bytes())?;
        let points = self.points.view_mut().slice(0..count);
        C::convert(self.stream, self.raw.view().slice(0..bytes), points, first as u64, self.bad.view_mut())?;
        Ok(self.points.view().slice(0..count))
    }

    /// Waits for all conversions, which were of these bases.
    ///
    /// # Errors
    /// [`Fault::Parameters`]: the bytes of one of the bases are no point's. [`Fault::Device`]: the device says so of bytes that are; its
    /// failure.
    pub fn check<const SIZE: usize>(&self, bases: RawBases<'_, SIZE>) -> Result<()> {
        let mut bad = [0];
        self.stream.download("the number of a base that is none", self.bad.view(), &mut bad)?;
        let (of, number) = (bases.len(), bad[0]);
        if number != u64::MAX && usize::try_from(number).is_ok_and(|i| i >= of || has_coordinates(bases.point(i))) {
            fail!(
                Fault::Device,
                "the device says that base {number} of {of}, counted from 0, is no {} point, and on the CPU it has a point's bytes: it \
                 computes wrongly, or its memory changes; do not prove on it: see `cuzk devices --self-test`, and `nvidia-smi -q` for memory \
                 errors",
                C::NAME
            );
        }
        if number != u64::MAX {
            fail!(
                Fault::Parameters,
                "base {} of {of}, counted from 0: its {} bytes are no uncompressed {} point: a coordinate is not below the modulus, \
                 or its flags are wrong; `cuzk params check` finds which file is damaged",
                number,
                C::BYTES,
                C::NAME
            );
        }
        Ok(())
    }
}

/// Whether all coordinates are below the modulus, which leaves no flag set: what the kernels ask for.
fn has_coordinates(bytes: &[u8]) -> bool {
    let is_below = |chunk: &[u8]| chunk.try_into().is_ok_and(|bytes| bool::from(Fp::from_bytes_be(bytes).is_some()));
    bytes.chunks(48).all(is_below)
}
