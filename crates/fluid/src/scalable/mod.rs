//! The scalable laws: a source's loop gain, networks of links and sources, and prices that are queueing delays.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A new TCP/AQM for stable operation in fast networks", INFOCOM 2003:
//! price (5), sources (6) or (15)-(16), return ratio (12), loop gain (14), Theorems 2 and 4, Proposition 3; VI.
//! The utility is that of the packet law, [`Utility`].

pub mod linear;
pub mod network;
pub mod queueing;
pub mod source;

pub use knee_laws::senders::price::Utility;
