//! What waits at a link's entrance: the law, the buffer, the statistics.

use crate::config::{Buffer, LinkConfig, LinkId};
use crate::held::Held;
use crate::impairment::Impairment;
use crate::meter::Meter;
use crate::packet::Packet;
use crate::random::Stream;
use crate::report::LinkReport;
use crate::ring::Ring;
use knee_laws::codecs::ecn;
use knee_laws::quantities::{BitRate, Time};
use knee_laws::registry::Router;
use knee_laws::router::{
    Arrival, Departure, Eviction, QueueView, RouterLaw, Verdict, Waiting as View,
};
use std::collections::VecDeque;

/// How packets wait.
#[derive(Debug)]
enum Waiting {
    /// On their way already, as their departure is known: when their service starts.
    Known(Ring<Expected>),
    /// Until a departure event, in the law's queues.
    Held(Held),
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
    /// What the law still has to drop where the buffer has overflowed.
    eviction: Eviction,
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
        let held = config.on_departure || config.queues > 1 || !config.rate_changes.is_empty();
        if held {
            Self::held(config, seed)
        } else {
            Self::with(Waiting::Known(Ring::default()), config, seed)
        }
    }

    /// An empty queue of packets that wait for a departure event, whatever the law.
    pub fn held(config: LinkConfig, seed: u64) -> Self {
        Self::with(Waiting::Held(Held::new(config.queues)), config, seed)
    }

    fn with(waiting: Waiting, config: LinkConfig, seed: u64) -> Self {
        Self {
            impairment: Impairment::new(&config, seed),
            law: config.router,
            waiting,
            packets: 0,
            bytes: 0,
            buffer: config.buffer,
            eviction: Eviction { queue: 0, packets: 0 },
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

    #[inline(always)]
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

    /// Does nothing wait?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Do so many packets and bytes fit?
    #[inline]
    fn fits(&self, packets: usize, bytes: u64) -> bool {
        match self.buffer {
            Buffer::Unlimited => true,
            Buffer::Packets(limit) => packets as u64 <= limit,
            Buffer::Bytes(limit) => bytes <= limit,
        }
    }

    /// The law's verdict and the buffer's: which queue the packet joins, if any. `free_at` is when the
    /// transmitter is done.
    #[inline]
    pub fn admit(&mut self, packet: &mut Packet, now: Time, free_at: Time) -> Option<usize> {
        self.advance(now);
        let idle_since = (free_at <= now && self.is_empty()).then_some(free_at);
        let arrival = Arrival {
            queue: self.view(now),
            idle_since,
            flow: packet.flow,
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let verdict = self.law.on_arrival(&arrival, &mut packet.wire(), &mut self.draw);
        let room = idle_since.is_some()
            || self.fits(self.packets + 1, self.bytes + u64::from(packet.size))
            || (verdict != Verdict::Drop && self.asks_for_eviction());
        let accepted = room && (verdict == Verdict::Accept || self.mark(verdict, packet));
        if let Some(meter) = &mut self.meter {
            meter.offered += 1;
            meter.dropped += u64::from(!accepted);
        }
        if accepted {
            self.accepted_bytes += u64::from(packet.size);
            self.accepted_data += u64::from(packet.is_data());
            return Some(match &self.waiting {
                Waiting::Held(held) if held.is_several() => {
                    self.law.classify(&arrival, &packet.wire())
                }
                _ => 0,
            });
        }
        self.eviction.packets = 0;
        if verdict != Verdict::Drop {
            self.law.on_overflow(&arrival, &packet.wire());
        }
        None
    }

    /// Marks a packet, if the law says so and its sender understands. Is it marked?
    #[inline(never)]
    fn mark(&mut self, verdict: Verdict, packet: &mut Packet) -> bool {
        let marked = verdict == Verdict::Mark && ecn::mark(&mut packet.wire());
        if let Some(meter) = &mut self.meter {
            meter.marked += u64::from(marked);
        }
        marked
    }

    /// The buffer overflows: asks the law whose packets to drop. Are there any?
    #[cold]
    fn asks_for_eviction(&mut self) -> bool {
        if let Waiting::Held(held) = &self.waiting
            && held.is_several()
            && let Some(eviction) = self.law.evict(held.views())
        {
            self.eviction = eviction;
        }
        self.eviction.packets > 0
    }

    /// Has the buffer overflown, so that there are packets to [evict](Self::evict)?
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.eviction.packets > 0
    }

    /// The next packet that is dropped because the buffer has overflown.
    pub fn evict(&mut self, now: Time) -> Option<Packet> {
        if !self.is_overfull() && !self.fits(self.packets, self.bytes) {
            self.asks_for_eviction();
        }
        let packet = match &mut self.waiting {
            Waiting::Held(held) if self.eviction.packets > 0 => held.pop(self.eviction.queue),
            _ => None,
        };
        let Some(packet) = packet else {
            self.eviction.packets = 0;
            return None;
        };
        self.eviction.packets -= 1;
        self.shrink(packet.size, now);
        self.withdraw(&packet);
        Some(packet)
    }

    /// A packet that was accepted is dropped after all.
    fn withdraw(&mut self, packet: &Packet) {
        self.accepted_bytes -= u64::from(packet.size);
        self.accepted_data -= u64::from(packet.is_data());
        if let Some(meter) = &mut self.meter {
            meter.dropped += 1;
        }
    }

    /// A packet waits for its service, which is known to start at `start`.
    #[inline]
    pub fn expect(&mut self, packet: &Packet, start: Time, now: Time) {
        self.grow(packet.size, now);
        if let Waiting::Known(starts) = &mut self.waiting {
            starts.push(Expected { start, size: packet.size, data: packet.is_data() });
        }
    }

    /// A packet waits here, for which this link is the given hop. While it does, `at` is when it came.
    #[inline]
    pub fn push(&mut self, packet: &Packet, queue: usize, hop: u32, now: Time) {
        self.grow(packet.size, now);
        if let Waiting::Held(held) = &mut self.waiting {
            let place = held.push(queue, packet);
            place.at = now;
            place.hop = hop;
        }
    }

    #[inline]
    fn grow(&mut self, size: u16, now: Time) {
        self.hold(now);
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    #[inline(always)]
    fn shrink(&mut self, size: u16, now: Time) {
        self.hold(now);
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// The queue that is served next, if anything waits here.
    #[inline(always)]
    pub fn select(&mut self) -> Option<usize> {
        let Waiting::Held(held) = &self.waiting else { return None };
        if held.is_several() { self.law.select(held.views()) } else { Some(0) }
    }

    /// The first packet of this queue.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize, now: Time) -> Option<Packet> {
        let Waiting::Held(held) = &mut self.waiting else { return None };
        let packet = held.pop(queue)?;
        self.shrink(packet.size, now);
        Some(packet)
    }

    /// A packet that came at `since` is to be transmitted: the law acts. Does it go on?
    #[inline(always)]
    pub fn depart(&mut self, packet: &mut Packet, from: usize, since: Time, now: Time) -> bool {
        let queue = match &self.waiting {
            Waiting::Held(held) => held.views()[from],
            Waiting::Known(_) => View::default(),
        };
        let departure = Departure {
            queue: QueueView { now, packets: queue.packets, bytes: queue.bytes },
            from,
            waited: now.since(since),
            size: u32::from(packet.size),
            data: packet.is_data(),
        };
        let verdict = self.law.on_departure(&departure, &mut packet.wire());
        if verdict == Verdict::Accept {
            return true;
        }
        let marked = self.mark(verdict, packet);
        if !marked {
            self.withdraw(packet);
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
        let all = self.view(now);
        match &mut self.waiting {
            Waiting::Held(held) if held.is_several() => {
                self.law.on_tick_queues(&all, held.waits(now));
            }
            _ => self.law.on_tick(&all),
        }
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
            Waiting::Held(held) => held.iter().filter(|packet| packet.is_data()).count(),
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
