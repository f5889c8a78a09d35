//! The interface of router laws.

use crate::codecs::{Codec, Wire};
use crate::params::{ParamError, ParamInfo, ParamSet, Value};
use crate::quantities::{BitRate, Bytes, Span, Time};

/// A law at a link's entrance: queue management and explicit feedback.
///
/// `on_arrival` is called for every packet that the link is offered. An accepted packet is then queued, if the buffer has
/// room. A law that also acts on departures says so in its [`RouterSpec::NEEDS`].
pub trait RouterLaw {
    /// A packet is offered.
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict;
    /// A packet is about to be transmitted. Only called for laws that [need](Needs) it. If the packet is dropped here,
    /// or to be marked but not capable, the next one is transmitted.
    fn on_departure(&mut self, _departure: &Departure, _wire: &mut Wire<'_>) -> Verdict {
        Verdict::Accept
    }
    /// A packet that the law has accepted or marked is dropped: the buffer is full, or the packet cannot be marked.
    fn on_overflow(&mut self, _arrival: &Arrival, _wire: &Wire<'_>) {}
    /// The queue that an accepted packet joins. Only called if there are several.
    #[inline]
    fn classify(&mut self, _arrival: &Arrival, _wire: &Wire<'_>) -> usize {
        0
    }
    /// The queue whose head is transmitted next. By default it is the first that is not empty: strict priority. Only
    /// called if there are several, also when all are empty, but not for a packet that arrives at an idle link.
    #[inline]
    fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
        queues.iter().position(|queue| queue.packets > 0)
    }
    /// A packet has no room: the queue whose heads are dropped in its place. `None`: the packet itself is dropped.
    /// Called again until there is room. Only called if there are several queues.
    fn evict(&mut self, _queues: &[Waiting]) -> Option<Eviction> {
        None
    }
    /// When [`on_tick`](Self::on_tick) is to be called next, whether the link is idle or not.
    fn tick_at(&self) -> Option<Time> {
        None
    }
    /// The instant of [`tick_at`](Self::tick_at) has come.
    fn on_tick(&mut self, _queue: &QueueView) {}
    /// The same for laws with several queues: also tells how long the head of each has waited.
    fn on_tick_queues(&mut self, all: &QueueView, _waits: &[Span]) {
        self.on_tick(all);
    }
    /// The link's rate has changed.
    fn on_rate(&mut self, _rate: BitRate) {}
    /// Changes a parameter while the law runs.
    ///
    /// # Errors
    /// If there is no such parameter, the value does not fit it, or it may not change.
    fn tune(&mut self, _name: &str, _value: &Value) -> Result<(), ParamError> {
        Err(ParamError::Fixed)
    }
    /// Why the law has failed, if it has. Links ask [`Custom`](crate::registry::Router::Custom) laws after each call; a
    /// failure ends the run with this message.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The law's current signal, for probes: load factor, price, or marking probability.
    fn signal(&self) -> f64 {
        0.0
    }
}

/// Random numbers, from the link's own stream.
pub trait Draw {
    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64;
}

/// What happens to an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is queued if the buffer has room.
    Accept,
    /// It gets a congestion mark, and is queued if the buffer has room.
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

/// The content of one of a link's queues.
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
    /// The most packets.
    pub packets: u64,
}

/// A packet offered to a link.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The queue before it.
    pub queue: QueueView,
    /// Since when the link has been idle; `None` while it is busy.
    pub idle_since: Option<Time>,
    /// A number that identifies its flow, for laws that [need](Needs) it; 0 for other laws.
    pub flow: u32,
    /// Size on the wire in bytes.
    pub size: u32,
    /// Data, or a handshake, as opposed to a pure ACK?
    pub data: bool,
}

/// A packet that leaves the queue for transmission.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The queue that it leaves, without it. With several queues, this is the one that it leaves.
    pub queue: QueueView,
    /// The index of that queue.
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
    /// Size of the buffer in bytes; `u64::MAX` if unlimited.
    pub buffer: Bytes,
    /// Size of a data packet on the wire in bytes.
    pub packet_bytes: u32,
}

/// What a law needs besides arrivals. Without further needs a link is fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Does it act on departures? Such links need an event for each packet.
    pub departures: bool,
    /// How many queues share the link's buffer. Links with several need an event for each packet.
    pub queues: usize,
    /// Does it tell flows apart ([`Arrival::flow`])?
    pub flows: bool,
}

impl Needs {
    /// Nothing more.
    pub const ARRIVALS: Self = Self { departures: false, queues: 1, flows: false };
    /// Departures too.
    pub const DEPARTURES: Self = Self { departures: true, ..Self::ARRIVALS };
}

/// A router law, as the registry needs it. By default it marks with ECN and acts on arrivals only.
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
    /// What it needs besides arrivals.
    const NEEDS: Needs = Needs::ARRIVALS;
    /// Does it, with these parameters, mark packets of RFC 3168's ECN besides those of its codec?
    fn marks_ecn(_params: &Self::Params) -> bool {
        false
    }
    /// Sets up a link.
    fn new(params: Self::Params, link: &LinkView) -> Self::Law;
    /// Its description.
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

/// The description of a router law.
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
    /// What it needs besides arrivals.
    pub needs: Needs,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}
