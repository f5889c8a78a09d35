//! The agenda: what happens next. It holds one entry a line, link, flow timer or source, never one a packet.
//!
//! A four-ary heap of 16-byte entries. Events at the same picosecond happen in the order in which they
//! were scheduled. Times are unique keys together with that order, so a run never depends on the heap.

use knee_laws::quantities::Time;

/// What an entry is about; `index` is a link, flow or source as the kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(u32);

/// The kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The head of a link's line reaches the far end.
    Line = 0,
    /// A link that pays for departures has transmitted a packet.
    Served = 1,
    /// A router law's tick.
    Tick = 2,
    /// A link's rate changes.
    Rate = 3,
    /// A flow starts.
    Start = 4,
    /// A flow stops offering data.
    Stop = 5,
    /// A flow's retransmission timer.
    Timeout = 6,
    /// A paced flow may send again.
    Pace = 7,
    /// A law asked to be woken.
    Wake = 8,
    /// A receiver's delayed ACK.
    DelayedAck = 9,
    /// A source's next arrival.
    Arrival = 10,
    /// A probe samples.
    Probe = 11,
    /// Statistics begin.
    Warmup = 12,
}

const KINDS: [Kind; 13] = [
    Kind::Line,
    Kind::Served,
    Kind::Tick,
    Kind::Rate,
    Kind::Start,
    Kind::Stop,
    Kind::Timeout,
    Kind::Pace,
    Kind::Wake,
    Kind::DelayedAck,
    Kind::Arrival,
    Kind::Probe,
    Kind::Warmup,
];

const INDEX_BITS: u32 = 24;
const EVENT_BITS: u32 = INDEX_BITS + 4;

/// The largest number of links, flows or sources.
pub const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

impl Event {
    /// An event of this kind about this component.
    #[inline]
    pub fn new(kind: Kind, index: u32) -> Self {
        debug_assert!(index as usize <= MAX_INDEX);
        Self(((kind as u32) << INDEX_BITS) | index)
    }
    /// Its kind.
    #[inline]
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> INDEX_BITS) as usize]
    }
    /// The component that it is about.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & MAX_INDEX as u32
    }
}

/// Time, then order of scheduling, then the event itself, in one number that sorts.
type Entry = u128;

const ARITY: usize = 4;

/// The pending events.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: Vec<Entry>,
    scheduled: u64,
}

impl Agenda {
    /// Enters an event.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: Event) {
        let entry = self.entry(at, event);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1, entry);
    }

    /// The next event and its time.
    #[inline]
    pub fn peek(&self) -> Option<(Time, Event)> {
        self.heap.first().map(|entry| {
            (Time::from_ps((entry >> 64) as u64), Event((*entry as u32) & ((1 << EVENT_BITS) - 1)))
        })
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
    }

    /// Replaces the next event by one that is not earlier: what a line does that has more packets.
    #[inline]
    pub fn replace(&mut self, at: Time, event: Event) {
        let entry = self.entry(at, event);
        self.sink(entry);
    }

    #[inline]
    fn entry(&mut self, at: Time, event: Event) -> Entry {
        self.scheduled += 1;
        (u128::from(at.ps()) << 64) | u128::from((self.scheduled << EVENT_BITS) | u64::from(event.0))
    }

    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }

    /// Puts `entry` where the first one was and moves it down to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = self.heap.as_mut_slice();
        let mut place = 0;
        loop {
            let first = place * ARITY + 1;
            let (least, child) = if let Some(four) = heap.get(first..first + ARITY) {
                let left = if four[1] < four[0] { (four[1], 1) } else { (four[0], 0) };
                let right = if four[3] < four[2] { (four[3], 3) } else { (four[2], 2) };
                let (least, offset) = if right.0 < left.0 { right } else { left };
                (least, first + offset)
            } else if let Some((offset, least)) =
                heap.get(first..).and_then(|some| some.iter().enumerate().min_by_key(|(_, e)| **e))
            {
                (*least, first + offset)
            } else {
                break;
            };
            if least >= entry {
                break;
            }
            heap[place] = least;
            place = child;
        }
        heap[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn ties_break_in_scheduling_order() {
        let mut agenda = Agenda::default();
        for index in [3, 1, 2] {
            agenda.schedule(Time::from_ps(7), Event::new(Kind::Line, index));
        }
        agenda.schedule(Time::from_ps(6), Event::new(Kind::Wake, 9));
        let mut order = vec![];
        while let Some((_, event)) = agenda.peek() {
            order.push(event.index());
            agenda.pop();
        }
        assert_eq!(order, [9, 3, 1, 2]);
    }

    #[test]
    fn kinds_survive_packing() {
        for (code, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, code);
            let event = Event::new(kind, MAX_INDEX as u32);
            assert_eq!((event.kind(), event.index()), (kind, MAX_INDEX as u32));
        }
    }

    proptest! {
        /// The agenda against the standard library's heap, under random operations.
        #[test]
        fn order_is_that_of_a_sorted_list(operations in prop::collection::vec((0u8..3, 0u64..50), 1..400)) {
            let mut agenda = Agenda::default();
            let mut oracle = BinaryHeap::new();
            let mut now = 0;
            for (order, (operation, ahead)) in operations.into_iter().enumerate() {
                let (at, event) = (Time::from_ps(now + ahead), Event::new(Kind::Line, order as u32));
                let pending = oracle.peek().map(|Reverse((at, order))| (*at, *order));
                prop_assert_eq!(agenda.peek().map(|(at, e)| (at.ps(), e.index() as usize)), pending);
                match operation {
                    0 => { agenda.schedule(at, event); oracle.push(Reverse((at.ps(), order))); }
                    1 => { agenda.pop(); oracle.pop(); now = pending.map_or(now, |p| p.0); }
                    _ if pending.is_some() => {
                        now = pending.map_or(now, |p| p.0);
                        let at = Time::from_ps(now + ahead);
                        agenda.replace(at, event);
                        oracle.pop();
                        oracle.push(Reverse((at.ps(), order)));
                    }
                    _ => {}
                }
                prop_assert_eq!(agenda.heap.len(), oracle.len());
            }
        }
    }
}
