//! Flags to validated options; the only reader of flags and environment; exit codes.
