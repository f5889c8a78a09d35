//! A link: a line of packets on their way to the far end, and before it a queue where one is needed.
//!
//! If packets leave in the order in which they come, the departure of each is known when it arrives:
//! max(now, free) + size / rate. It needs no event. A law that acts on departures, several queues, or a changing
//! rate need an event for each departure.
//!
//! A link without limit, law and statistics that is fed by one other link needs no event for arrivals either:
//! packets come in the order in which the feeder sends them. When the feeder sends a packet, its arrival at the far
//! end of this link is known. Such a link is called *known ahead*.

use crate::config::{Buffer, Capacity, LinkChange, LinkConfig, LinkId};
use crate::impairment::Fate;
use crate::packet::Packet;
use crate::port::Port;
use crate::report::LinkReport;
use knee_laws::capacity::Delivery;
use knee_laws::params::ParamError;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Router;
use knee_path::Ring;

/// What happens to a packet that a link is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is on its way: see [`Link::arrival`].
    Launched,
    /// It is launched; call [`Link::impair`] first.
    Exposed,
    /// It waits for a departure event.
    Waiting,
    /// It waits; tell [the one who serves the link](Link::service).
    Asking,
    /// It waits, and the buffer has overflowed; [evict](Link::evict) others.
    Overfull,
    /// It is on its way; [serve](Link::serve) the link at this instant.
    Serving(Time),
    /// It is dropped.
    Dropped,
}

/// Who takes packets from a link's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Service {
    /// The link itself, at its rate.
    Own,
    /// The flow of an aggregate, when its window allows.
    Aggregate,
    /// A station, when its turn on a shared channel comes.
    Medium,
}

/// The state of a link: one cache line. Its queue lies elsewhere.
#[repr(align(64))]
pub struct Link {
    /// How long a byte takes, in units of 2^-20 ps.
    byte_time: u64,
    delay: Span,
    /// When the transmitter is done with all packets that it has accepted.
    free_at: Time,
    /// Packets on their way, each with its arrival; without departure events, also packets that wait.
    pub line: Ring<Packet>,
    /// Is it [known ahead](self)?
    pub known_ahead: bool,
    /// Does it lose or delay packets at random?
    pub is_impaired: bool,
    /// Is its law told an estimate of the capacity in place of the rate?
    estimates: bool,
    /// Who takes packets from its queue, and the index of that aggregate or station.
    pub service: Service,
    pub server: u32,
    /// Its entrance, if it needs one: for a limit, statistics, impairments or a law other than DropTail.
    port: Option<Box<Port>>,
}

