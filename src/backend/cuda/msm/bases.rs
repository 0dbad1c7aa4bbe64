//! Bases on the device, a chunk of the parameter file at a time.

use std::marker::PhantomData;

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

    /// Waits for all conversions.
    ///
    /// # Errors
    /// [`Fault::Parameters`]: the bytes of one of the `of` bases are no point's; the device's failure.
    pub fn check(&self, of: usize) -> Result<()> {
        let mut bad = [0];
        self.stream.download("the number of a base that is none", self.bad.view(), &mut bad)?;
        if bad != [u64::MAX] {
            fail!(
                Fault::Parameters,
                "base {} of {of}, counted from 0: its {} bytes are no uncompressed {} point: a coordinate is not below the modulus, \
                 or its flags are wrong; `cuzk params check` finds which file is damaged",
                bad[0],
                C::BYTES,
                C::NAME
            );
        }
        Ok(())
    }
}
