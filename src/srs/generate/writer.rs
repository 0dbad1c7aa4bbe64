//! Computes a parameter file's points and writes them as they come.

use std::io::{self, Write};
use std::mem;

use bellperson::groth16::VerifyingKey;
use blstrs::{Bls12, G1Projective, G2Projective, Scalar as Fr};
use group::Curve as _;

use super::queries::{self, Queries};
use super::toxic::ToxicWaste;
use crate::backend::cpu::curve::{G1, G2};
#[cfg(target_arch = "x86_64")]
use crate::backend::cpu::ifma;
use crate::backend::cpu::msm::{Portable, SumGroup};
use crate::constraints::R1cs;
use crate::error::{Fault, OrFault, Result};
use crate::srs::fixed_base::FixedBase;
use crate::srs::layout::Layout;
use crate::srs::progress::{Progress, Report, Stage};

/// Points computed between two writes: a tenth of a second's work, 6 MiB of G1.
const CHUNK: usize = 1 << 16;

/// Parameters about to be written.
pub struct Parameters {
    toxic: ToxicWaste,
    queries: Queries,
    h: Vec<Fr>,
}

impl Parameters {
    /// Evaluates the circuit at the secrets.
    ///
    /// # Errors
    /// Those of [`Queries::new`].
    pub fn new(r1cs: R1cs, toxic: ToxicWaste) -> Result<Self> {
        let queries = Queries::new(r1cs, &toxic)?;
        let h = queries::h(queries.domain, &toxic)?;
        Ok(Self { toxic, queries, h })
    }

    /// Where everything will be in the file.
    pub fn layout(&self) -> Layout {
        let Queries { ic, l, a, b, .. } = &self.queries;
        Layout::from_counts(ic.len(), [self.h.len(), l.len(), a.len(), b.len(), b.len()])
    }

    /// The verifying key's bytes: the .vk file, and how the .params file begins.
    pub fn verifying_key(&self) -> Result<Vec<u8>> {
        let ToxicWaste { g1, g2, alpha, beta, gamma, delta, .. } = &self.toxic;
        let vk = VerifyingKey::<Bls12> {
            alpha_g1: (g1 * alpha).to_affine(),
            beta_g1: (g1 * beta).to_affine(),
            beta_g2: (g2 * beta).to_affine(),
            gamma_g2: (g2 * gamma).to_affine(),
            delta_g1: (g1 * delta).to_affine(),
            delta_g2: (g2 * delta).to_affine(),
            ic: self.queries.ic.iter().map(|ic| (g1 * ic).to_affine()).collect(),
        };
        let mut bytes = Vec::with_capacity(self.layout().vk_range().len());
        vk.write(&mut bytes).or_fault(Fault::Internal, || "the verifying key".into())?;
        Ok(bytes)
    }

    /// Writes the whole file: the verifying key, h, l, a, b_g1, b_g2. Computes on rayon, and writes meanwhile.
    ///
    /// # Errors
    /// Those of the writer; a section of 2^32 points or more.
    pub fn write(&self, writer: impl Write + Send, report: &Report) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if ifma::is_available() {
            return self.write_by::<ifma::G1Lanes, ifma::G2Lanes>(writer, report);
        }
        self.write_by::<Portable<G1>, Portable<G2>>(writer, report)
    }

    /// The same, with these groups' additions.
    fn write_by<A, B>(&self, mut writer: impl Write + Send, report: &Report) -> Result<()>
    where
        A: SumGroup<Projective = G1Projective>,
        B: SumGroup<Projective = G2Projective>,
    {
        let key = self.verifying_key()?;
        let Queries { l, a, b, .. } = &self.queries;
        let g1_points = self.h.len() + l.len() + a.len() + b.len();
        let total = (g1_points + b.len()) as u64;
        let mut bar = Bar { done: 0, total, report };
        bar.advance(0);

        let mut write = || -> io::Result<()> {
            writer.write_all(&key)?;
            let base = FixedBase::<A>::new(&self.toxic.g1, g1_points);
            for scalars in [&self.h, l, a, b] {
                write_section(&mut writer, &base, scalars, &mut bar)?;
            }
            drop(base);
            let base = FixedBase::<B>::new(&self.toxic.g2, b.len());
            write_section(&mut writer, &base, b, &mut bar)?;
            writer.flush()
        };
        write().or_fault(Fault::Output, || "writing the parameters".into())
    }
}

/// A count and the multiples of the base.
fn write_section<G: SumGroup>(
    writer: &mut (impl Write + Send),
    base: &FixedBase<G>,
    scalars: &[Fr],
    bar: &mut Bar,
) -> io::Result<()> {
    let count =
        u32::try_from(scalars.len()).map_err(|_| io::Error::other("more points than a 32-bit count can tell"))?;
    let mut ready = count.to_be_bytes().to_vec();
    let mut next = Vec::new();
    for scalars in scalars.chunks(CHUNK) {
        next.resize(scalars.len() * FixedBase::<G>::BYTES, 0);
        let (written, ()) = rayon::join(|| writer.write_all(&ready), || base.multiply(scalars, &mut next));
        written?;
        mem::swap(&mut ready, &mut next);
        bar.advance(scalars.len() as u64);
    }
    writer.write_all(&ready)
}

struct Bar<'a> {
    done: u64,
    total: u64,
    report: &'a Report<'a>,
}

impl Bar<'_> {
    fn advance(&mut self, points: u64) {
        self.done += points;
        (self.report)(Progress::Work { stage: Stage::Generating, done: self.done, total: self.total });
    }
}
