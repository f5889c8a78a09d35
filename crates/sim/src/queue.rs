//! What waits at a link's entrance: the law, the buffer, the statistics.

use crate::config::{Buffer, LinkConfig, LinkId};
use crate::impairment::Impairment;
use crate::meter::Meter;
use crate::packet::Packet;
use crate::random::Stream;
use crate::report::LinkReport;
use crate::ring::Ring;
use knee_laws::codecs::ecn;
use knee_laws::quantities::{BitRate, Time};
use knee_laws::registry::Router;
use knee_laws::router::{Arrival, Departure, QueueView, RouterLaw, Verdict};
use std::collections::VecDeque;

/// How packets wait.
#[derive(Debug)]
enum Waiting {
    /// On their way already, as their departure is known: when their service starts.
    Known(Ring<Expected>),
    /// In queues of their own, ACKs first if the link says so.
    Held([Ring<Packet>; 2]),
}

/// A packet whose departure is known.
#[derive(Clone, Copy, Debug)]
struct Expected {
    start: Time,
    size: u16,
    data: bool,
}

/// How far a link has come, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    sent: f64,
    capacity: f64,
}

/// The queue of a link. The packet in service is not part of it.
pub struct Queue {
    law: Router,
    waiting: Waiting,
    packets: usize,
    bytes: u64,
    buffer: Buffer,
    acks_first: bool,
    draw: Stream,
    /// What befalls packets once they are transmitted.
    pub impairment: Option<Impairment>,
    meter: Option<Meter>,
    rate: BitRate,
    rate_changes: VecDeque<(Time, BitRate)>,
    accepted_bytes: u64,
    accepted_data: u64,
    /// Capacity in bytes up to `capacity_at`.
    capacity: f64,
    capacity_at: Time,
    /// Where the link was when statistics began, and when a probe last asked.
    base: Progress,
    probed: Progress,
}

