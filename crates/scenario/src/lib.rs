//! knee.
