//! The scalable laws (paganini2003): one link, one source's loop gain, networks, and queueing delays as prices.

mod network;
mod queueing;
mod source;

pub(crate) use network::Routes;
pub(crate) use queueing::Queue;
pub(crate) use source::{Course, Frequencies, Margins, OneSource, Prices, Rest};
