//! One C1 output to one verified proof.
