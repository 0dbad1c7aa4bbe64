//! Synthesis as `prove` does it: the witness natively and compact, a and b from the stored constraints.

use std::path::Path;
use std::time::Duration;

use super::clock;
use super::kinds::{Kind, Split};
use super::strategy::{Made, Run, Strategy, Subject, Synthesis};
use crate::constraints::{cache, Constraints};
use crate::error::Result;
use crate::report::Progress;
use crate::witness::porep::{Gadget, Generator};

pub struct Native {
    constraints: Constraints,
    generator: Generator,
}

impl Native {
    pub const NAME: &'static str = "cuzk";

    /// The constraints are those kept in `folder`, or taken from the circuit, and kept.
    ///
    /// # Errors
    /// Those of [`cache::load_or_build`].
    pub fn new(subject: &Subject<'_>, folder: Option<&Path>, progress: &Progress) -> Result<Self> {
        let identity = subject.porep.identity().params;
        let path = folder.map(|folder| cache::path(folder, &identity));
        let found = cache::load_or_build(path.as_deref(), &identity, || {
            progress.note("taking the constraints from the circuit: seconds, for 32 GiB and more about a minute");
            subject.porep.blank()
        })?;
        progress.note(&found.note());
        Ok(Self { constraints: found.constraints, generator: Generator::new(&subject.porep.shape())? })
    }
}

impl Strategy for Native {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn meaning(&self) -> String {
        "as `cuzk prove`: the witness natively, a bit a bit, then a and b from stored constraints; all threads share a partition"
            .into()
    }

    fn kept_bytes(&self) -> u64 {
        (self.constraints.bytes() + self.generator.layout().bytes()) as u64
    }

    fn prepare<'s>(&'s self, subject: &Subject<'s>, k: usize) -> Result<Synthesis<'s>> {
        let partition = subject.porep.partition(subject.statement, subject.vanilla, k)?;
        Ok(Box::new(move || {
            let (witness, times) = self.generator.generate_watched(&partition)?;
            let (time, rows) = clock::part(|| self.constraints.evaluate(&witness));
            let mut split = Split::default();
            split.add(Kind::Evaluation, time, 0);
            for gadget in Gadget::ALL {
                split.add(kind(gadget), times.time(gadget), times.variables(gadget));
            }
            // ONE is no gadget's; the other inputs are not told apart.
            split.add(Kind::Rest, Duration::ZERO, witness.inputs().len() as u64 - 1);
            Ok(Run { split, made: Made::Compact(Box::new(witness), Box::new(rows?)) })
        }))
    }
}

fn kind(gadget: Gadget) -> Kind {
    match gadget {
        Gadget::Labels => Kind::Labels,
        Gadget::TreeD => Kind::TreeD,
        Gadget::Columns => Kind::Columns,
        Gadget::Paths => Kind::Paths,
        Gadget::Rest => Kind::Rest,
    }
}
