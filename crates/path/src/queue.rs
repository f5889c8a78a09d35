//! A queue: a router law with its waiting packets. It admits, marks, drops, evicts and serves packets.

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
    /// Elsewhere: their departure is known, and they are on their way already. Holds when their service starts.
    Known(Ring<Expected>),
    /// Here, in the law's queues, until they are taken.
    Held(Held<P>),
}

/// A packet whose departure is known.
#[derive(Clone, Copy, Debug)]
struct Expected {
    start: Time,
    size: u32,
    data: bool,
}

/// The parts of a queue.
pub struct Hop {
    /// The law.
    pub law: Router,
    /// What the law needs.
    pub needs: Needs,
    /// The buffer.
    pub buffer: Buffer,
    /// The law's random numbers.
    pub draw: Stream,
}

/// Statistics of a queue.
pub trait Watch {
    /// Since the last call, and up to `until`, the queue held this much.
    fn hold(&mut self, until: Time, packets: usize, bytes: u64);
    /// A packet that came at `came` is dropped.
    fn dropped(&mut self, came: Time);
    /// A packet that came at `came` is marked.
    fn marked(&mut self, came: Time);
}

/// No statistics.
impl Watch for () {
    fn hold(&mut self, _: Time, _: usize, _: u64) {}
    fn dropped(&mut self, _: Time) {}
    fn marked(&mut self, _: Time) {}
}

/// An amount of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of packets.
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

/// The counts of a queue since its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Packets that it was offered.
    pub offered: Count,
    /// Packets that were dropped, by the law or since the buffer was full, on arrival or later.
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
    /// The packets that are still to be dropped after an overflow of the buffer.
    eviction: Eviction,
    draw: Stream,
    tally: Tally,
    /// Its statistics.
    pub watch: W,
    /// Packets that have left for transmission, counted when they leave, for [`Self::audit`].
    #[cfg(debug_assertions)]
    departed: Count,
}

impl<P: Packet, W: Watch> Queue<P, W> {
    /// An empty queue. If the law allows it, packets are on their way as soon as they come.
    pub fn new(hop: Hop, watch: W) -> Self {
        if hop.needs.departures || hop.needs.queues > 1 {
            return Self::held(hop, watch);
        }
        Self::with(Waiting::Known(Ring::default()), hop, watch)
    }

    /// An empty queue. Packets wait until they are taken, whatever the law.
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

    /// Panics unless every packet and byte that was offered has departed, was dropped, or waits. Release builds do not
    /// check this.
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

    /// The counts so far.
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

    /// Bytes of the packets that wait here until they are taken.
    pub fn held_bytes(&self) -> u64 {
        if self.pays_for_departures() { self.bytes } else { 0 }
    }

    /// Packets that wait here until they are taken, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        match &self.waiting {
            Waiting::Known(_) => None,
            Waiting::Held(held) => Some(held.iter()),
        }
        .into_iter()
        .flatten()
    }

    /// Why the law has failed, if it has.
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

    /// Removes packets whose known service has begun by `to`.
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

    /// Does no packet wait?
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

    /// Asks law and buffer for a packet. Returns the queue that it joins, if it is admitted. `free_at` is when the
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

    /// Marks a packet, if the verdict is a mark and the packet can carry one. Returns whether it is marked.
    #[inline(never)]
    fn mark(&mut self, verdict: Verdict, packet: &mut P, came: Time) -> bool {
        let marked = verdict == Verdict::Mark && ecn::mark(&mut packet.wire());
        if marked {
            self.watch.marked(came);
        }
        marked
    }

    /// The buffer overflows: asks the law which queue's packets to drop. Returns whether there are any.
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

    /// Has the buffer overflowed, so that there are packets to [evict](Self::evict)?
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.eviction.packets > 0
    }

    /// The next packet to drop, because the buffer has overflowed.
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

    /// A packet that the law has accepted is dropped.
    fn withdraw(&mut self, packet: &P, came: Time) {
        self.tally.dropped.add(packet.size());
        self.tally.data -= u64::from(packet.is_data());
        self.watch.dropped(came);
    }

    /// The service of an admitted packet is known to start at `start`. If that is later than `now`, it waits.
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

    /// An admitted packet waits here. Returns a reference to it in the queue, so that the caller may change it.
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

    /// The queue that is served next, if a packet waits here.
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

    /// A packet that came at `since` is to be transmitted. The law may drop it; returns whether it does not.
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

    /// Calls the law's tick, with the queue at `now`.
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

    /// Tells the law that the link's rate has changed.
    pub fn on_rate(&mut self, rate: BitRate) {
        self.law.on_rate(rate);
    }

    /// Changes a parameter of the law.
    ///
    /// # Errors
    /// If the law refuses it.
    pub fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.law.tune(name, value)
    }

    /// The law's signal.
    pub fn signal(&self) -> f64 {
        self.law.signal()
    }
}

/// The last instant before `now`: at the very instant of its departure, a packet still counts as waiting.
#[inline]
fn before(now: Time) -> Time {
    Time::from_ps(now.ps().saturating_sub(1))
}

#[cfg(test)]
mod tests;
