//! The PoRep generators against the circuit: equal to its own assignment, value by value; and what they refuse.

mod compare;
mod equal;
mod malformed;
