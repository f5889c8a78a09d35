//! Every default of a scenario that is a number; [`fill`](super::fill) has those of whole tables.

use knee_input::number::{Count, Factor, PacingGain, ParetoShape, Share};
use knee_input::quantity::Delay;
use knee_laws::quantities::Span;

/// Part of a run that no statistics count.
pub(crate) const WARMUP: f64 = 0.2;
/// Part of the one-way delay that lies on a parking lot's links: 7 x 5 ms of 40 ms in [VCP IV-C].
pub(crate) const PARKING_LOT_SHARE: f64 = 0.875;
/// Access rate over the fastest rate on the way.
pub(crate) const ACCESS_FACTOR: f64 = 2.0;
/// Least room of a default buffer, in packets a flow that crosses the link.
pub(crate) const BUFFER_PACKETS_A_FLOW: u64 = 2;
/// With more flows than this, the default probes leave flows out.
pub(crate) const PROBED_FLOWS: u64 = 1000;

pub(crate) fn no_delay() -> Delay {
    Delay(Span::ZERO)
}
pub(crate) fn no_flows() -> Count {
    Count(0)
}
pub(crate) fn one_flow() -> Count {
    Count(1)
}
pub(crate) fn dumbbell_share() -> Share {
    Share(0.8)
}
pub(crate) fn access_factor() -> Factor {
    Factor(ACCESS_FACTOR)
}
pub(crate) fn pareto_shape() -> ParetoShape {
    ParetoShape(1.4)
}
pub(crate) fn yes() -> bool {
    true
}
pub(crate) fn no() -> bool {
    false
}

pub(crate) fn pacing_slow_start() -> PacingGain {
    PacingGain(2.0)
}
pub(crate) fn pacing_avoidance() -> PacingGain {
    PacingGain(1.2)
}
