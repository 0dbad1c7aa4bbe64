//! Quotient, sums, assembly, verification; generic over the backend.
