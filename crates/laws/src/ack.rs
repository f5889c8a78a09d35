//! Events that a sender's law is told of: ACKs with their feedback, and congestion.

use crate::codecs::Feedback;
use crate::quantities::{Span, Time};

/// An ACK as a law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets that it acknowledges cumulatively for the first time; 0 for a duplicate.
    pub newly_acked: u32,
    /// Packets in flight after it.
    pub in_flight: u32,
    /// The RTT sample.
    pub rtt: Span,
    /// The smoothed RTT (RFC 6298), this sample included.
    pub smoothed_rtt: Span,
    /// The least RTT seen so far.
    pub min_rtt: Span,
    /// The feedback of the network.
    pub feedback: Feedback,
    /// Is the transport repairing losses, or does the ACK repeat a mark that has been answered (RFC 3168, 6.1.2)?
    /// Then windows do not grow.
    pub recovering: bool,
    /// Was less sent than the window allows?
    pub app_limited: bool,
    /// A sample of the delivery rate, if the law wants it and the ACK gives one.
    pub rate: Option<RateSample>,
}

impl Ack {
    /// An ACK of `newly_acked` packets that leaves `in_flight` packets in flight. Smoothed and least RTT equal `rtt`;
    /// there is no feedback.
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

/// A sample of the delivery rate over the round trip of a packet (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets of the flow delivered so far, selectively acknowledged ones included.
    pub delivered: u64,
    /// `delivered` when the packet left.
    pub prior_delivered: u64,
    /// The time in which the packets between these two were delivered, or sent if that took longer.
    pub interval: Span,
    /// `(delivered - prior_delivered) / interval`, in packets / s.
    pub rate: f64,
    /// Was less sent than the window allows? Then the path may carry more than the sample.
    pub app_limited: bool,
    /// Packets found lost since the last sample.
    pub newly_lost: u32,
    /// Packets found lost since the packet left.
    pub lost: u32,
    /// Packets in flight when it left, itself included.
    pub prior_in_flight: u32,
}

/// The sign of congestion.
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
    /// The sign of it.
    pub by: Congestion,
}
