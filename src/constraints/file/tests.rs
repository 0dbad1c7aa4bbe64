//! Files whose checksum is right and whose content is not.

use std::sync::Arc;

use bellperson::{Circuit, ConstraintSystem, SynthesisError, Variable};
use ff::Field;

use super::*;
use crate::constraints::{Arithmetic, ColumnKind, RowValues};
use crate::witness::{CompactWitness, Layout};

/// Rows of all kinds: groups of every stride, words of bits, inputs from both ends, full coefficients; repeated.
struct Varied;

impl Circuit<Fr> for Varied {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut aux: Vec<Variable> = (0..40).map(|_| cs.alloc(|| "x", || Ok(Fr::ONE))).collect::<Result<_, _>>()?;
        for block in 0..6 {
            let input = cs.alloc_input(|| "input", || Ok(Fr::ONE))?;
            for row in 0..20 {
                aux.push(cs.alloc(|| "x", || Ok(Fr::ONE))?);
                let last = aux.len() - 1;
                let word = |lc, stride: usize| {
                    (0..8).fold(lc, |lc, i| lc + (Fr::from(1 << (i + 7)), aux[last - 20 + i * stride]))
                };
                match row {
                    0..8 => cs.enforce(|| "", |lc| lc + aux[last] - CS::one(), |lc| lc + aux[last - 2 * row], |lc| lc),
                    8..12 => cs.enforce(|| "", |lc| lc + aux[3], |lc| lc + (Fr::from(9), aux[last - 5]), |lc| lc),
                    12..14 => cs.enforce(|| "", |lc| word(lc, 1), |lc| word(lc, 2) + input, |lc| lc),
                    14..16 => cs.enforce(|| "", |lc| lc + (Fr::from(1 << 40), aux[block]), |lc| lc + input, |lc| lc),
                    _ => cs.enforce(|| "", |lc| lc, |lc| lc + aux[last - 30] + aux[row], |lc| lc),
                }
            }
        }
        Ok(())
    }
}

const IDENTITY: &str = "circuit";

fn sealed(content: &[u8]) -> Vec<u8> {
    [content, &digest(content)].concat()
}

/// Looks at every variable that evaluation would.
fn stays_inside(tables: &Tables) {
    let (aux, inputs) = (tables.aux as i64, tables.inputs as i64);
    let mut next = 0;
    let placements = tables.placements();
    let mut placements = placements.iter();
    tables.for_each_tile(&tables.instances, |placed| {
        assert_eq!(placed.row, next);
        let placement = placements.next().unwrap();
        assert_eq!((placement.row as usize, placement.aux), (placed.row, placed.aux as u32));
        assert!(placement.inputs == placed.inputs as u32 && tables.tiles[placement.tile as usize] == *placed.tile);
        next += usize::from(placed.tile.rows);
        for matrix in 0..2 {
            for group in tables.tile_groups(placed.tile, matrix) {
                for term in tables.group_terms(group) {
                    let first = i64::from(term.offset) + if term.absolute == 1 { 0 } else { placed.aux as i64 };
                    let last = first + (i64::from(group.rows.count_ones()) - 1) * i64::from(term.stride);
                    assert!(first >= 0 && last < aux);
                }
            }
            for entry in tables.tile_entries(placed.tile, matrix) {
                assert!(entry.row < placed.tile.rows);
                for term in tables.field_row(entry.field_row) {
                    let distance = term.column.distance() as i64;
                    let (first, end) = match term.column.kind() {
                        ColumnKind::AuxBack => (placed.aux as i64 + i64::from(entry.aux) - 1 - distance, aux),
                        ColumnKind::Aux => (distance, aux),
                        ColumnKind::InputBack => {
                            (placed.inputs as i64 + i64::from(entry.inputs) - 1 - distance, inputs)
                        }
                        ColumnKind::Input => (distance, inputs),
                    };
                    assert!(first >= 0 && first + ((term.length() - 1) * term.stride()) as i64 - end < 0);
                }
            }
        }
    });
    assert_eq!(next, tables.rows);
}

/// Uses constraints in every way, with a witness of bits and one of elements.
fn exercise(constraints: &Constraints) {
    let tables = constraints.tables();
    stays_inside(tables);
    if tables.aux > 100_000 || tables.inputs > 100_000 {
        return;
    }
    constraints.densities();
    let mut values = <[RowValues; 2]>::default();
    for wide in [0, u64::MAX] {
        let mut mask = vec![wide; tables.aux.div_ceil(64)];
        if let (Some(last), true) = (mask.last_mut(), !tables.aux.is_multiple_of(64)) {
            *last &= (1 << (tables.aux % 64)) - 1;
        }
        let layout = Arc::new(Layout::new(tables.aux, &mask).unwrap());
        let (bits, elements) = (mask.iter().map(|word| word & !wide).collect::<Vec<_>>(), layout.wide());
        let witness =
            CompactWitness::new(layout, vec![Fr::ONE; tables.inputs], &bits, vec![-Fr::from(3); elements]).unwrap();
        for arithmetic in [Arithmetic::Portable, Arithmetic::Avx512] {
            constraints.evaluate_into(&witness, arithmetic, &mut values).unwrap();
            let [a, b] = &values;
            assert_eq!(RowValues::product(a, b).expand().len(), tables.rows);
            let expanded = a.expand();
            assert!((0..tables.rows).all(|row| a.get(row) == expanded[row]));
        }
    }
}

