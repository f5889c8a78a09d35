//! The interface of sender laws.

pub use crate::ack::{Ack, Congestion, Loss, RateSample};
use crate::codecs::{Codec, Header};
use crate::params::{ParamError, ParamInfo, ParamSet, Value};
use crate::quantities::{BitRate, Span, Time};
use crate::slow_start::Rule;

/// A sender's congestion-control law. It sees no clock, no packet and no log.
///
/// The transport decides what a loss is. It takes the window for at least one packet, and never sends beyond it. Windows
/// are in packets and may be fractional.
pub trait SenderLaw {
    /// An ACK has arrived. While `ack.recovering` is set, laws do not let their window grow.
    fn on_ack(&mut self, ack: &Ack);
    /// The transport has noticed congestion. Called at most once for each window of data.
    fn on_loss(&mut self, loss: &Loss);
    /// The retransmission timer has fired (`loss.by` is [`Congestion::Timeout`]).
    fn on_timeout(&mut self, loss: &Loss);
    /// The congestion window in packets.
    fn window(&self) -> f64;

    /// The pacing rate; `None`: packets leave as ACKs arrive.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
    /// Does it want samples of the delivery rate ([`Ack::rate`])? They are measured for such laws only.
    fn wants_rate(&self) -> bool {
        false
    }
    /// When [`on_wake`](Self::on_wake) is to be called, if at all.
    fn wake_at(&self) -> Option<Time> {
        None
    }
    /// The instant of [`wake_at`](Self::wake_at) has come.
    fn on_wake(&mut self, _now: Time) {}
    /// The slow-start threshold in packets, for laws with standard slow start. They follow [`Opening::slow_start`], and
    /// the transport's pacing compares the window with the threshold.
    fn ssthresh(&self) -> Option<f64> {
        None
    }
    /// Changes a parameter while the law runs.
    ///
    /// # Errors
    /// If there is no such parameter, the value does not fit it, or it may not change.
    fn tune(&mut self, _name: &str, _value: &Value) -> Result<(), ParamError> {
        Err(ParamError::Fixed)
    }
    /// Why the law has failed, if it has. The transport asks [`Custom`](crate::registry::Sender::Custom) laws after each
    /// call; a failure ends the run with this message.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The congestion header of the next data packet, for codecs that have one.
    fn header(&self, _sending: &Sending) -> Header {
        [0; 4]
    }
    /// Shows values of its inner state to a probe, by name.
    fn observe(&self, _show: &mut dyn FnMut(&str, f64)) {}
}

/// A data packet that is about to be sent, for laws that write a header.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// When it leaves.
    pub now: Time,
    /// The smoothed RTT; zero before the first sample.
    pub smoothed_rtt: Span,
    /// The packet's size on the wire in bytes.
    pub packet_bytes: u32,
    /// The packet's identifier, as in IP: uniform, and independent of other packets.
    pub identifier: u16,
}

/// What a law is told when its flow starts.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Initial window in packets.
    pub initial_window: f64,
    /// Size of a full data packet on the wire in bytes.
    pub packet_bytes: u32,
    /// How the window grows in slow start, for laws with standard slow start.
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
    /// RFC 6582: recovery ends when all packets that were outstanding at its start are acknowledged.
    NewReno,
    /// RFC 6675: selective acknowledgements.
    Sack,
}

/// A sender law, as the registry needs it. By default it has codec, recovery and router of a modern TCP.
pub trait SenderSpec {
    /// The law itself. TCPs that only differ in loss recovery share one.
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
    /// Its description.
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

/// The description of a sender law.
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
    /// Does it have standard slow start, which a transport's `slow_start` changes?
    pub slow_start: bool,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}
