//! What an ACK tells the sender's law.

use super::load::Load;
use crate::quantities::Span;

/// What an ACK tells the sender's law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Feedback {
    /// Nothing explicit.
    #[default]
    None,
    /// Was congestion experienced? `Codec::Ecn` repeats it until the sender has answered;
    /// `Codec::AccurateEcn`, `Codec::L4s` and `Codec::Price` say it of each packet.
    Ecn {
        /// The echoed bit.
        congested: bool,
    },
    /// The load region of the most loaded hop.
    Load(Load),
    /// The change of window that the routers allow.
    Xcp {
        /// In bytes, a packet; negative to slow down.
        delta_bytes: f64,
    },
    /// The load of the most loaded hop and how long it measured.
    Mlcp {
        /// The level ([`Levels`](super::mlcp::Levels)); 0 if no hop has said any.
        code: u32,
        /// The measurement interval t_p.
        interval: Span,
    },
    /// The receiver's estimate of the load factor of the most loaded hop.
    Adpm {
        /// H of it ([`Map`](super::adpm::Map)), if the ACK says any.
        estimate: Option<f64>,
        /// Did the packet bear (11)?
        congested: bool,
    },
    /// The least rate of the path's links.
    Rate {
        /// In bytes a second.
        rate: f64,
        /// The control interval in which its router computed it; it repeats within one, and is 0 if no
        /// router has written.
        interval: u32,
    },
}
