//! Digits sorted by bucket, on the device.

use blstrs::Scalar as Fr;

use super::windows::Windows;
use crate::error::Result;
use crate::gpu::{kernels, Buffer, Shape, Stream, View};

/// Threads of a block of the kernels of this module, and the sizes that one block of msm_scan_tiles takes
/// (kernels/msm/scan.cuh).
const BLOCK: u32 = 256;
const TILE: usize = 2048;

/// Scalars on the device, and which bases they belong to.
#[derive(Clone, Copy)]
pub struct DeviceScalars<'a> {
    pub elements: View<'a, Fr>,
    /// Where scalar i is among the elements, and the number of its base; none: it is element `first + i`, and its base has number i.
    pub gathered: Option<(View<'a, u32>, View<'a, u32>)>,
    pub first: usize,
    /// The elements are 2^log_size, in bit-reversed order; 0: as they come.
    pub log_size: u32,
    pub count: usize,
}

/// Memory for sorting, used again and again.
pub struct Sorter<'a> {
    stream: &'a Stream,
    sizes: Buffer<u32>,
    /// Where each bucket begins, then the number of all entries; after the entries have been put there, where it ends.
    starts: Buffer<u64>,
    tiles: Buffer<u64>,
    entries: Buffer<u64>,
}

impl<'a> Sorter<'a> {
    /// For sums in at most `buckets` buckets, of scalars that have at most `digits` digits together.
    ///
    /// # Errors
    /// The device's: no memory.
    pub fn new(stream: &'a Stream, buckets: usize, digits: usize) -> Result<Self> {
        Ok(Self {
            stream,
            sizes: stream.buffer("sizes of buckets", buckets)?,
            starts: stream.buffer("beginnings of buckets", buckets + 1)?,
            tiles: stream.buffer("sums of sizes of buckets", buckets.div_ceil(TILE) + 1)?,
            entries: stream.buffer("digits by bucket", digits)?,
        })
    }

    /// Enqueues the sorting of all digits of these scalars. Answers the entries, and their number, which only the device knows.
    ///
    /// # Errors
    /// The device's failure.
    pub fn sort(&mut self, windows: Windows, scalars: DeviceScalars<'_>) -> Result<(View<'_, u64>, View<'_, u64>)> {
        let (stream, buckets) = (self.stream, windows.buckets());
        let DeviceScalars { elements, gathered, first, log_size, count } = scalars;
        let (places, bases) = gathered.unwrap_or((View::none(), View::none()));
        let (Windows { bits, count: windows }, first) = (windows, first as u64);
        let (shape, n, m) = (Shape::of(count, BLOCK), count as u32, buckets as u32);

        stream.zero("sizes of buckets", self.sizes.view_mut().slice(0..buckets))?;
        kernels::msm_count(stream, shape, elements, places, first, log_size, n, bits, windows, self.sizes.view_mut())?;
        let tiles = Shape::of(buckets.div_ceil(TILE) * BLOCK as usize, BLOCK);
        let (sizes, starts) = (self.sizes.view(), self.starts.view_mut());
        kernels::msm_scan_tiles(stream, tiles, sizes, starts, self.tiles.view_mut(), m)?;
        kernels::msm_scan_sums(stream, Shape::of(1, BLOCK), self.tiles.view_mut(), tiles.blocks)?;
        kernels::msm_scan_add(stream, Shape::of(buckets + 1, BLOCK), self.starts.view_mut(), self.tiles.view(), m)?;
        let (starts, entries) = (self.starts.view_mut(), self.entries.view_mut());
        kernels::msm_scatter(
            stream, shape, elements, places, bases, first, log_size, n, bits, windows, starts, entries,
        )?;
        Ok((self.entries.view(), self.starts.view().slice(buckets..buckets + 1)))
    }
}
