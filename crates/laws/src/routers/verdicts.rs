//! Decisions that several laws share.

use crate::codecs::{Wire, ecn};
use crate::quantities::Bytes;
use crate::router::{Draw, LinkView, Verdict};

/// Does an event of this probability happen? Draws no random number if the probability is 0 or 1.
pub(super) fn happens(probability: f64, draw: &mut dyn Draw) -> bool {
    probability > 0.0 && (probability >= 1.0 || draw.uniform() < probability)
}

/// The verdict on a packet that is to tell its sender of congestion: a mark if `ecn` allows it, else a drop.
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
