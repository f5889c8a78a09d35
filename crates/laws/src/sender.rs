//! What a sender's law is told and what it answers.

pub use crate::ack::{Ack, Congestion, Loss, RateSample};
use crate::codecs::{Codec, Header};
use crate::params::{ParamError, ParamInfo, ParamSet, Value};
use crate::quantities::{BitRate, Span, Time};
use crate::slow_start::Rule;

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
    /// Its slow-start threshold in packets, for laws that have the usual slow start: they follow
    /// [`Opening::slow_start`], and pacing asks how far the window is from the threshold.
    fn ssthresh(&self) -> Option<f64> {
        None
    }
    /// Changes a parameter while the law runs.
    ///
    /// # Errors
    /// Where there is no such parameter, the value does not fit it, or it cannot change any more.
    fn tune(&mut self, _name: &str, _value: &Value) -> Result<(), ParamError> {
        Err(ParamError::Fixed)
    }
    /// Why the law cannot go on. The transport asks [`Custom`](crate::registry::Sender::Custom) laws after each
    /// call, and the run ends with what they say.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The congestion header of the next data packet, for codecs that have one.
    fn header(&self, _sending: &Sending) -> Header {
        [0; 4]
    }
    /// Shows inner quantities to a probe, by name.
    fn observe(&self, _show: &mut dyn FnMut(&str, f64)) {}
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
#[derive(Clone, Debug)]
pub struct Opening {
    /// Initial window in packets.
    pub initial_window: f64,
    /// Size of a full data packet on the wire in bytes.
    pub packet_bytes: u32,
    /// How slow start grows, for laws that have the usual one.
    pub slow_start: Rule,
}

impl Opening {
    /// With standard slow start.
    pub const fn new(initial_window: f64, packet_bytes: u32) -> Self {
        Self { initial_window, packet_bytes, slow_start: Rule::Standard }
    }
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

/// A sender law as the registry knows it. Codec, recovery and router default to those of a TCP of today.
pub trait SenderSpec {
    /// The law itself; TCPs that differ in loss recovery only share one.
    type Law: SenderLaw;
    /// Its parameters.
    type Params: ParamSet;
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is, in a line.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// The feedback that it reads. `Ecn` is optional for a sender, the others are required.
    const CODEC: Codec = Codec::Ecn;
    /// How its transport repairs losses unless a scenario says otherwise.
    const RECOVERY: Recovery = Recovery::Sack;
    /// Do its flows open with a handshake unless a scenario says otherwise?
    const HANDSHAKE: bool = false;
    /// The router law that it is made for.
    const ROUTER: &'static str = "droptail";
    /// Starts a flow.
    fn new(params: Self::Params, opening: &Opening) -> Self::Law;
    /// What there is to know of it.
    fn info() -> SenderInfo {
        let law = Self::new(Self::Params::default(), &Opening::new(1.0, 1000));
        SenderInfo {
            name: Self::NAME.into(),
            title: Self::TITLE.into(),
            source: Self::SOURCE.into(),
            codec: Self::CODEC,
            recovery: Self::RECOVERY,
            handshake: Self::HANDSHAKE,
            router: Self::ROUTER.into(),
            slow_start: law.ssthresh().is_some(),
            params: Self::Params::infos(),
        }
    }
}

/// What there is to know of a sender law.
#[derive(Clone, Debug)]
pub struct SenderInfo {
    /// Its name in scenarios.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Where it is published.
    pub source: String,
    /// The feedback that it reads.
    pub codec: Codec,
    /// How its transport repairs losses by default.
    pub recovery: Recovery,
    /// Do its flows open with a handshake by default?
    pub handshake: bool,
    /// The router law that it is made for.
    pub router: String,
    /// Has it the slow start that a transport's `slow_start` changes?
    pub slow_start: bool,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}
