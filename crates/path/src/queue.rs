//! A router law with the packets that wait for it: what is admitted, marked, dropped, evicted, served.

use crate::buffer::Buffer;
use crate::held::Held;
use crate::packet::Packet;
use crate::random::Stream;
use crate::ring::Ring;
use knee_laws::codecs::ecn;
use knee_laws::params::{ParamError, Value};
use knee_laws::quantities::{BitRate, Time};
use knee_laws::registry::Router;
use knee_laws::router::{
    Arrival, Departure, Eviction, Needs, QueueView, RouterLaw, Verdict, Waiting as View,
};

/// How packets wait.
#[derive(Debug)]
enum Waiting<P> {
    /// Elsewhere, on their way already, as their departure is known: when their service starts.
    Known(Ring<Expected>),
    /// Here until they are taken, in the law's queues.
    Held(Held<P>),
}

/// A packet whose departure is known.
#[derive(Clone, Copy, Debug)]
struct Expected {
    start: Time,
    size: u32,
    data: bool,
}

/// What a queue is made of.
pub struct Hop {
    /// The law.
    pub law: Router,
    /// What the law needs.
    pub needs: Needs,
    /// Room for what waits.
    pub buffer: Buffer,
    /// The law's random numbers.
    pub draw: Stream,
}

/// Who keeps statistics of a queue.
pub trait Watch {
    /// Up to `until` the queue held so much, since it was last told.
    fn hold(&mut self, until: Time, packets: usize, bytes: u64);
    /// A packet that came at `came` is dropped.
    fn dropped(&mut self, came: Time);
    /// A packet that came at `came` is marked.
    fn marked(&mut self, came: Time);
}

/// Nobody does.
impl Watch for () {
    fn hold(&mut self, _: Time, _: usize, _: u64) {}
    fn dropped(&mut self, _: Time) {}
    fn marked(&mut self, _: Time) {}
}

/// An amount of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Count {
    #[inline(always)]
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
}

/// What a queue has seen since its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Packets that it was offered.
    pub offered: Count,
    /// Packets that were dropped, by the law or for want of room, on arrival or later.
    pub dropped: Count,
    /// Data packets among those offered, less those dropped.
    pub data: u64,
}

/// The queue of a hop. The packet in service is not part of it.
pub struct Queue<P, W = ()> {
    law: Router,
    waiting: Waiting<P>,
    packets: usize,
    bytes: u64,
    buffer: Buffer,
    /// What the law still has to drop where the buffer has overflowed.
    eviction: Eviction,
    draw: Stream,
    tally: Tally,
    /// Who keeps its statistics.
    pub watch: W,
    /// Packets that have left for transmission, counted where they leave: what [`Self::audit`] compares.
    #[cfg(debug_assertions)]
    departed: Count,
}

impl<P: Packet, W: Watch> Queue<P, W> {
    /// An empty queue whose packets are on their way as soon as they come, where the law allows it.
    pub fn new(hop: Hop, watch: W) -> Self {
        if hop.needs.departures || hop.needs.queues > 1 {
            return Self::held(hop, watch);
        }
        Self::with(Waiting::Known(Ring::default()), hop, watch)
    }

    /// An empty queue whose packets wait until they are taken, whatever the law.
    pub fn held(hop: Hop, watch: W) -> Self {
        Self::with(Waiting::Held(Held::new(hop.needs.queues)), hop, watch)
    }

    fn with(waiting: Waiting<P>, hop: Hop, watch: W) -> Self {
        Self {
            law: hop.law,
            waiting,
            packets: 0,
            bytes: 0,
            buffer: hop.buffer,
            eviction: Eviction { queue: 0, packets: 0 },
            draw: hop.draw,
            tally: Tally::default(),
            watch,
            #[cfg(debug_assertions)]
            departed: Count::default(),
        }
    }

    /// A packet leaves for transmission.
    #[inline(always)]
    fn leave(&mut self, _size: u32) {
        #[cfg(debug_assertions)]
        self.departed.add(_size);
    }

