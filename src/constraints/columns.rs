//! Columns as rows name them: by distance, so that equal pieces of a circuit have equal rows wherever they stand.

use bellperson::Index;

use super::recorder::Variables;

/// From where a [`RelativeColumn`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Aux variables back from the row: 0 is the last one allocated before it.
    AuxBack,
    /// Aux variables from the first.
    Aux,
    /// Inputs back from the row.
    InputBack,
    /// Inputs from the first, which is ONE.
    Input,
}

/// A variable as seen from a row: the top two bits are the [`ColumnKind`], the rest is the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct RelativeColumn(pub(super) u32);

const KIND_SHIFT: u32 = 30;

impl RelativeColumn {
    /// Number of variables of one kind that can be told apart.
    pub const LIMIT: usize = 1 << KIND_SHIFT;
    /// The input that is one.
    pub const ONE: Self = Self::of(ColumnKind::Input, 0);

    const fn of(kind: ColumnKind, distance: u32) -> Self {
        Self((kind as u32) << KIND_SHIFT | distance)
    }

    /// The shorter way to a variable: back from the row, or from the first. ONE always counts from the first.
    ///
    /// The variable is one of those there are, and these are at most [`RelativeColumn::LIMIT`].
    #[inline]
    pub(super) fn new(variable: Index, variables: Variables) -> Self {
        let (count, index, back, first) = match variable {
            Index::Input(i) => (variables.inputs, i, ColumnKind::InputBack, ColumnKind::Input),
            Index::Aux(i) => (variables.aux, i, ColumnKind::AuxBack, ColumnKind::Aux),
        };
        let distance = count - 1 - index;
        if index < distance || variable == Index::Input(0) {
            Self::of(first, index as u32)
        } else {
            Self::of(back, distance as u32)
        }
    }

    #[inline(always)]
    pub fn kind(self) -> ColumnKind {
        match self.0 >> KIND_SHIFT {
            0 => ColumnKind::AuxBack,
            1 => ColumnKind::Aux,
            2 => ColumnKind::InputBack,
            _ => ColumnKind::Input,
        }
    }

    #[inline(always)]
    pub fn distance(self) -> usize {
        (self.0 & (Self::LIMIT as u32 - 1)) as usize
    }

    /// How many aux variables further `later` is; `None` where they do not count from the same place, or it is not later.
    pub(super) fn steps_to(self, later: Self) -> Option<usize> {
        match (self.kind(), later.kind()) {
            (ColumnKind::AuxBack, ColumnKind::AuxBack) => self.distance().checked_sub(later.distance()),
            (ColumnKind::Aux, ColumnKind::Aux) => later.distance().checked_sub(self.distance()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_is_taken_and_leads_back() {
        for count in [1, 2, 3, 8, 9, RelativeColumn::LIMIT] {
            let variables = Variables { inputs: count, aux: count };
            for i in [0, 1, count / 2, count.saturating_sub(2), count - 1].into_iter().filter(|i| *i < count) {
                for variable in [Index::Aux(i), Index::Input(i)] {
                    let column = RelativeColumn::new(variable, variables);
                    let found = match column.kind() {
                        ColumnKind::AuxBack => Index::Aux(count - 1 - column.distance()),
                        ColumnKind::Aux => Index::Aux(column.distance()),
                        ColumnKind::InputBack => Index::Input(count - 1 - column.distance()),
                        ColumnKind::Input => Index::Input(column.distance()),
                    };
                    assert_eq!(found, variable, "{i} of {count}");
                    assert!(column.distance() <= count / 2);
                }
            }
            assert_eq!(RelativeColumn::new(Index::Input(0), variables), RelativeColumn::ONE);
        }
    }

    #[test]
    fn steps_are_told_within_a_kind() {
        let column = RelativeColumn::of;
        assert_eq!(column(ColumnKind::AuxBack, 5).steps_to(column(ColumnKind::AuxBack, 3)), Some(2));
        assert_eq!(column(ColumnKind::AuxBack, 3).steps_to(column(ColumnKind::AuxBack, 5)), None);
        assert_eq!(column(ColumnKind::Aux, 3).steps_to(column(ColumnKind::Aux, 5)), Some(2));
        assert_eq!(column(ColumnKind::Aux, 3).steps_to(column(ColumnKind::AuxBack, 5)), None);
        assert_eq!(column(ColumnKind::Input, 3).steps_to(column(ColumnKind::Input, 5)), None);
    }
}
