//! A link: a line of packets on their way to the far end, behind a queue where one is needed.
//!
//! Where packets leave in the order in which they come, the departure of each is known when it arrives:
//! max(now, free) + size / rate. It then needs no event of its own. A law that acts on departures, ACKs
//! that go first, or a changing rate make a link pay for one event a departure.

use crate::config::{Buffer, LinkConfig, LinkId};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::report::LinkReport;
use knee_laws::quantities::{Bytes, Span, Time};
use knee_laws::registry::Router;
use std::collections::VecDeque;

/// What becomes of a packet that a link is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It waits behind others.
    Waiting,
    /// It is the head of the line and arrives at this instant.
    Head(Time),
    /// The link was idle, pays for departures, and has begun one.
    Serving(Service),
    /// It is dropped.
    Dropped,
}

/// A departure that has begun, of a link that pays for departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When it is over: call [`Link::serve`].
    pub done: Time,
    /// When its packet arrives, if that is the head of the line.
    pub head: Option<Time>,
}

/// A link in motion.
pub struct Link {
    /// Picoseconds a byte takes.
    ps_per_byte: f64,
    delay: Span,
    /// When the transmitter is done with everything that it has begun or promised.
    free_at: Time,
    /// Packets on their way, each with its arrival; without departure events also those that wait.
    pub line: VecDeque<Packet>,
    /// Packets accepted since the start.
    pub accepted: u64,
    /// What waits, where anybody asks: limit, statistics, or a law that looks.
    queue: Option<Box<Queue>>,
}

impl Link {
    /// A link at rest.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        let unseen = matches!(config.router, Router::DropTail(_))
            && config.buffer == Buffer::Unlimited
            && config.rate_changes.is_empty()
            && !(config.measured || config.acks_first);
        Self {
            ps_per_byte: 8e12 / config.rate.bps(),
            delay: config.delay,
            free_at: Time::ZERO,
            line: VecDeque::new(),
            accepted: 0,
            queue: (!unseen).then(|| Box::new(Queue::new(config, seed))),
        }
    }

    /// Takes a packet, or drops it.
    #[inline]
    pub fn offer(&mut self, packet: &mut Packet, now: Time) -> Outcome {
        let start = self.free_at.max(now);
        if let Some(queue) = &mut self.queue {
            if !queue.admit(packet, now, self.free_at) {
                return Outcome::Dropped;
            }
            self.accepted += 1;
            if queue.pays_for_departures() {
                if start > now {
                    queue.push(packet, now);
                    return Outcome::Waiting;
                }
                return Outcome::Serving(self.transmit(packet, now));
            }
            if start > now {
                queue.expect(packet.size, start, now);
            }
        } else {
            self.accepted += 1;
        }
        self.launch(packet, start).map_or(Outcome::Waiting, Outcome::Head)
    }

    /// Puts a packet on the line whose transmission begins at `start`; says when it arrives if it is
    /// the head.
    #[inline]
    fn launch(&mut self, packet: &mut Packet, start: Time) -> Option<Time> {
        self.free_at =
            start + Span::from_ps((f64::from(packet.size) * self.ps_per_byte + 0.5) as u64);
        packet.at = self.free_at + self.delay;
        let head = self.line.is_empty().then_some(packet.at);
        self.line.push_back(*packet);
        head
    }

    /// Begins to transmit: the law acts, the packet goes on the line.
    fn transmit(&mut self, packet: &mut Packet, now: Time) -> Service {
        if let Some(queue) = &mut self.queue {
            queue.depart(packet, now);
        }
        let head = self.launch(packet, now);
        Service { done: self.free_at, head }
    }

    /// A link that pays for departures is done with a packet: it takes the next.
    pub fn serve(&mut self, now: Time) -> Option<Service> {
        let mut packet = self.queue.as_mut()?.pop(now)?;
        Some(self.transmit(&mut packet, now))
    }

    /// When the law wants its tick.
    pub fn tick_at(&self) -> Option<Time> {
        self.queue.as_ref()?.tick_at()
    }

    /// The law's tick.
    pub fn tick(&mut self, now: Time) {
        if let Some(queue) = &mut self.queue {
            queue.tick(now);
        }
    }

    /// When the rate changes next.
    pub fn rate_change_at(&self) -> Option<Time> {
        self.queue.as_ref()?.rate_change_at()
    }

    /// Changes the rate; the packet in service is transmitted at the old one.
    pub fn change_rate(&mut self, now: Time) {
        if let Some(rate) = self.queue.as_mut().and_then(|queue| queue.change_rate(now)) {
            self.ps_per_byte = 8e12 / rate.bps();
        }
    }

    /// The queue of a measured link, and when its transmitter is done with what it has promised.
    pub fn measured(&mut self) -> Option<(&mut Queue, Time)> {
        let busy_until = self.free_at;
        let queue = self.queue.as_deref_mut().filter(|queue| queue.is_measured())?;
        Some((queue, busy_until))
    }

    /// The numbers at the end; `None` if it is not measured.
    pub fn report(&mut self, link: LinkId, now: Time) -> Option<LinkReport> {
        let delay = self.delay;
        let unsent = |packet: &&Packet| packet.at > now + delay;
        let unsent = self.line.iter().rev().take_while(unsent).filter(|p| p.is_data()).count();
        let (queue, busy_until) = self.measured()?;
        queue.report(link, now, busy_until, unsent as u64)
    }
}

/// The room of a buffer in bytes, as laws are told it.
pub fn room(buffer: Buffer, packet_bytes: u64) -> Bytes {
    match buffer {
        Buffer::Unlimited => Bytes(u64::MAX),
        Buffer::Bytes(bytes) => Bytes(bytes),
        Buffer::Packets(packets) => Bytes(packets * packet_bytes),
    }
}
