//! Bases as the parameter file holds them: borrowed bytes, converted where they are used.

/// Bytes of one uncompressed G1 point: x, y, canonical, big-endian.
pub const G1_BYTES: usize = 96;
/// Bytes of one uncompressed G2 point: x.c1, x.c0, y.c1, y.c0, canonical, big-endian.
pub const G2_BYTES: usize = 192;

/// A run of uncompressed points of `SIZE` bytes each. No alignment is assumed.
#[derive(Clone, Copy, Debug)]
pub struct RawBases<'a, const SIZE: usize> {
    bytes: &'a [u8],
}

/// G1 points in the parameter file's encoding.
pub type G1Bases<'a> = RawBases<'a, G1_BYTES>;
/// G2 points in the parameter file's encoding.
pub type G2Bases<'a> = RawBases<'a, G2_BYTES>;

impl<'a, const SIZE: usize> RawBases<'a, SIZE> {
    /// `None` when `bytes` is not a whole number of points.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes.len().is_multiple_of(SIZE).then_some(Self { bytes })
    }

    /// All points' encodings.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.bytes.len() / SIZE
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The encoding of point `i`.
    ///
    /// # Panics
    /// When `i` is not below `len()`.
    pub fn point(&self, i: usize) -> &'a [u8; SIZE] {
        self.bytes[i * SIZE..(i + 1) * SIZE].try_into().expect("slice of SIZE bytes")
    }

    /// Points `range`.
    ///
    /// # Panics
    /// When the range ends past `len()`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        Self { bytes: &self.bytes[range.start * SIZE..range.end * SIZE] }
    }
}