    /// What was offered has departed, was dropped, or waits: in packets and in bytes. Panics where it is not so;
    /// release builds do not count.
    pub fn audit(&self) {
        #[cfg(debug_assertions)]
        {
            let Tally { offered, dropped, .. } = self.tally;
            let accounted =
                |departed: u64, dropped: u64, waiting: u64| departed + dropped + waiting;
            assert_eq!(
                (offered.packets, offered.bytes),
                (
                    accounted(self.departed.packets, dropped.packets, self.packets as u64),
                    accounted(self.departed.bytes, dropped.bytes, self.bytes)
                ),
                "packets and bytes offered, against those departed, dropped and waiting"
            );
        }
    }

    /// What it has seen so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Data packets that have left for transmission.
    pub fn data_departed(&self) -> u64 {
        let waiting = match &self.waiting {
            Waiting::Known(starts) => starts.iter().filter(|packet| packet.data).count(),
            Waiting::Held(held) => held.iter().filter(|packet| packet.is_data()).count(),
        };
        self.tally.data - waiting as u64
    }

    /// Bytes that wait here and are not promised to anybody.
    pub fn held_bytes(&self) -> u64 {
        if self.pays_for_departures() { self.bytes } else { 0 }
    }

    /// Packets that wait here, queue by queue; none where they are on their way as soon as they come.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        match &self.waiting {
            Waiting::Known(_) => None,
            Waiting::Held(held) => Some(held.iter()),
        }
        .into_iter()
        .flatten()
    }

    /// The law's complaint, if it cannot go on.
    #[inline]
    pub fn failure(&self) -> Option<&str> {
        self.law.failure()
    }

    /// Do packets wait here until they are taken?
    #[inline]
    pub fn pays_for_departures(&self) -> bool {
        matches!(self.waiting, Waiting::Held(_))
    }

    fn view(&self, now: Time) -> QueueView {
        QueueView { now, packets: self.packets as u64, bytes: self.bytes }
    }

    #[inline(always)]
    fn hold(&mut self, now: Time) {
        self.watch.hold(now, self.packets, self.bytes);
    }

    /// Packets whose known service has begun by `to` wait no longer.
    #[inline]
    pub fn advance(&mut self, to: Time) {
        if let Waiting::Known(starts) = &mut self.waiting {
            while let Some(&Expected { start, size, .. }) = starts.front()
                && start <= to
            {
                starts.pop();
                self.watch.hold(start, self.packets, self.bytes);
                self.packets -= 1;
                self.bytes -= u64::from(size);
                #[cfg(debug_assertions)]
                self.departed.add(size);
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

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The law's verdict and the buffer's: which queue the packet joins, if any. `free_at` is when the
    /// transmitter is done; `flow` is [`Arrival::flow`].
    #[inline]
    pub fn admit(
        &mut self,
        packet: &mut P,
        (now, free_at): (Time, Time),
        flow: u32,
    ) -> Option<usize> {
        self.advance(before(now));
        let idle_since = (free_at <= now && self.is_empty()).then_some(free_at);
        let arrival = Arrival {
            queue: self.view(now),
            idle_since,
            flow,
            size: packet.size(),
            data: packet.is_forward(),
        };
        self.tally.offered.add(arrival.size);
        let verdict = self.law.on_arrival(&arrival, &mut packet.wire(), &mut self.draw);
        let room = idle_since.is_some()
            || self.buffer.fits(self.packets + 1, self.bytes + u64::from(arrival.size))
            || (verdict != Verdict::Drop && self.asks_for_eviction());
        if room && (verdict == Verdict::Accept || self.mark(verdict, packet, now)) {
            self.tally.data += u64::from(packet.is_data());
            return Some(match &self.waiting {
                Waiting::Held(held) if held.is_several() => {
                    self.law.classify(&arrival, &packet.wire())
                }
                _ => 0,
            });
        }
        self.eviction.packets = 0;
        self.tally.dropped.add(arrival.size);
        self.watch.dropped(now);
        if verdict != Verdict::Drop {
            self.law.on_overflow(&arrival, &packet.wire());
        }
        None
    }

    /// Marks a packet, if the law says so and its sender understands. Is it marked?
    #[inline(never)]
    fn mark(&mut self, verdict: Verdict, packet: &mut P, came: Time) -> bool {
        let marked = verdict == Verdict::Mark && ecn::mark(&mut packet.wire());
        if marked {
            self.watch.marked(came);
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
    pub fn evict(&mut self, now: Time) -> Option<P> {
        if !self.is_overfull() && !self.buffer.fits(self.packets, self.bytes) {
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
        self.shrink(packet.size(), now);
        self.withdraw(&packet, packet.queued_at());
        Some(packet)
    }

    /// A packet that was accepted is dropped after all.
    fn withdraw(&mut self, packet: &P, came: Time) {
        self.tally.dropped.add(packet.size());
        self.tally.data -= u64::from(packet.is_data());
        self.watch.dropped(came);
    }

    /// An admitted packet's service is known to start at `start`; if that is later than `now` it waits for it.
    #[inline]
    pub fn expect(&mut self, packet: &P, start: Time, now: Time) {
        if start <= now {
            return self.leave(packet.size());
        }
        self.grow(packet.size(), now);
        if let Waiting::Known(starts) = &mut self.waiting {
            starts.push(Expected { start, size: packet.size(), data: packet.is_data() });
        }
    }

    /// An admitted packet waits here. Gives its place, in which the caller may still change it.
    #[inline]
    pub fn push(&mut self, packet: &P, queue: usize, now: Time) -> Option<&mut P> {
        self.grow(packet.size(), now);
        let Waiting::Held(held) = &mut self.waiting else { return None };
        let place = held.push(queue, packet);
        place.set_queued_at(now);
        Some(place)
    }

    #[inline]
    fn grow(&mut self, size: u32, now: Time) {
        self.hold(now);
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    #[inline(always)]
    fn shrink(&mut self, size: u32, now: Time) {
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
    pub fn pop(&mut self, queue: usize, now: Time) -> Option<P> {
        let Waiting::Held(held) = &mut self.waiting else { return None };
        let packet = held.pop(queue)?;
        self.shrink(packet.size(), now);
        Some(packet)
    }

    /// A packet that came at `since` is to be transmitted: the law acts. Does it go on?
    #[inline(always)]
    pub fn depart(&mut self, packet: &mut P, from: usize, since: Time, now: Time) -> bool {
        let queue = match &self.waiting {
            Waiting::Held(held) => held.views()[from],
            Waiting::Known(_) => View::default(),
        };
        let departure = Departure {
            queue: QueueView { now, packets: queue.packets, bytes: queue.bytes },
            from,
            waited: now.since(since),
            size: packet.size(),
            data: packet.is_forward(),
        };
        let verdict = self.law.on_departure(&departure, &mut packet.wire());
        let goes = verdict == Verdict::Accept || self.mark(verdict, packet, since);
        if goes {
            self.leave(departure.size);
        } else {
            self.withdraw(packet, since);
        }
        goes
    }

    /// When the law wants its tick.
    pub fn tick_at(&self) -> Option<Time> {
        self.law.tick_at()
    }

    /// The law's tick, over the queue as it is at `now`.
    pub fn tick(&mut self, now: Time) {
        self.advance(before(now));
        let all = self.view(now);
        match &mut self.waiting {
            Waiting::Held(held) if held.is_several() => {
                self.law.on_tick_queues(&all, held.waits(now));
            }
            _ => self.law.on_tick(&all),
        }
    }

    /// The link's rate has changed: the law is told.
    pub fn on_rate(&mut self, rate: BitRate) {
        self.law.on_rate(rate);
    }

    /// Changes a parameter of the law.
    ///
    /// # Errors
    /// Where the law refuses it.
    pub fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.law.tune(name, value)
    }

    /// What the law says.
    pub fn signal(&self) -> f64 {
        self.law.signal()
    }
}

/// The last instant before: who comes, or looks, at the instant of a departure finds the packet still waiting.
#[inline]
fn before(now: Time) -> Time {
    Time::from_ps(now.ps().saturating_sub(1))
}

#[cfg(test)]
mod tests;