#[test]
fn whatever_a_file_says_evaluation_stays_inside() {
    let constraints = Constraints::build(Varied).unwrap();
    exercise(&constraints);
    let bytes = encode(&constraints, IDENTITY);
    let content = &bytes[..bytes.len() - DIGEST];
    assert_eq!(sealed(content), bytes);
    let (mut refused, mut taken) = (0, 0);
    for place in (MAGIC.len()..content.len() - 3).step_by(4) {
        let mut forged = content.to_vec();
        let word = u32::from_le_bytes(content[place..place + 4].try_into().unwrap());
        for other in
            [0, 1, word.wrapping_add(1), word.wrapping_sub(1), word ^ 1 << 8, word ^ 1 << 16, word ^ 1 << 31, u32::MAX]
        {
            forged[place..place + 4].copy_from_slice(&other.to_le_bytes());
            match decode(&sealed(&forged), IDENTITY) {
                Ok(constraints) => {
                    exercise(&constraints);
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    // Coefficients may be others, and some variables too; most numbers may not.
    assert!(refused > 1000 && taken > 100, "{refused} refused, {taken} taken");
}

#[test]
fn lengths_that_no_file_has_are_refused_without_memory_for_them() {
    let bytes = encode(&Constraints::build(Varied).unwrap(), IDENTITY);
    let content = &bytes[..bytes.len() - DIGEST];
    for array in 0..ARRAYS {
        for length in [u64::MAX, 1 << 60, 1 << 40, 0] {
            let mut forged = content.to_vec();
            let place = HEADER - 8 * (ARRAYS - array);
            forged[place..place + 8].copy_from_slice(&length.to_le_bytes());
            decode(&sealed(&forged), IDENTITY).unwrap_err();
        }
    }
}

#[test]
fn each_kind_of_foreign_file_is_told() {
    let constraints = Constraints::build(Varied).unwrap();
    let bytes = encode(&constraints, IDENTITY);
    assert!(decode(&bytes, IDENTITY).unwrap() == constraints);
    let changed = |place: usize| {
        let mut content = bytes[..bytes.len() - DIGEST].to_vec();
        content[place] ^= 1;
        decode(&sealed(&content), IDENTITY).unwrap_err()
    };
    assert!(changed(0).contains("not a file of constraints"));
    assert!(changed(MAGIC.len()).contains("version 0, expected 1"));
    assert!(changed(MAGIC.len() + 4).contains("another circuit"));
    assert!(decode(&bytes, "other").unwrap_err().contains("another circuit"));
    let mut damaged = bytes.clone();
    damaged[HEADER] ^= 1;
    assert!(decode(&damaged, IDENTITY).unwrap_err().contains("checksum"));
    assert!(decode(&sealed(&[&bytes[..bytes.len() - DIGEST], &[0][..]].concat()), IDENTITY)
        .unwrap_err()
        .contains("too many"));
}

/// Counts what is read of it.
struct Counted<'a, R>(R, &'a std::cell::Cell<usize>);

impl<R: io::Read> io::Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.set(self.1.get() + count);
        Ok(count)
    }
}

#[test]
fn of_a_foreign_giant_nothing_but_the_header_is_read() {
    let bytes = encode(&Constraints::build(Varied).unwrap(), IDENTITY);
    let changed = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        bytes
    };
    let mut many = bytes.clone();
    many[HEADER - 8..HEADER].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let giant = bytes.len() as u64 + 16 * (1 << 40)
        - 16 * tables(&mut Reader(&bytes[COUNTS..])).unwrap().instances.len() as u64;
    for (content, length, reason) in [
        (changed(0), 3 << 30, "not a file of constraints"),
        (changed(MAGIC.len()), 3 << 30, "version 0"),
        (changed(MAGIC.len() + 4), 3 << 30, "another circuit"),
        (bytes.clone(), 3 << 30, "bytes too many"),
        (bytes.clone(), bytes.len() as u64 - 1, "it ends early"),
        (bytes.clone(), HEADER as u64, "too few"),
        (many, giant, "expected at most"),
    ] {
        let count = std::cell::Cell::new(0);
        let endless = io::Read::chain(&content[..], io::repeat(0));
        let refused = read(Counted(endless, &count), length, IDENTITY).unwrap_err();
        assert!(refused.contains(reason), "expected {reason:?} in {refused}");
        assert!(count.get() <= HEADER, "{} bytes were read: {refused}", count.get());
    }
    assert!(read(&bytes[..], bytes.len() as u64, IDENTITY).is_ok());
}
