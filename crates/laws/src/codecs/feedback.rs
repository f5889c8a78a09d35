//! Feedback, as a sender's law sees it.

use super::load::Load;
use crate::quantities::Span;

/// The feedback of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Feedback {
    /// No explicit feedback.
    #[default]
    None,
    /// ECN. With `Codec::Ecn` a mark is repeated until the sender has answered it; with `Codec::AccurateEcn`,
    /// `Codec::L4s` and `Codec::Price` it is that of each packet.
    Ecn {
        /// The echoed bit.
        congested: bool,
    },
    /// The load region of the most loaded hop.
    Load(Load),
    /// The change of window that the routers allow.
    Xcp {
        /// In bytes, for the acknowledged packet; negative to slow down.
        delta_bytes: f64,
    },
    /// The load of the most loaded hop, and the interval over which it was measured.
    Mlcp {
        /// The level ([`Levels`](super::mlcp::Levels)); 0 if no hop has written one.
        code: u32,
        /// The measurement interval t_p.
        interval: Span,
    },
    /// The receiver's estimate of the load factor of the most loaded hop.
    Adpm {
        /// H of it ([`Map`](super::adpm::Map)), if the ACK carries one.
        estimate: Option<f64>,
        /// Was the packet marked (11)?
        congested: bool,
    },
    /// The least rate of the path's links.
    Rate {
        /// In bytes a second.
        rate: f64,
        /// The number of the control interval in which its router computed it. ACKs of one interval repeat it. 0 if no
        /// router has written.
        interval: u32,
    },
}
