//! Recorded R1CS.
