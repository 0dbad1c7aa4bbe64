//! Bases as the parameter file holds them: borrowed bytes, converted where they are used, unless they are prepared for that.

/// Bytes of one uncompressed G1 point: x, y, canonical, big-endian.
pub const G1_BYTES: usize = 96;
/// Bytes of one uncompressed G2 point: x.c1, x.c0, y.c1, y.c0, canonical, big-endian.
pub const G2_BYTES: usize = 192;

/// How coordinates are prepared for the CPU's arithmetic: in Montgomery form, below p, in six little-endian words. A prepared point is x
/// and then y, of G2 each with its real coefficient first; so it takes as many bytes as in the parameter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Radix 2^384: blst's, for portable sums.
    Scalar,
    /// Radix 2^416: that of sums in lanes of AVX-512 IFMA.
    Ifma,
}

impl Form {
    /// One word, as CUZK_CPU has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Ifma => "ifma",
        }
    }

    /// The inverse of [`Form::word`].
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Scalar, Self::Ifma].into_iter().find(|form| form.word() == word)
    }
}

/// A run of uncompressed points of `SIZE` bytes each, and perhaps the same points prepared. No alignment is assumed.
#[derive(Clone, Copy, Debug)]
pub struct RawBases<'a, const SIZE: usize> {
    bytes: &'a [u8],
    prepared: Option<(Form, &'a [[u8; SIZE]])>,
}

/// G1 points in the parameter file's encoding.
pub type G1Bases<'a> = RawBases<'a, G1_BYTES>;
/// G2 points in the parameter file's encoding.
pub type G2Bases<'a> = RawBases<'a, G2_BYTES>;

impl<'a, const SIZE: usize> RawBases<'a, SIZE> {
    /// `None` when `bytes` is not a whole number of points.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes.len().is_multiple_of(SIZE).then_some(Self { bytes, prepared: None })
    }

    /// The same points, which are also in `prepared`, in that form. `None` when those are not as many.
    pub fn with_prepared(self, form: Form, prepared: &'a [u8]) -> Option<Self> {
        let points = prepared.as_chunks().0;
        (prepared.len() == self.bytes.len()).then_some(Self { prepared: Some((form, points)), ..self })
    }

    /// All points in that form, where they are prepared in it.
    pub fn prepared(&self, form: Form) -> Option<&'a [[u8; SIZE]]> {
        self.prepared.filter(|(of, _)| *of == form).map(|(_, points)| points)
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
        let prepared = self.prepared.map(|(form, points)| (form, &points[range.clone()]));
        Self { bytes: &self.bytes[range.start * SIZE..range.end * SIZE], prepared }
    }
}
