//! The agenda: the pending events. It holds one entry for each line, link, flow timer or source, and none for
//! packets, except the few that a link delays at random.
//!
//! It is a calendar queue: a wheel of buckets, and a heap for events beyond the wheel's horizon. A bucket is about
//! as wide as the mean gap between events, so that scheduling and taking an event cost the same whether ten or a
//! million are pending. Width and number of buckets adapt to the events; the order of events does not depend on them.
//!
//! Events at the same picosecond happen in the order of their [`Kind`], then of their component. This order
//! follows from the events alone: what other components do cannot change it. Two pending events of one kind and
//! one component mean the same, so their order does not matter (docs/decisions/0019-order-of-events.md).

use knee_laws::quantities::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event: its kind, and the index of the link, flow, source or channel that it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(u32);

macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident,)*) => {
        /// The kinds of event, in the order in which they happen at one instant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $Kind,)* }

        const KINDS: &[Kind] = &[$(Kind::$Kind,)*];
    };
}

kinds! {
    /// Statistics begin: everything at that instant counts.
    Warmup,
    /// A link changes.
    Change,
    /// A router law's tick: what arrives at this instant belongs to the next interval.
    Tick,
    /// The head of a link's line reaches the far end.
    Line,
    /// A packet that left a line's order reaches the far end.
    Late,
    /// A link with departure events has transmitted a packet. It chooses the next also from those that arrived at this
    /// instant.
    Served,
    /// A transmission on a shared channel begins or ends.
    Medium,
    /// A receiver's delayed ACK.
    DelayedAck,
    /// A flow stops offering data.
    Stop,
    /// A flow starts.
    Start,
    /// A source's next arrival.
    Arrival,
    /// A law asked to be woken.
    Wake,
    /// A paced flow may send again.
    Pace,
    /// A flow's retransmission timer: an ACK that arrives at this instant is in time.
    Timeout,
    /// A probe samples, after everything else at this instant.
    Probe,
}

const KIND_BITS: u32 = 5;
const INDEX_BITS: u32 = u32::BITS - KIND_BITS;
const _: () = assert!(KINDS.len() <= 1 << KIND_BITS);

/// The largest number of links, flows or sources.
pub const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

impl Event {
    /// An event of this kind for this component.
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
    /// The index of its component.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & MAX_INDEX as u32
    }
}

/// An event and its instant in picoseconds; sorts by the instant, then by the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    event: Event,
}

/// No node.
const NIL: u32 = u32::MAX;
const MIN_BUCKETS: usize = 512;
const FIRST_SHIFT: u32 = 22;
/// Events between looks at the width of the buckets.
const REVIEW: u64 = 1 << 14;
/// The most entries of a bucket that are kept sorted. A heap holds the rest, as when all flows start at once.
const MOST_DUE: usize = 256;

/// An entry in the list of its bucket.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: u64,
    event: Event,
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 16, "four nodes a cache line");

/// The pending events.
#[derive(Debug)]
pub struct Agenda {
    /// Entries of the current bucket, latest first: the next event is the last.
    due: Vec<Entry>,
    /// Further entries of that bucket, none earlier than any of `due`. While there are any, `most_due` and
    /// `next_review` are 0: the checks of these two in `schedule` and `take` then also find this heap.
    late: BinaryHeap<Reverse<Entry>>,
    /// The most entries that `due` may hold.
    most_due: usize,
    /// The number of the current bucket, counted from time 0.
    at: u64,
    /// A bucket is `1 << shift` picoseconds wide.
    shift: u32,
    /// First nodes of the buckets `at + 1` to `at + heads.len() - 1`, by number modulo length.
    heads: Vec<u32>,
    /// A bit a bucket: is it occupied?
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    spare: u32,
    /// Entries in the wheel.
    turning: usize,
    /// Entries beyond the wheel, and the bucket of the first of them.
    beyond: BinaryHeap<Reverse<Entry>>,
    beyond_from: u64,
    /// Instant and count of taken events at the last review of the width; below, the count at the next.
    reviewed: (u64, u64),
    next_review: u64,
    taken: u64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            due: Vec::with_capacity(16),
            late: BinaryHeap::new(),
            most_due: MOST_DUE,
            at: 0,
            shift: FIRST_SHIFT,
            heads: vec![NIL; MIN_BUCKETS],
            occupied: vec![0; MIN_BUCKETS / 64],
            nodes: Vec::new(),
            spare: NIL,
            turning: 0,
            beyond: BinaryHeap::new(),
            beyond_from: u64::MAX,
            reviewed: (0, 0),
            next_review: REVIEW,
            taken: 0,
        }
    }
}

