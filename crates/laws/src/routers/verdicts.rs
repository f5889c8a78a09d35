//! What several laws decide in the same way.

use crate::codecs::{Wire, ecn};
use crate::quantities::Bytes;
use crate::router::{Draw, LinkView, Verdict};

/// Does an event of this probability happen? Draws only where chance decides.
pub(super) fn happens(probability: f64, draw: &mut dyn Draw) -> bool {
    probability > 0.0 && (probability >= 1.0 || draw.uniform() < probability)
}

/// What a law that may mark (`ecn`) does to a packet that is to tell its sender of congestion.
pub(super) fn congested(ecn: bool, wire: &Wire<'_>) -> Verdict {
    if ecn && ecn::is_capable(wire) { Verdict::Mark } else { Verdict::Drop }
}

/// The link's buffer in bytes, or room for a hundred packets if it is unlimited.
pub(super) fn room(link: &LinkView) -> u64 {
    match link.buffer {
        Bytes(u64::MAX) => 100 * u64::from(link.packet_bytes),
        Bytes(limit) => limit,
    }
}
