//! What a sender's law is told and what it answers.

use crate::codecs::{Feedback, Header};
use crate::quantities::{BitRate, Span, Time};
use crate::senders::slow_start::SlowStart;

/// A congestion-control law of a sender. It never sees a clock, a packet or a log.
///
/// The transport decides what a loss is, clamps the window to at least one packet and never sends
/// beyond it. Windows are in packets and may be fractional.
pub trait SenderLaw {
    /// An ACK arrived. While `ack.recovering` is set, window laws hold still.
    fn on_ack(&mut self, ack: &Ack);
    /// The transport noticed congestion: at most once a window of data.
    fn on_loss(&mut self, loss: &Loss);
    /// The retransmission timer fired (`loss.by` is [`Congestion::Timeout`]).
    fn on_timeout(&mut self, loss: &Loss);
    /// The congestion window in packets.
    fn window(&self) -> f64;

    /// The rate at which packets leave; `None` lets ACKs clock them.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
    /// Does it want delivery rates ([`Ack::rate`])? Only such flows pay for their measurement.
    fn wants_rate(&self) -> bool {
        false
    }
    /// When [`on_wake`](Self::on_wake) should be called, if at all.
    fn wake_at(&self) -> Option<Time> {
        None
    }
    /// The instant asked for by [`wake_at`](Self::wake_at) has come.
    fn on_wake(&mut self, _now: Time) {}
    /// Its slow start, for laws that have the usual one: scenarios choose how it grows, and pacing asks whether it
    /// is under way.
    fn slow_start(&mut self) -> Option<&mut SlowStart> {
        None
    }
    /// The congestion header of the next data packet, for codecs that have one.
    fn header(&self, _sending: &Sending) -> Header {
        [0; 4]
    }
    /// Shows inner quantities to a probe, by name.
    fn observe(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

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

/// A data packet about to be sent, for header-writing laws.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// When it leaves.
    pub now: Time,
    /// The smoothed RTT; zero before the first sample.
    pub smoothed_rtt: Span,
    /// The packet's size on the wire in bytes.
    pub packet_bytes: u32,
    /// The packet's identifier, as IP has one: uniform, and independent of other packets'.
    pub identifier: u16,
}

/// What a law is told when its flow starts.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Initial window in packets.
    pub initial_window: f64,
    /// Size of a full data packet on the wire in bytes.
    pub packet_bytes: u32,
}

/// How the transport repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 5681: fast retransmit, recovery ends with the first new ACK.
    Reno,
    /// RFC 6582: recovery lasts until all is acknowledged that was outstanding at its start.
    NewReno,
    /// RFC 6675: selective acknowledgements.
    Sack,
}