impl Agenda {
    /// Schedules an event, not earlier than the last one taken.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: Event) {
        self.insert(Entry { at: at.ps(), event });
    }

    #[inline(always)]
    fn insert(&mut self, entry: Entry) {
        let bucket = entry.at >> self.shift;
        let ahead = bucket.wrapping_sub(self.at);
        if ahead.wrapping_sub(1) < self.heads.len() as u64 - 1 {
            self.link(bucket, entry);
        } else if bucket <= self.at {
            self.insert_due(entry);
        } else {
            self.beyond.push(Reverse(entry));
            self.beyond_from = self.beyond_from.min(bucket);
        }
    }

    /// Inserts an entry into the current bucket.
    #[inline(always)]
    fn insert_due(&mut self, entry: Entry) {
        if self.due.len() >= self.most_due {
            return self.insert_late(entry);
        }
        let place = self.due.iter().rposition(|other| *other > entry).map_or(0, |p| p + 1);
        self.due.insert(place, entry);
    }

    /// Inserts an entry into a bucket that is full or whose later entries are in the heap.
    #[cold]
    #[inline(never)]
    fn insert_late(&mut self, entry: Entry) {
        if self.due.len() >= MOST_DUE {
            self.late.extend(self.due.drain(..MOST_DUE / 2).map(Reverse));
            (self.most_due, self.next_review) = (0, 0);
        }
        if self.due.first().is_none_or(|last| *last < entry) {
            return self.late.push(Reverse(entry));
        }
        let place = self.due.partition_point(|other| *other > entry);
        self.due.insert(place, entry);
    }

    /// The next entry of the current bucket where the heap holds the rest.
    #[cold]
    fn take_late(&mut self) -> Option<Entry> {
        let Reverse(entry) = self.late.pop()?;
        if self.late.is_empty() {
            (self.most_due, self.next_review) = (MOST_DUE, self.taken);
        }
        Some(entry)
    }

    /// Links an entry into a bucket of the wheel.
    #[inline(always)]
    fn link(&mut self, bucket: u64, entry: Entry) {
        let slot = bucket as usize & (self.heads.len() - 1);
        let node = Node { at: entry.at, event: entry.event, next: self.heads[slot] };
        let index = self.spare;
        if index == NIL {
            self.heads[slot] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            let spare = &mut self.nodes[index as usize];
            self.spare = spare.next;
            *spare = node;
            self.heads[slot] = index;
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.turning += 1;
    }

    /// Takes the next event if it is due by `until`.
    #[inline(always)]
    pub fn take(&mut self, until: Time) -> Option<(Time, Event)> {
        let entry = match self.due.pop() {
            Some(entry) => entry,
            None => self.turn()?,
        };
        if entry.at > until.ps() {
            self.due.push(entry);
            return None;
        }
        self.taken += 1;
        Some((Time::from_ps(entry.at), entry.event))
    }

    /// Events taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Turns the wheel to the next occupied bucket. Returns its first entry; the others become due.
    #[inline]
    fn turn(&mut self) -> Option<Entry> {
        if self.taken >= self.next_review {
            if let Some(entry) = self.take_late() {
                return Some(entry);
            }
            self.review();
            if let Some(entry) = self.due.pop() {
                return Some(entry);
            }
        }
        if self.turning > 0 {
            self.at = self.next_occupied();
        } else if self.beyond.is_empty() {
            return None;
        } else {
            self.at = self.beyond_from;
        }
        // The wheel's horizon has moved: some entries of the heap may now fit into the wheel.
        if self.beyond_from < self.at + self.heads.len() as u64 {
            self.fetch();
        }
        let slot = self.at as usize & (self.heads.len() - 1);
        let first = std::mem::replace(&mut self.heads[slot], NIL);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let (entry, next) = self.unlink(first);
        if next == NIL { Some(entry) } else { self.unlink_all(entry, next) }
    }

    /// Frees a node.
    #[inline]
    fn unlink(&mut self, index: u32) -> (Entry, u32) {
        let node = &mut self.nodes[index as usize];
        let (entry, next) = (Entry { at: node.at, event: node.event }, node.next);
        node.next = self.spare;
        self.spare = index;
        self.turning -= 1;
        (entry, next)
    }

    /// Moves the entries of a bucket to `due`, in order, and takes the first.
    fn unlink_all(&mut self, first: Entry, mut index: u32) -> Option<Entry> {
        self.due.push(first);
        while index != NIL {
            let (entry, next) = self.unlink(index);
            index = next;
            self.insert_due(entry);
        }
        self.due.pop()
    }

    /// Moves the entries that now fit into the wheel from the heap.
    #[cold]
    fn fetch(&mut self) {
        let horizon = self.at + self.heads.len() as u64;
        while let Some(Reverse(entry)) = self.beyond.peek().copied() {
            let bucket = entry.at >> self.shift;
            self.beyond_from = bucket;
            if bucket >= horizon {
                return;
            }
            self.beyond.pop();
            self.link(bucket, entry);
        }
        self.beyond_from = u64::MAX;
    }

    /// The number of the first occupied bucket after `at`. There must be one.
    #[inline]
    fn next_occupied(&self) -> u64 {
        let wrap = self.heads.len() - 1;
        let start = (self.at + 1) as usize & wrap;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        while bits == 0 {
            word = (word + 1) & (self.occupied.len() - 1);
            bits = self.occupied[word];
        }
        let slot = word * 64 + bits.trailing_zeros() as usize;
        self.at + 1 + (slot.wrapping_sub(start) & wrap) as u64
    }

    /// Adapts the wheel to the events: buckets as wide as the mean gap, and at least as many as there are entries.
    #[cold]
    fn review(&mut self) {
        let now = self.at << self.shift;
        let taken = (self.taken - self.reviewed.1).max(1);
        let gap = (now.saturating_sub(self.reviewed.0) / taken).max(1);
        self.reviewed = (now, self.taken);
        self.next_review = self.taken + REVIEW;
        let shift = gap.ilog2().clamp(1, 50);
        let pending = self.turning + self.beyond.len();
        let buckets = pending.next_power_of_two().clamp(MIN_BUCKETS, 1 << 20);
        if shift.abs_diff(self.shift) > 1 || buckets > self.heads.len() {
            self.rebuild(shift, buckets.max(self.heads.len()));
        }
    }

    #[cold]
    fn rebuild(&mut self, shift: u32, buckets: usize) {
        let mut entries: Vec<Entry> = self.beyond.drain().map(|Reverse(entry)| entry).collect();
        for slot in 0..self.heads.len() {
            let mut index = self.heads[slot];
            while index != NIL {
                let Node { at, event, next } = self.nodes[index as usize];
                entries.push(Entry { at, event });
                index = next;
            }
        }
        self.nodes.clear();
        self.spare = NIL;
        self.turning = 0;
        self.beyond_from = u64::MAX;
        self.heads = vec![NIL; buckets];
        self.occupied = vec![0; buckets / 64];
        // The start of bucket `at` under the new width is not after its start under the old one.
        self.at = (self.at << self.shift) >> shift;
        self.shift = shift;
        for entry in entries {
            self.insert(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_break_by_kind_then_by_component_whatever_was_scheduled_first() {
        let mut agenda = Agenda::default();
        for index in [3, 1, 2] {
            agenda.schedule(Time::from_ps(7), Event::new(Kind::Line, index));
        }
        agenda.schedule(Time::from_ps(7), Event::new(Kind::Tick, 8));
        agenda.schedule(Time::from_ps(7), Event::new(Kind::Probe, 0));
        agenda.schedule(Time::from_ps(6), Event::new(Kind::Wake, 9));
        let order = std::iter::from_fn(|| agenda.take(Time::NEVER)).map(|(_, event)| event.index());
        assert_eq!(order.collect::<Vec<_>>(), [9, 8, 1, 2, 3, 0]);
    }

    #[test]
    fn nothing_later_than_asked_is_taken() {
        let mut agenda = Agenda::default();
        agenda.schedule(Time::from_ps(1 << 60), Event::new(Kind::Line, 0));
        assert_eq!(agenda.take(Time::from_ps((1 << 60) - 1)), None);
        // An earlier event still comes first.
        agenda.schedule(Time::from_ps(5), Event::new(Kind::Line, 1));
        assert_eq!(agenda.take(Time::NEVER).map(|(at, _)| at.ps()), Some(5));
        assert_eq!(agenda.take(Time::NEVER).map(|(at, _)| at.ps()), Some(1 << 60));
        assert_eq!(agenda.take(Time::NEVER), None);
    }

    #[test]
    fn kinds_survive_packing() {
        for kind in KINDS.iter().copied() {
            let event = Event::new(kind, MAX_INDEX as u32);
            assert_eq!((event.kind(), event.index()), (kind, MAX_INDEX as u32));
        }
    }

    /// Runs a random load, `ahead` giving how far ahead events are scheduled, against a sorted list.
    fn against_a_heap(seed: u64, pending: usize, events: u64, ahead: impl Fn(u64) -> u64) {
        let (mut agenda, mut oracle) = (Agenda::default(), BinaryHeap::new());
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut order = 0;
        let mut now = 0;
        for _ in 0..events {
            while oracle.len() < pending {
                let at = now + ahead(draw());
                let index = order % 100;
                agenda.schedule(Time::from_ps(at), Event::new(Kind::Line, index));
                oracle.push(Reverse((at, index)));
                order += 7;
            }
            let Reverse((at, index)) = oracle.pop().expect("one is pending");
            let (taken, event) = agenda.take(Time::NEVER).expect("one is pending");
            assert_eq!((taken.ps(), event.index()), (at, index));
            now = at;
        }
    }

    #[test]
    fn long_runs_with_changing_gaps_stay_in_order() {
        against_a_heap(1, 5, 100_000, |draw| draw % 1000);
        against_a_heap(2, 5000, 100_000, |draw| draw % (1 << 30));
        against_a_heap(3, 300, 100_000, |draw| if draw % 7 == 0 { draw << 10 } else { draw % 5 });
        against_a_heap(4, 2, 100_000, |draw| draw << 8);
    }

    /// As when all flows of a large network start at once. (With an insertion sort this would take minutes.)
    #[test]
    fn many_events_of_an_instant_stay_in_order_and_cost_no_more_than_others() {
        against_a_heap(5, 1000, 100_000, |draw| draw % 3);
        against_a_heap(6, 300_000, 600_000, |draw| draw % 2);
        against_a_heap(7, 300_000, 600_000, |draw| (draw % 2) << 40);
    }

    proptest! {
        /// The agenda against the standard library's heap, under random operations.
        #[test]
        fn order_is_that_of_a_sorted_list(
            operations in prop::collection::vec((0u8..3, 0u64..50, 0u32..40, 0u32..9), 1..400)
        ) {
            let mut agenda = Agenda::default();
            let mut oracle = BinaryHeap::new();
            let mut now = 0;
            for (operation, ahead, scale, index) in operations {
                if operation < 2 {
                    let at = now + (ahead << scale);
                    agenda.schedule(Time::from_ps(at), Event::new(Kind::Line, index));
                    oracle.push(Reverse((at, index)));
                } else {
                    let expected = oracle.pop().map(|Reverse(next)| next);
                    let taken = agenda.take(Time::NEVER);
                    now = expected.map_or(now, |(at, _)| at);
                    prop_assert_eq!(taken.map(|(at, event)| (at.ps(), event.index())), expected);
                }
            }
        }
    }
}
