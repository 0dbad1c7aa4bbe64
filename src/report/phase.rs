//! The phases that a proof's wall time is split into.

use super::Unit;

/// The phases of a proof, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Read,
    Check,
    Parameters,
    WitnessCheck,
    Circuit,
    Synthesis,
    Evaluation,
    Quotient,
    SumH,
    SumL,
    SumA,
    SumBG1,
    SumBG2,
    /// What the simulator does in place of the phases from the evaluation on.
    Simulation,
    Assembly,
    Verification,
    Write,
}

impl Phase {
    /// All phases, in the order of the table; `ALL[p as usize] == p`.
    pub const ALL: [Phase; 17] = [
        Phase::Read,
        Phase::Check,
        Phase::Parameters,
        Phase::WitnessCheck,
        Phase::Circuit,
        Phase::Synthesis,
        Phase::Evaluation,
        Phase::Quotient,
        Phase::SumH,
        Phase::SumL,
        Phase::SumA,
        Phase::SumBG1,
        Phase::SumBG2,
        Phase::Simulation,
        Phase::Assembly,
        Phase::Verification,
        Phase::Write,
    ];

    /// The name in the table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Read => "read",
            Phase::Check => "check",
            Phase::Parameters => "parameters",
            Phase::WitnessCheck => "check_witness",
            Phase::Circuit => "circuit",
            Phase::Synthesis => "synthesis",
            Phase::Evaluation => "evaluation",
            Phase::Quotient => "quotient",
            Phase::SumH => "sum_h",
            Phase::SumL => "sum_l",
            Phase::SumA => "sum_a",
            Phase::SumBG1 => "sum_b_g1",
            Phase::SumBG2 => "sum_b_g2",
            Phase::Simulation => "simulation",
            Phase::Assembly => "assembly",
            Phase::Verification => "verification",
            Phase::Write => "write",
        }
    }

    /// What the phase's items are.
    pub fn unit(self) -> Unit {
        match self {
            Phase::Read | Phase::Parameters | Phase::Write => Unit::Bytes,
            Phase::Check => Unit::Challenges,
            Phase::Circuit | Phase::Simulation => Unit::Partitions,
            Phase::Synthesis => Unit::Variables,
            Phase::WitnessCheck | Phase::Evaluation => Unit::Constraints,
            Phase::Quotient => Unit::Rows,
            Phase::SumH | Phase::SumL | Phase::SumA | Phase::SumBG1 | Phase::SumBG2 => Unit::Bases,
            Phase::Assembly | Phase::Verification => Unit::Proofs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_indexed_by_the_phase_and_names_are_distinct() {
        for (i, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, i);
        }
        let mut names: Vec<_> = Phase::ALL.iter().map(|p| p.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Phase::ALL.len());
    }
}
