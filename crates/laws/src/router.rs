//! What a router's law is told and what it answers.

use crate::codecs::{Codec, Wire};
use crate::params::{ParamError, ParamInfo, ParamSet, Value};
use crate::quantities::{BitRate, Bytes, Span, Time};

/// A law at a link's entrance: queue management and explicit feedback.
///
/// `on_arrival` sees every packet that the link is offered; a packet that fits is then queued. A law
/// that also acts on departures says so in its [`RouterSpec::NEEDS`].
pub trait RouterLaw {
    /// A packet is offered.
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict;
    /// A packet is about to be transmitted. Only called for laws that [need](Needs) it. A packet that is
    /// dropped here, or marked without being capable, makes room for the next.
    fn on_departure(&mut self, _departure: &Departure, _wire: &mut Wire<'_>) -> Verdict {
        Verdict::Accept
    }
    /// A packet that it has let in is lost after all: the buffer is full, or it could not be marked.
    fn on_overflow(&mut self, _arrival: &Arrival, _wire: &Wire<'_>) {}
    /// Which of its queues a packet joins that it has accepted. Only called if there are several.
    #[inline]
    fn classify(&mut self, _arrival: &Arrival, _wire: &Wire<'_>) -> usize {
        0
    }
    /// The queue whose head is transmitted next: unless a law says otherwise the first that is not
    /// empty, strict priority. Only called if there are several; also once all are empty, but not for
    /// a packet that finds the link idle.
    #[inline]
    fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
        queues.iter().position(|queue| queue.packets > 0)
    }
    /// A packet has no room: whose heads are dropped in its place? `None`: the packet itself is dropped.
    /// Asked again until there is room. Only called if there are several queues.
    fn evict(&mut self, _queues: &[Waiting]) -> Option<Eviction> {
        None
    }
    /// When [`on_tick`](Self::on_tick) should be called next; a real event, also when the link is idle.
    fn tick_at(&self) -> Option<Time> {
        None
    }
    /// The instant asked for by [`tick_at`](Self::tick_at) has come.
    fn on_tick(&mut self, _queue: &QueueView) {}
    /// The same for a law with several queues: with how long the head of each has waited.
    fn on_tick_queues(&mut self, all: &QueueView, _waits: &[Span]) {
        self.on_tick(all);
    }
    /// The link's rate has changed.
    fn on_rate(&mut self, _rate: BitRate) {}
    /// Changes a parameter while the law runs.
    ///
    /// # Errors
    /// Where there is no such parameter, the value does not fit it, or it cannot change any more.
    fn tune(&mut self, _name: &str, _value: &Value) -> Result<(), ParamError> {
        Err(ParamError::Fixed)
    }
    /// Why the law cannot go on. Links ask [`Custom`](crate::registry::Router::Custom) laws after each call, and
    /// the run ends with what they say.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// What the law says at present (load factor, price, marking probability), for probes.
    fn signal(&self) -> f64 {
        0.0
    }
}

/// Random numbers, from the link's own stream.
pub trait Draw {
    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64;
}

/// What becomes of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is queued if the buffer has room.
    Accept,
    /// It is queued and bears a congestion mark.
    Mark,
    /// It is dropped.
    Drop,
}

/// The queue at an instant; the packet in service is not counted.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Now.
    pub now: Time,
    /// Waiting packets.
    pub packets: u64,
    /// Waiting bytes.
    pub bytes: u64,
}

/// What waits in one of a link's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Packets to be dropped from the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The queue.
    pub queue: usize,
    /// How many, at most.
    pub packets: u64,
}

/// A packet offered to a link.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The queue before it.
    pub queue: QueueView,
    /// Since when the link has been transmitting nothing; `None` while it is busy.
    pub idle_since: Option<Time>,
    /// A number that tells its flow from others, for laws that [need](Needs) it; 0 for the others.
    pub flow: u32,
    /// Size on the wire in bytes.
    pub size: u32,
    /// Data, or a handshake, as opposed to a pure ACK?
    pub data: bool,
}

/// A packet that leaves the queue for transmission.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The queue that it leaves, after it; of a law with several queues, that one alone.
    pub queue: QueueView,
    /// Which queue that is.
    pub from: usize,
    /// How long it has waited.
    pub waited: Span,
    /// Size on the wire in bytes.
    pub size: u32,
    /// Data, or a handshake, as opposed to a pure ACK?
    pub data: bool,
}

/// What a law is told about its link.
#[derive(Clone, Copy, Debug)]
pub struct LinkView {
    /// Capacity.
    pub rate: BitRate,
    /// Propagation delay in seconds.
    pub delay_s: f64,
    /// Room in the buffer, in bytes; `u64::MAX` when unlimited.
    pub buffer: Bytes,
    /// Size of a data packet on the wire in bytes.
    pub packet_bytes: u32,
}

/// What a law needs besides packets that arrive. Who needs nothing more costs least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Does it act on departures? Such links pay an event a packet.
    pub departures: bool,
    /// How many queues share the link's buffer. Links with several pay an event a packet.
    pub queues: usize,
    /// Does it tell flows apart ([`Arrival::flow`])?
    pub flows: bool,
}

impl Needs {
    /// Nothing more.
    pub const ARRIVALS: Self = Self { departures: false, queues: 1, flows: false };
    /// To see departures, too.
    pub const DEPARTURES: Self = Self { departures: true, ..Self::ARRIVALS };
}

/// A router law as the registry knows it. By default it marks with ECN and acts on arrivals alone.
pub trait RouterSpec {
    /// The law itself.
    type Law: RouterLaw;
    /// Its parameters.
    type Params: ParamSet;
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is, in a line.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// The feedback that it writes.
    const CODEC: Codec = Codec::Ecn;
    /// What it needs besides packets that arrive.
    const NEEDS: Needs = Needs::ARRIVALS;
    /// Does it, with these parameters, mark packets of RFC 3168's ECN besides those of its codec?
    fn marks_ecn(_params: &Self::Params) -> bool {
        false
    }
    /// Sets up a link.
    fn new(params: Self::Params, link: &LinkView) -> Self::Law;
    /// What there is to know of it.
    fn info() -> RouterInfo {
        RouterInfo {
            name: Self::NAME.into(),
            title: Self::TITLE.into(),
            source: Self::SOURCE.into(),
            codec: Self::CODEC,
            needs: Self::NEEDS,
            params: Self::Params::infos(),
        }
    }
}

/// What there is to know of a router law.
#[derive(Clone, Debug)]
pub struct RouterInfo {
    /// Its name in scenarios.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Where it is published.
    pub source: String,
    /// The feedback that it writes.
    pub codec: Codec,
    /// What it needs besides packets that arrive.
    pub needs: Needs,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}
