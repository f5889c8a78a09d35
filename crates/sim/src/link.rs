//! A link: a law and a queue at its entrance, a line of packets on their way to its far end.
//!
//! Where the law acts on arrivals only and all packets share one queue, the departure of a packet is
//! known when it arrives: max(now, free) + size / rate. Such a link needs no event a departure. A law
//! that acts on departures, ACKs that go first, or a changing rate make it pay for one.

use crate::config::{Buffer, LinkConfig, LinkId};
use crate::meter::Meter;
use crate::packet::Packet;
use crate::random::Stream;
use crate::report::LinkReport;
use knee_laws::codecs::ecn;
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::Router;
use knee_laws::router::{Arrival, Departure, QueueView, RouterLaw, Verdict};
use std::collections::VecDeque;

/// What a link asks the agenda for after it took a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing: the packet waits behind others, or was dropped.
    Nothing,
    /// The line was empty: its head arrives at this instant.
    Line(Time),
    /// The link has begun to transmit and pays for departures: call [`Link::serve`] at the first
    /// instant; the head of a line that was empty arrives at the second.
    Service(Time, Option<Time>),
}

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// What the agenda must do.
    pub wanted: Wanted,
    /// Was it dropped?
    pub dropped: bool,
}

/// How packets wait.
#[derive(Debug)]
enum Waiting {
    /// They do, but nobody asks: no limit, no statistics, a law that does not look.
    Unseen,
    /// In the line, with a departure that is already known: service starts and sizes, in order.
    Known(VecDeque<(Time, u16)>),
    /// In queues of their own, ACKs first.
    Queues([VecDeque<Packet>; 2]),
}

/// A link in motion.
pub struct Link {
    /// Picoseconds a byte takes.
    ps_per_byte: f64,
    delay: Span,
    /// When the transmitter is done with everything that it has begun (or promised to begin).
    free_at: Time,
    /// Waiting packets and bytes.
    packets: usize,
    bytes: u64,
    /// Packets between the entrance (those of `Known` and `Unseen` links) and the far end.
    pub line: VecDeque<Packet>,
    waiting: Waiting,
    law: Router,
    buffer: Buffer,
    acks_first: bool,
    draw: Stream,
    meter: Option<Box<Meter>>,
    rate: BitRate,
    rate_changes: VecDeque<(Time, BitRate)>,
    /// Bytes and data packets accepted since the start.
    accepted_bytes: u64,
    accepted_data: u64,
    /// Packets accepted since the start.
    pub accepted: u64,
    /// Bytes transmitted, and capacity in bytes, when statistics began or a probe last asked.
    base: Progress,
    probed: Progress,
    /// Capacity offered in bytes up to `capacity_at`.
    capacity: f64,
    capacity_at: Time,
}

/// How far a link has come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    sent_bytes: f64,
    capacity_bytes: f64,
}