impl Link {
    /// An idle link.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        let impaired = config.loss.is_some() || config.reorder.is_some();
        let unseen = matches!(config.router, Router::DropTail(_))
            && config.buffer == Buffer::Unlimited
            && config.changes.is_empty()
            && !(impaired || config.changeable || config.capacity != Capacity::Rate)
            && !(config.measured || config.needs.queues > 1);
        Self {
            byte_time: byte_time(config.rate),
            delay: config.delay,
            free_at: Time::ZERO,
            line: Ring::default(),
            known_ahead: false,
            is_impaired: impaired,
            estimates: config.capacity.estimate().is_some(),
            service: Service::Own,
            server: 0,
            port: (!unseen).then(|| Box::new(Port::new(config, seed, false))),
        }
    }

    /// The ingress of an aggregate: packets wait until they are [served](Self::serve), which takes no time.
    pub fn ingress(config: LinkConfig, seed: u64, aggregate: u32) -> Self {
        let delay = config.delay;
        Self::served(Port::new(config, seed, true), delay, (Service::Aggregate, aggregate))
    }

    /// A queue of a station on a shared channel: packets wait until they are [taken](Self::take).
    pub fn of_station(config: LinkConfig, seed: u64, station: u32) -> Self {
        let delay = config.delay;
        Self::served(Port::of_station(config, seed), delay, (Service::Medium, station))
    }

    /// A link whose packets are taken by an aggregate or a station.
    fn served(port: Port, delay: Span, (service, server): (Service, u32)) -> Self {
        Self {
            byte_time: 0,
            delay,
            free_at: Time::ZERO,
            line: Ring::default(),
            known_ahead: false,
            is_impaired: false,
            estimates: false,
            service,
            server,
            port: Some(Box::new(port)),
        }
    }

    /// The next packet that is to be transmitted, if anything waits, and whether the law lets it go.
    pub fn take(&mut self, now: Time) -> Option<(Packet, bool)> {
        let queue = &mut self.port.as_mut()?.queue;
        let from = queue.select()?;
        let mut packet = queue.pop(from, now)?;
        let since = packet.at;
        let goes = queue.depart(&mut packet, from, since, now);
        Some((packet, goes))
    }

    /// A station has taken packets of this link for transmission, or has none of them any more.
    pub fn serve_by(&mut self, is_busy: bool, now: Time) {
        self.free_at = if is_busy { Time::NEVER } else { now };
        if let Some(port) = &mut self.port {
            port.serve_by(is_busy, now);
        }
    }

    /// A station has given up a packet.
    pub fn give_up(&mut self) {
        if let Some(port) = &mut self.port {
            port.impairment.lost += 1;
        }
    }

    /// Packets that wait for a departure event.
    pub fn waiting(&self) -> u32 {
        self.port.as_ref().map_or(0, |port| port.queue.packets() as u32)
    }

    /// Has it neither limit nor law nor statistics?
    pub fn is_plain(&self) -> bool {
        self.port.is_none()
    }

    /// Accepts or drops a packet, for which it is the given hop.
    #[inline(always)]
    pub fn offer(&mut self, packet: &mut Packet, hop: u32, now: Time) -> Outcome {
        if self.is_plain() {
            self.launch(packet.size, now);
            return Outcome::Launched;
        }
        self.enter(packet, hop, now)
    }

    /// The same for a link with a port.
    #[inline(never)]
    fn enter(&mut self, packet: &mut Packet, hop: u32, now: Time) -> Outcome {
        let start = self.free_at.max(now);
        if let Some(port) = &mut self.port {
            let queue = &mut port.queue;
            let flow = if port.tells_flows { port.flows[packet.flow as usize] } else { 0 };
            let Some(join) = queue.admit(packet, (now, self.free_at), flow) else {
                return Outcome::Dropped;
            };
            if queue.pays_for_departures() {
                if start > now || !queue.is_empty() || self.service != Service::Own {
                    if let Some(place) = queue.push(packet, join, now) {
                        place.hop = hop;
                    }
                    return match self.service {
                        _ if queue.is_overfull() => Outcome::Overfull,
                        Service::Own => Outcome::Waiting,
                        _ => Outcome::Asking,
                    };
                }
                return match self.transmit(packet, join, now, now) {
                    true => Outcome::Serving(self.free_at),
                    false => Outcome::Dropped,
                };
            }
            queue.expect(packet, start, now);
            if self.is_impaired {
                self.launch(packet.size, start);
                return Outcome::Exposed;
            }
        }
        self.launch(packet.size, start);
        Outcome::Launched
    }

    /// Transmits a packet of this size, beginning at `start` or when the transmitter is free.
    #[inline]
    pub fn launch(&mut self, size: u16, start: Time) {
        let time = u128::from(size) * u128::from(self.byte_time) + (1 << (TIME_BITS - 1));
        self.free_at = start.max(self.free_at) + Span::from_ps((time >> TIME_BITS) as u64);
    }

    /// When the packet launched last arrives at the far end.
    #[inline]
    pub fn arrival(&self) -> Time {
        self.free_at + self.delay
    }

    /// Puts a packet that arrives at `at` on the line. Is it now the head?
    #[inline]
    pub fn push(&mut self, packet: &Packet, hop: u32, at: Time) -> bool {
        let head = self.line.is_empty();
        let slot = self.line.push(*packet);
        slot.hop = hop;
        slot.at = at;
        head
    }

    /// Begins to transmit a packet that came at `since`, unless the law drops it.
    #[inline(always)]
    fn transmit(&mut self, packet: &mut Packet, from: usize, since: Time, now: Time) -> bool {
        let port = self.port.as_mut();
        let goes = port.is_none_or(|port| port.queue.depart(packet, from, since, now));
        if goes {
            self.launch(packet.size, now);
            self.learn(packet.size, now);
        }
        goes
    }

    /// Updates the estimate of the capacity, if there is one, by the time that a packet took.
    #[inline]
    fn learn(&mut self, size: u16, now: Time) {
        if let Some(port) = &mut self.port
            && self.estimates
        {
            let (bytes, time) = (u32::from(size), self.free_at.since(now));
            let rate = BitRate::from_bps(f64::from(bytes) * 8.0 / time.seconds());
            port.learn(self.free_at, Delivery { bytes, time, rate });
        }
    }

    /// A station has delivered packets of this link.
    pub fn learn_from(&mut self, now: Time, delivery: Delivery) {
        if let Some(port) = &mut self.port {
            port.learn(now, delivery);
        }
    }

    /// A station estimates the capacity to be this.
    pub fn tell_capacity(&mut self, rate: BitRate) {
        if let Some(port) = &mut self.port {
            port.tell_capacity(rate);
        }
    }

    /// A link with departure events is done with a packet. Returns the next, if there is one, and what happens to it.
    #[inline(always)]
    pub fn serve(&mut self, now: Time) -> Option<(Packet, Outcome)> {
        if self.free_at > now {
            return None; // a packet that arrived at this instant is being served already
        }
        let queue = &mut self.port.as_mut()?.queue;
        let from = queue.select()?;
        let mut packet = queue.pop(from, now)?;
        let since = packet.at;
        let outcome = match self.transmit(&mut packet, from, since, now) {
            true => Outcome::Serving(self.free_at),
            false => Outcome::Dropped,
        };
        Some((packet, outcome))
    }

    /// May packets overtake each other on it?
    pub fn reorders(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.impairment.reorders() || port.may_change_delay)
    }

    /// Applies loss and reordering to the packet that it has just launched. A late packet is kept until
    /// [`take_late`](Self::take_late).
    pub fn impair(&mut self, packet: &mut Packet) -> Fate {
        let Some(port) = &mut self.port else { return Fate::Fine };
        let mut fate = port.impairment.fate();
        if fate == Fate::Fine && packet.at < port.line_until {
            fate = Fate::Late(Span::ZERO);
        }
        if let Fate::Late(delay) = fate {
            packet.at += delay;
            port.late.push(packet);
        }
        fate
    }

    /// The late packet that is due.
    pub fn take_late(&mut self) -> Option<Packet> {
        self.port.as_mut()?.late.pop()
    }

    /// The next packet to drop, because the buffer has overflowed.
    pub fn evict(&mut self, now: Time) -> Option<Packet> {
        self.port.as_mut()?.queue.evict(now)
    }

    /// When the law wants its tick.
    pub fn tick_at(&self) -> Option<Time> {
        self.port.as_ref()?.queue.tick_at()
    }

    /// The law's tick.
    pub fn tick(&mut self, now: Time) {
        if let Some(port) = &mut self.port {
            port.queue.tick(now);
        }
    }

    /// May it change?
    pub fn is_changeable(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.is_changeable)
    }

    /// When it changes next.
    pub fn change_at(&self) -> Option<Time> {
        self.port.as_ref()?.change_at()
    }

    /// The change that is due.
    pub fn next_change(&mut self) -> Option<LinkChange> {
        self.port.as_mut()?.next_change()
    }

    /// Makes a change.
    ///
    /// # Errors
    /// If the law refuses it, or the link may not change.
    pub fn change(&mut self, change: &LinkChange, now: Time) -> Result<(), ParamError> {
        let port = self.port.as_mut().ok_or(ParamError::Fixed)?;
        match change {
            LinkChange::Rate(rate) => {
                port.change_rate(*rate, now);
                if self.service == Service::Own {
                    self.byte_time = byte_time(*rate);
                }
            }
            LinkChange::Delay(delay) => {
                if *delay < self.delay {
                    let last = self.line.back().map_or(Time::ZERO, |packet| packet.at);
                    port.line_until = port.line_until.max(last);
                    self.is_impaired = true;
                }
                self.delay = *delay;
            }
            LinkChange::Loss(loss) => {
                port.change_loss(*loss);
                self.is_impaired = true;
            }
            LinkChange::Parameter(name, value) => port.queue.tune(name, value)?,
        }
        Ok(())
    }

    /// The port of a measured link, and when its transmitter is done with all packets that it has accepted.
    pub fn measured(&mut self) -> Option<(&mut Port, Time)> {
        let busy_until = self.free_at;
        let port = self.port.as_deref_mut().filter(|port| port.is_measured())?;
        Some((port, busy_until))
    }

    /// Does its law tell flows apart? Each is then [named](Self::name_flow) to it.
    pub fn tells_flows(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.tells_flows)
    }

    /// Tells the law the name of the flow in a slot.
    pub fn name_flow(&mut self, slot: u32, name: u32) {
        if let Some(port) = &mut self.port {
            port.name_flow(slot as usize, name);
        }
    }

    /// Why the law has failed, if it has.
    #[inline]
    pub fn failure(&self) -> Option<&str> {
        self.port.as_ref()?.queue.failure()
    }

    /// Packets that wait here or are on their way over it, the late ones included.
    #[cfg(debug_assertions)]
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.port.iter().flat_map(|port| port.queue.iter());
        let late = self.port.iter().flat_map(|port| port.late.iter());
        self.line.iter().chain(waiting).chain(late)
    }

    /// Panics unless every packet that its queue was offered has departed, was dropped, or waits.
    #[cfg(debug_assertions)]
    pub fn audit(&self) {
        if let Some(port) = &self.port {
            port.queue.audit();
        }
    }

    /// The numbers at the end; `None` if it is not measured.
    pub fn report(&mut self, link: LinkId, now: Time) -> Option<LinkReport> {
        let (port, busy_until) = self.measured()?;
        port.report(link, now, busy_until)
    }
}

/// Bytes of a link without queue.
pub const LINK_BYTES: usize = size_of::<Link>();

const _: () = assert!(LINK_BYTES == 64, "a link is one cache line");

const TIME_BITS: u32 = 20;

/// See [`Link::byte_time`]: a packet's time is exact to 0.03 ps.
fn byte_time(rate: BitRate) -> u64 {
    libm::round(8e12 / rate.bps() * f64::from(1u32 << TIME_BITS)) as u64
}