impl Queue {
    /// An empty queue.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        let held = config.on_departure || config.acks_first || !config.rate_changes.is_empty();
        Self {
            impairment: Impairment::new(&config, seed),
            law: config.router,
            waiting: if held {
                Waiting::Held(Default::default())
            } else {
                Waiting::Known(Ring::default())
            },
            packets: 0,
            bytes: 0,
            buffer: config.buffer,
            acks_first: config.acks_first,
            draw: Stream::new(seed, &config.name),
            meter: config.measured.then(Meter::default),
            rate: config.rate,
            rate_changes: config.rate_changes.into(),
            accepted_bytes: 0,
            accepted_data: 0,
            capacity: 0.0,
            capacity_at: Time::ZERO,
            base: Progress::default(),
            probed: Progress::default(),
        }
    }

    /// Must the link ask for every departure?
    #[inline]
    pub fn pays_for_departures(&self) -> bool {
        matches!(self.waiting, Waiting::Held(_))
    }

    fn view(&self, now: Time) -> QueueView {
        QueueView { now, packets: self.packets as u64, bytes: self.bytes }
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
            while let Some(&Expected { start, size, .. }) = starts.front()
                && start <= now
            {
                starts.pop();
                if let Some(meter) = &mut self.meter {
                    meter.hold(start, self.packets, self.bytes);
                }
                self.packets -= 1;
                self.bytes -= u64::from(size);
            }
        }
    }

    /// The law's verdict and the buffer's. `free_at` is when the transmitter is done.
    #[inline]
    pub fn admit(&mut self, packet: &mut Packet, now: Time, free_at: Time) -> bool {
        self.advance(now);
        let idle_since = (free_at <= now).then_some(free_at);
        let arrival = Arrival {
            queue: self.view(now),
            idle_since,
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let (law, draw) = (&mut self.law, &mut self.draw);
        let verdict = packet.with_wire(|wire| law.on_arrival(&arrival, wire, draw));
        let room = idle_since.is_some()
            || match self.buffer {
                Buffer::Unlimited => true,
                Buffer::Packets(limit) => (self.packets as u64) < limit,
                Buffer::Bytes(limit) => self.bytes + u64::from(packet.size) <= limit,
            };
        let marked = verdict == Verdict::Mark && room && packet.with_wire(ecn::mark);
        let accepted = room && (verdict == Verdict::Accept || marked);
        if let Some(meter) = &mut self.meter {
            meter.offered += 1;
            meter.dropped += u64::from(!accepted);
            meter.marked += u64::from(marked);
        }
        if accepted {
            self.accepted_bytes += u64::from(packet.size);
            self.accepted_data += u64::from(packet.is_data());
        }
        accepted
    }

    /// A packet waits for its service, which is known to start at `start`.
    #[inline]
    pub fn expect(&mut self, packet: &Packet, start: Time, now: Time) {
        self.grow(packet.size, now);
        if let Waiting::Known(starts) = &mut self.waiting {
            starts.push(Expected { start, size: packet.size, data: packet.is_data() });
        }
    }

    /// A packet waits here. While it does, `at` is when it came.
    #[inline]
    pub fn push(&mut self, packet: &mut Packet, now: Time) {
        packet.at = now;
        self.grow(packet.size, now);
        let later = packet.is_data() || !self.acks_first;
        if let Waiting::Held(queues) = &mut self.waiting {
            queues[usize::from(later)].push(*packet);
        }
    }

    #[inline]
    fn grow(&mut self, size: u16, now: Time) {
        self.hold(now);
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// The next packet that waits here.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        let Waiting::Held(queues) = &mut self.waiting else { return None };
        let packet = queues[0].pop().or_else(|| queues[1].pop())?;
        self.hold(now);
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// A packet that came at `since` is to be transmitted: the law acts. Does it go on?
    #[inline]
    pub fn depart(&mut self, packet: &mut Packet, since: Time, now: Time) -> bool {
        let departure = Departure {
            queue: self.view(now),
            waited: now.since(since),
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let law = &mut self.law;
        let verdict = packet.with_wire(|wire| law.on_departure(&departure, wire));
        if verdict == Verdict::Accept {
            return true;
        }
        let marked = verdict == Verdict::Mark && packet.with_wire(ecn::mark);
        if !marked {
            self.accepted_bytes -= u64::from(packet.size);
            self.accepted_data -= u64::from(packet.is_data());
        }
        if let Some(meter) = &mut self.meter {
            meter.marked += u64::from(marked);
            meter.dropped += u64::from(!marked);
        }
        marked
    }

    /// When the law wants its tick.
    pub fn tick_at(&self) -> Option<Time> {
        self.law.tick_at()
    }

    /// The law's tick.
    pub fn tick(&mut self, now: Time) {
        self.advance(now);
        self.law.on_tick(&self.view(now));
    }

    /// When the rate changes next.
    pub fn rate_change_at(&self) -> Option<Time> {
        self.rate_changes.front().map(|(at, _)| *at)
    }

    /// The new rate, of which the law is told.
    pub fn change_rate(&mut self, now: Time) -> Option<BitRate> {
        self.capacity_up_to(now);
        let (_, rate) = self.rate_changes.pop_front()?;
        self.rate = rate;
        self.law.on_rate(rate);
        Some(rate)
    }

    fn capacity_up_to(&mut self, now: Time) -> f64 {
        self.capacity += self.rate.bytes_in(now.since(self.capacity_at));
        self.capacity_at = now;
        self.capacity
    }

    /// What was transmitted: what was accepted, less what waits and what is still in service.
    fn progress(&mut self, now: Time, busy_until: Time) -> Progress {
        self.advance(now);
        let promised = self.rate.bytes_in(busy_until.since(now));
        let unsent = match self.waiting {
            Waiting::Known(_) => promised,
            Waiting::Held(_) => promised + self.bytes as f64,
        };
        Progress { sent: self.accepted_bytes as f64 - unsent, capacity: self.capacity_up_to(now) }
    }

    /// Does it keep statistics?
    pub fn is_measured(&self) -> bool {
        self.meter.is_some()
    }

    /// Statistics begin.
    pub fn warm(&mut self, now: Time, busy_until: Time) {
        self.base = self.progress(now, busy_until);
        self.hold(now);
        if let Some(meter) = &mut self.meter {
            meter.reset(now);
        }
        if let Some(impairment) = &mut self.impairment {
            impairment.lost = 0;
        }
    }

    /// Waiting packets now.
    pub fn length(&mut self, now: Time) -> f64 {
        self.advance(now);
        self.packets as f64
    }

    /// What the law says.
    pub fn signal(&self) -> f64 {
        self.law.signal()
    }

    /// Fraction of the capacity used since this was last asked.
    pub fn utilisation_since(&mut self, now: Time, busy_until: Time) -> f64 {
        let progress = self.progress(now, busy_until);
        let before = std::mem::replace(&mut self.probed, progress);
        utilisation(before, progress)
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> f64 {
        self.meter.as_mut().map_or(0, Meter::drops_since) as f64
    }

    /// The numbers at the end.
    pub fn report(&mut self, link: LinkId, now: Time, busy_until: Time) -> Option<LinkReport> {
        let progress = self.progress(now, busy_until);
        self.hold(now);
        let waiting_data = match &self.waiting {
            Waiting::Known(starts) => starts.iter().filter(|packet| packet.data).count(),
            Waiting::Held(queues) => {
                queues.iter().flat_map(Ring::iter).filter(|p| p.is_data()).count()
            }
        };
        let meter = self.meter.as_ref()?;
        Some(LinkReport {
            link,
            utilisation: utilisation(self.base, progress),
            queue_mean_packets: meter.mean_packets(),
            queue_mean_bytes: meter.mean_bytes(),
            queue_p90_packets: meter.quantile_packets(0.9),
            queue_max_packets: meter.max_packets(),
            offered: meter.offered,
            dropped: meter.dropped,
            lost: self.impairment.as_ref().map_or(0, |impairment| impairment.lost),
            marked: meter.marked,
            data_packets: self.accepted_data - waiting_data as u64,
        })
    }
}

/// The part of the capacity between two instants that was used.
fn utilisation(before: Progress, after: Progress) -> f64 {
    let capacity = after.capacity - before.capacity;
    if capacity <= 0.0 {
        return 0.0;
    }
    ((after.sent - before.sent) / capacity).clamp(0.0, 1.0)
}
