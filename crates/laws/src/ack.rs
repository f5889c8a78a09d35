//! What a sender's law is told: ACKs with the feedback that they bring, and congestion.

use crate::codecs::Feedback;
use crate::quantities::{Span, Time};

/// An ACK as a law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets that it newly acknowledges, cumulatively; 0 for a duplicate.
    pub newly_acked: u32,
    /// Packets in flight after it.
    pub in_flight: u32,
    /// The RTT that it measured.
    pub rtt: Span,
    /// The smoothed RTT (RFC 6298), this sample included.
    pub smoothed_rtt: Span,
    /// The least RTT seen so far.
    pub min_rtt: Span,
    /// What the network said.
    pub feedback: Feedback,
    /// Is the transport repairing losses, or does the ACK echo a mark once more (RFC 3168, 6.1.2)?
    /// Windows do not grow on it.
    pub recovering: bool,
    /// Was the window not the limit of what was sent?
    pub app_limited: bool,
    /// What the path was seen to carry, if the law wants to know and the ACK tells.
    pub rate: Option<RateSample>,
}

impl Ack {
    /// Acknowledges so many packets and leaves so many in flight. Of the path the RTT is known: smoothed and least
    /// RTT are the same, and there is no feedback.
    pub const fn new(now: Time, newly_acked: u32, in_flight: u32, rtt: Span) -> Self {
        Self {
            now,
            newly_acked,
            in_flight,
            rtt,
            smoothed_rtt: rtt,
            min_rtt: rtt,
            feedback: Feedback::None,
            recovering: false,
            app_limited: false,
            rate: None,
        }
    }
}

/// What the path carried around the round trip of one packet
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets of the flow delivered so far, selectively acknowledged ones included.
    pub delivered: u64,
    /// The same when the packet left.
    pub prior_delivered: u64,
    /// The time that these took, or their sending if that took longer.
    pub interval: Span,
    /// `(delivered - prior_delivered) / interval`, in packets / s.
    pub rate: f64,
    /// Was too little sent to tell what the path carries?
    pub app_limited: bool,
    /// Packets found lost since the last sample.
    pub newly_lost: u32,
    /// Packets found lost since the packet left.
    pub lost: u32,
    /// Packets in flight when it left, itself included.
    pub prior_in_flight: u32,
}

/// What made the transport notice congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Packets are missing.
    Loss,
    /// An echoed ECN mark.
    Mark,
    /// No ACK came in time.
    Timeout,
}

/// Congestion as a law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was noticed.
    pub now: Time,
    /// Packets in flight, before any retransmission.
    pub in_flight: u32,
    /// What told of it.
    pub by: Congestion,
}
