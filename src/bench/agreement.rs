//! Whether strategies make the same.

use super::strategy::Digests;
use crate::error::{Fault, Result};
use crate::fail;

/// What strategies made, compared with what the first of them made.
pub struct Agreement {
    strategies: usize,
    first: Option<(&'static str, Vec<Digests>)>,
    /// Whether all have made a, b and c.
    rows: bool,
}

impl Agreement {
    /// Among so many strategies. One alone has nothing to agree with.
    pub fn among(strategies: usize) -> Self {
        Self { strategies, first: None, rows: true }
    }

    /// Compares what a strategy made, a partition an entry. `digests` is not called where there is nothing to compare: hashing a
    /// partition of 32 GiB takes longer than its synthesis.
    ///
    /// # Errors
    /// `Internal` where they differ.
    pub fn check(&mut self, name: &'static str, digests: impl FnOnce() -> Vec<Digests>) -> Result<()> {
        if self.strategies < 2 {
            return Ok(());
        }
        let digests = digests();
        self.rows &= digests.iter().all(|partition| partition.rows.is_some());
        match &self.first {
            None => self.first = Some((name, digests)),
            Some((first, expected)) => same((first, expected), (name, &digests))?,
        }
        Ok(())
    }

    /// What was compared, for the report.
    pub fn note(&self) -> Option<String> {
        let rows = if self.rows { "values, a, b and c" } else { "values, and those a, b and c that are made whole," };
        self.first.as_ref().map(|_| format!("Compared: the strategies' {rows} are equal."))
    }
}

fn same((a, first): (&str, &[Digests]), (b, second): (&str, &[Digests])) -> Result<()> {
    for (k, (x, y)) in first.iter().zip(second).enumerate() {
        if x.values != y.values {
            fail!(Fault::Internal, "partition {k}: {b} has other values than {a}");
        }
        if x.rows.zip(y.rows).is_some_and(|(x, y)| x != y) {
            fail!(Fault::Internal, "partition {k}: {b} has other rows than {a}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(values: u8, rows: Option<u8>) -> Vec<Digests> {
        vec![Digests { values: [values; 32], rows: rows.map(|byte| [byte; 32]) }]
    }

    fn compare(other: Vec<Digests>) -> Result<Option<String>> {
        let mut agreement = Agreement::among(2);
        agreement.check("a", || digests(1, Some(2)))?;
        agreement.check("b", || other)?;
        Ok(agreement.note())
    }

    #[test]
    fn other_results_are_noticed() {
        assert!(compare(digests(1, Some(2))).unwrap().unwrap().contains("values, a, b and c are equal"));
        // A part of the rows is not compared.
        assert!(compare(digests(1, None)).unwrap().unwrap().contains("that are made whole, are equal"));
        assert!(compare(digests(3, Some(2))).unwrap_err().to_string().contains("b has other values than a"));
        assert!(compare(digests(1, Some(3))).unwrap_err().to_string().contains("b has other rows than a"));
    }

    #[test]
    fn one_alone_is_not_hashed() {
        let mut agreement = Agreement::among(1);
        agreement.check("a", || unreachable!("there is nothing to compare with")).unwrap();
        assert_eq!(agreement.note(), None);
    }
}