impl Link {
    /// A link at rest.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        let served = config.on_departure || config.acks_first || !config.rate_changes.is_empty();
        let plain = matches!(config.router, Router::DropTail(_));
        let waiting = if served {
            Waiting::Queues(Default::default())
        } else if plain && config.buffer == Buffer::Unlimited && !config.measured {
            Waiting::Unseen
        } else {
            Waiting::Known(VecDeque::new())
        };
        Self {
            ps_per_byte: 8e12 / config.rate.bps(),
            delay: config.delay,
            free_at: Time::ZERO,
            packets: 0,
            bytes: 0,
            line: VecDeque::new(),
            waiting,
            law: config.router,
            buffer: config.buffer,
            acks_first: config.acks_first,
            draw: Stream::new(seed, &config.name),
            meter: config.measured.then(Box::default),
            rate: config.rate,
            rate_changes: config.rate_changes.into(),
            accepted_bytes: 0,
            accepted_data: 0,
            accepted: 0,
            base: Progress::default(),
            probed: Progress::default(),
            capacity: 0.0,
            capacity_at: Time::ZERO,
        }
    }

    #[inline]
    fn transmission(&self, size: u16) -> Span {
        Span::from_ps((f64::from(size) * self.ps_per_byte + 0.5) as u64)
    }

    #[inline]
    fn hold(&mut self, now: Time) {
        if let Some(meter) = &mut self.meter {
            meter.hold(now, self.packets, self.bytes);
        }
    }

    /// Brings the queue up to `now`: packets whose known service has begun wait no longer.
    #[inline]
    fn advance(&mut self, now: Time) {
        if let Waiting::Known(starts) = &mut self.waiting {
            while let Some((start, size)) = starts.front().copied()
                && start <= now
            {
                starts.pop_front();
                if let Some(meter) = &mut self.meter {
                    meter.hold(start, self.packets, self.bytes);
                }
                self.packets -= 1;
                self.bytes -= u64::from(size);
            }
        }
    }

    /// Takes a packet, or drops it.
    #[inline]
    pub fn offer(&mut self, mut packet: Packet, now: Time) -> Offered {
        if !matches!(self.waiting, Waiting::Unseen) {
            self.advance(now);
            if !self.admit(&mut packet, now) {
                return Offered { wanted: Wanted::Nothing, dropped: true };
            }
        }
        self.accepted += 1;
        self.accepted_bytes += u64::from(packet.size);
        let data = packet.is_data();
        self.accepted_data += u64::from(data);
        let idle = self.free_at <= now;
        if let Waiting::Queues(queues) = &mut self.waiting {
            if !idle {
                queues[usize::from(data || !self.acks_first)].push_back(packet);
                self.enqueue(now, packet.size);
                return Offered { wanted: Wanted::Nothing, dropped: false };
            }
            return Offered { wanted: self.transmit(packet, now), dropped: false };
        }
        let start = if idle { now } else { self.free_at };
        if !idle && let Waiting::Known(starts) = &mut self.waiting {
            starts.push_back((start, packet.size));
            self.enqueue(now, packet.size);
        }
        self.free_at = start + self.transmission(packet.size);
        let wanted = self.launch(packet).map_or(Wanted::Nothing, Wanted::Line);
        Offered { wanted, dropped: false }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, size: u16) {
        self.hold(now);
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Puts a packet that is transmitted by `free_at` on the line; says when it arrives if it is the head.
    #[inline]
    fn launch(&mut self, mut packet: Packet) -> Option<Time> {
        packet.at = self.free_at + self.delay;
        let head = self.line.is_empty().then_some(packet.at);
        self.line.push_back(packet);
        head
    }

    /// The law's verdict and the buffer's.
    #[inline]
    fn admit(&mut self, packet: &mut Packet, now: Time) -> bool {
        let arrival = Arrival {
            queue: QueueView { now, packets: self.packets as u64, bytes: self.bytes },
            idle_since: (self.free_at <= now).then_some(self.free_at),
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let (law, draw) = (&mut self.law, &mut self.draw);
        let verdict = packet.with_wire(|wire| law.on_arrival(&arrival, wire, draw));
        let room = arrival.idle_since.is_some()
            || match self.buffer {
                Buffer::Unlimited => true,
                Buffer::Packets(limit) => (self.packets as u64) < limit,
                Buffer::Bytes(limit) => self.bytes + u64::from(packet.size) <= limit,
            };
        let marked = verdict == Verdict::Mark && packet.with_wire(ecn::mark);
        let dropped = !room || verdict == Verdict::Drop || (verdict == Verdict::Mark && !marked);
        if let Some(meter) = &mut self.meter {
            meter.offered += 1;
            meter.dropped += u64::from(dropped);
            meter.dropped_since_probe += u64::from(dropped);
            meter.marked += u64::from(marked && !dropped);
        }
        !dropped
    }

    /// Begins to transmit: the law acts, the packet goes on the line.
    fn transmit(&mut self, mut packet: Packet, now: Time) -> Wanted {
        let departure = Departure {
            queue: QueueView { now, packets: self.packets as u64, bytes: self.bytes },
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let law = &mut self.law;
        packet.with_wire(|wire| law.on_departure(&departure, wire));
        self.free_at = now + self.transmission(packet.size);
        let head = self.launch(packet);
        Wanted::Service(self.free_at, head)
    }

    /// A link that pays for departures is done with a packet: it takes the next.
    pub fn serve(&mut self, now: Time) -> Wanted {
        let Waiting::Queues(queues) = &mut self.waiting else { return Wanted::Nothing };
        let Some(packet) = queues[0].pop_front().or_else(|| queues[1].pop_front()) else {
            return Wanted::Nothing;
        };
        self.hold(now);
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        self.transmit(packet, now)
    }

    /// When the law wants its tick.
    pub fn tick_at(&self) -> Option<Time> {
        self.law.tick_at()
    }

    /// The law's tick.
    pub fn tick(&mut self, now: Time) {
        self.advance(now);
        self.law.on_tick(&QueueView { now, packets: self.packets as u64, bytes: self.bytes });
    }

    /// When the rate changes next.
    pub fn rate_change_at(&self) -> Option<Time> {
        self.rate_changes.front().map(|(at, _)| *at)
    }

    /// Changes the rate; the packet in service is transmitted at the old one.
    pub fn change_rate(&mut self, now: Time) {
        self.grow_capacity(now);
        if let Some((_, rate)) = self.rate_changes.pop_front() {
            self.rate = rate;
            self.ps_per_byte = 8e12 / rate.bps();
            self.law.on_rate(rate);
        }
    }

    fn grow_capacity(&mut self, now: Time) {
        self.capacity += self.rate.bytes_in(now.since(self.capacity_at));
        self.capacity_at = now;
    }

    fn progress(&mut self, now: Time) -> Progress {
        self.advance(now);
        self.grow_capacity(now);
        // What was accepted, less what waits and what is still in service.
        let unfinished = match &self.waiting {
            Waiting::Queues(_) => self.bytes as f64 + self.rate.bytes_in(self.free_at.since(now)),
            Waiting::Known(_) | Waiting::Unseen => self.rate.bytes_in(self.free_at.since(now)),
        };
        Progress {
            sent_bytes: self.accepted_bytes as f64 - unfinished,
            capacity_bytes: self.capacity,
        }
    }

    /// Statistics begin.
    pub fn warm(&mut self, now: Time) {
        self.base = self.progress(now);
        self.hold(now);
        if let Some(meter) = &mut self.meter {
            meter.reset(now);
        }
    }

    /// Is it measured?
    pub fn is_measured(&self) -> bool {
        self.meter.is_some()
    }

    /// Waiting packets now.
    pub fn queue(&mut self, now: Time) -> f64 {
        self.advance(now);
        self.packets as f64
    }

    /// The law's signal.
    pub fn signal(&self) -> f64 {
        self.law.signal()
    }

    /// Fraction of the capacity used since this was last asked.
    pub fn utilisation_since(&mut self, now: Time) -> f64 {
        let progress = self.progress(now);
        let before = std::mem::replace(&mut self.probed, progress);
        utilisation(before, progress)
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> f64 {
        self.meter.as_mut().map_or(0.0, |meter| std::mem::take(&mut meter.dropped_since_probe) as f64)
    }

    /// The numbers at the end; `None` if it is not measured.
    pub fn report(&mut self, link: LinkId, now: Time) -> Option<LinkReport> {
        let progress = self.progress(now);
        self.hold(now);
        let waiting_data = match &self.waiting {
            Waiting::Queues(queues) => queues.iter().flatten().filter(|p| p.is_data()).count(),
            Waiting::Known(_) | Waiting::Unseen => {
                let sent = |packet: &&Packet| packet.at <= now + self.delay;
                self.line.iter().rev().take_while(|p| !sent(p)).filter(|p| p.is_data()).count()
            }
        };
        let meter = self.meter.as_deref()?;
        Some(LinkReport {
            link,
            utilisation: utilisation(self.base, progress),
            queue_mean_packets: meter.mean_packets(),
            queue_mean_bytes: meter.mean_bytes(),
            queue_p90_packets: meter.quantile_packets(0.9),
            queue_max_packets: meter.max_packets(),
            offered: meter.offered,
            dropped: meter.dropped,
            marked: meter.marked,
            data_packets: self.accepted_data - waiting_data as u64,
        })
    }
}

/// The part of the capacity between two instants that was used.
fn utilisation(before: Progress, after: Progress) -> f64 {
    let capacity = after.capacity_bytes - before.capacity_bytes;
    if capacity <= 0.0 {
        return 0.0;
    }
    ((after.sent_bytes - before.sent_bytes) / capacity).clamp(0.0, 1.0)
}

/// The room of a buffer in bytes, as laws are told it.
pub fn room(buffer: Buffer, packet_bytes: u64) -> Bytes {
    match buffer {
        Buffer::Unlimited => Bytes(u64::MAX),
        Buffer::Bytes(bytes) => Bytes(bytes),
        Buffer::Packets(packets) => Bytes(packets * packet_bytes),
    }
}
