//! Router laws, one a file; the registry lists them in reading order.

pub mod ared;
pub mod avq;
pub mod blue;
pub mod bmcc;
pub mod bmcc_ared;
pub mod codel;
pub mod droptail;
pub mod dualpi2;
pub mod fq_codel;
pub mod mlcp;
pub mod pi;
pub mod pie;
pub mod piqi_rcp;
pub mod price;
pub mod qi_rcp;
pub mod rate_router;
pub mod rcp;
pub mod red;
pub mod rem;
pub mod rio;
#[cfg(test)]
mod trial;
pub mod vcp;
pub mod xcp;

use crate::codecs::{Wire, ecn};
use crate::quantities::Bytes;
use crate::router::{Draw, LinkView, Verdict};

/// Does an event of this probability happen? Draws only where chance decides.
fn happens(probability: f64, draw: &mut dyn Draw) -> bool {
    probability > 0.0 && (probability >= 1.0 || draw.uniform() < probability)
}

/// What a law that may mark (`ecn`) does to a packet that is to tell its sender of congestion.
fn congested(ecn: bool, wire: &Wire<'_>) -> Verdict {
    if ecn && ecn::is_capable(wire) { Verdict::Mark } else { Verdict::Drop }
}

/// The link's buffer in bytes, or room for a hundred packets if it is unlimited.
fn room(link: &LinkView) -> u64 {
    match link.buffer {
        Bytes(u64::MAX) => 100 * u64::from(link.packet_bytes),
        Bytes(limit) => limit,
    }
}
