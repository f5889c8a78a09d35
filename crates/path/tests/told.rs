//! What a queue asks its law, what it does with the answers, and what it tells of that.

use knee_laws::codecs::{Codec, Header, Marks, Wire, ecn};
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Router;
use knee_laws::router::{
    Arrival, Departure, Draw, Eviction, Needs, QueueView, RouterLaw, Verdict, Waiting,
};
use knee_path::{Buffer, Hop, Packet, Queue, Stream, Watch};
use std::sync::{Arc, Mutex};

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// A packet with what the law is to do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parcel {
    number: u32,
    size: u32,
    marks: Marks,
    header: Header,
    queued_at: Time,
}

const ON_ARRIVAL: usize = 0;
const ON_DEPARTURE: usize = 1;
const PLACE: usize = 2;

/// A data packet of 1000 bytes that nothing happens to.
fn parcel(number: u32) -> Parcel {
    let marks = Codec::Ecn.initial();
    Parcel { number, size: 1000, marks, header: [0; 4], queued_at: Time::ZERO }
}

impl Parcel {
    fn with(mut self, word: usize, value: u32) -> Self {
        self.header[word] = value;
        self
    }
    fn is_marked(&self) -> bool {
        self.marks.ecn() == ecn::CONGESTED
    }
}

impl Packet for Parcel {
    fn size(&self) -> u32 {
        self.size
    }
    fn is_data(&self) -> bool {
        self.size > 100
    }
    fn wire(&mut self) -> Wire<'_> {
        Wire { marks: &mut self.marks, header: &mut self.header }
    }
    fn queued_at(&self) -> Time {
        self.queued_at
    }
    fn set_queued_at(&mut self, now: Time) {
        self.queued_at = now;
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Told {
    Arrival { packets: u64, bytes: u64, idle_since: Option<Time>, flow: u32, size: u32 },
    Overflow(u32),
    Departure { packets: u64, bytes: u64, from: usize, waited: Span },
    Tick(u64, u64),
    TickOfQueues(u64, Vec<Span>),
    Rate(f64),
    Hold(Time, usize, u64),
    Dropped(Time),
    Marked(Time),
}

/// What law and watch are told, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Told>>>);

impl Log {
    fn add(&self, told: Told) {
        self.0.lock().expect("one thread").push(told);
    }
    /// All since this was last asked.
    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.0.lock().expect("one thread"))
    }
    /// The same of the law alone, or of the watch alone.
    fn of_law(&self) -> Vec<Told> {
        self.take().into_iter().filter(|told| !told.is_watch()).collect()
    }
    fn of_watch(&self) -> Vec<Told> {
        self.take().into_iter().filter(Told::is_watch).collect()
    }
}

impl Told {
    fn is_watch(&self) -> bool {
        matches!(self, Self::Hold(..) | Self::Dropped(_) | Self::Marked(_))
    }
}

impl Watch for Log {
    fn hold(&mut self, until: Time, packets: usize, bytes: u64) {
        self.add(Told::Hold(until, packets, bytes));
    }
    fn dropped(&mut self, came: Time) {
        self.add(Told::Dropped(came));
    }
    fn marked(&mut self, came: Time) {
        self.add(Told::Marked(came));
    }
}

/// Does what packets say; serves the last queue that holds something, evicts from the first.
struct Obedient {
    log: Log,
    evicts: u64,
}

fn verdict(word: u32) -> Verdict {
    [Verdict::Accept, Verdict::Mark, Verdict::Drop][word as usize]
}

impl RouterLaw for Obedient {
    fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        let Arrival { queue, idle_since, flow, size, .. } = *arrival;
        let QueueView { packets, bytes, .. } = queue;
        self.log.add(Told::Arrival { packets, bytes, idle_since, flow, size });
        verdict(wire.header[ON_ARRIVAL])
    }
    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        let Departure { queue, from, waited, .. } = *departure;
        let QueueView { packets, bytes, .. } = queue;
        self.log.add(Told::Departure { packets, bytes, from, waited });
        verdict(wire.header[ON_DEPARTURE])
    }
    fn on_overflow(&mut self, arrival: &Arrival, _: &Wire<'_>) {
        self.log.add(Told::Overflow(arrival.size));
    }
    fn classify(&mut self, _: &Arrival, wire: &Wire<'_>) -> usize {
        wire.header[PLACE] as usize
    }
    fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
        queues.iter().rposition(|queue| queue.packets > 0)
    }
    fn evict(&mut self, queues: &[Waiting]) -> Option<Eviction> {
        let queue = queues.iter().position(|queue| queue.packets > 0)?;
        (self.evicts > 0).then_some(Eviction { queue, packets: self.evicts })
    }
    fn on_tick(&mut self, queue: &QueueView) {
        self.log.add(Told::Tick(queue.packets, queue.bytes));
    }
    fn on_tick_queues(&mut self, all: &QueueView, waits: &[Span]) {
        self.log.add(Told::TickOfQueues(all.packets, waits.to_vec()));
    }
    fn tick_at(&self) -> Option<Time> {
        Some(at(77))
    }
    fn on_rate(&mut self, rate: BitRate) {
        self.log.add(Told::Rate(rate.bps()));
    }
    fn failure(&self) -> Option<&str> {
        (self.evicts == 99).then_some("no more")
    }
    fn signal(&self) -> f64 {
        0.25
    }
}

type Tested = Queue<Parcel, Log>;

/// A queue under the obedient law, and what is told.
fn queue(needs: Needs, buffer: Buffer, evicts: u64) -> (Tested, Log) {
    let log = Log::default();
    let law = Router::Custom(Box::new(Obedient { log: log.clone(), evicts }));
    let hop = Hop { law, needs, buffer, draw: Stream::new(1, "test") };
    (Queue::new(hop, log.clone()), log)
}

fn several(queues: usize) -> Needs {
    Needs { departures: true, queues, flows: true }
}

/// It comes while the transmitter is busy until later, and waits if it may. Its queue.
fn offer(queue: &mut Tested, mut parcel: Parcel, now: Time) -> Option<usize> {
    let place = queue.admit(&mut parcel, (now, Time::NEVER), 5)?;
    queue.push(&parcel, place, now).expect("a place");
    Some(place)
}

/// The next to be transmitted, and whether it may.
fn serve(queue: &mut Tested, now: Time) -> Option<(Parcel, bool)> {
    let from = queue.select()?;
    let mut parcel = queue.pop(from, now)?;
    let came = parcel.queued_at;
    let goes = queue.depart(&mut parcel, from, came, now);
    Some((parcel, goes))
}

#[test]
fn a_law_with_several_queues_says_where_packets_wait_and_who_is_served() {
    let (mut queue, log) = queue(several(3), Buffer::Unlimited, 0);
    assert!(queue.is_empty() && queue.select().is_none() && queue.pays_for_departures());
    for (number, place) in [(0, 0), (1, 2), (2, 1), (3, 2)] {
        let now = at(u64::from(number));
        assert_eq!(offer(&mut queue, parcel(number).with(PLACE, place), now), Some(place as usize));
    }
    assert_eq!((queue.packets(), queue.bytes(), queue.held_bytes()), (4, 4000, 4000));
    assert_eq!(queue.iter().map(|parcel| parcel.number).collect::<Vec<_>>(), [0, 2, 1, 3]);
    log.take();
    queue.tick(at(10));
    let waits = [10, 8, 9].map(Span::from_micros).to_vec();
    assert_eq!(log.of_law(), [Told::TickOfQueues(4, waits)]);
    let served: Vec<_> = (0..5).filter_map(|_| serve(&mut queue, at(10))).collect();
    assert_eq!(served.iter().map(|(parcel, _)| parcel.number).collect::<Vec<_>>(), [1, 3, 2, 0]);
    // Of the queue that it leaves, the law sees what stays.
    let departure = |packets, from, waited| Told::Departure {
        packets,
        bytes: 1000 * packets,
        from,
        waited: Span::from_micros(waited),
    };
    let expected =
        [departure(1, 2, 9), departure(0, 2, 7), departure(0, 1, 8), departure(0, 0, 10)];
    assert_eq!(log.of_law(), expected);
    queue.audit();
}

#[test]
fn a_law_with_one_queue_is_not_asked_where() {
    let (mut queue, log) = queue(Needs::DEPARTURES, Buffer::Unlimited, 0);
    for number in 0..3 {
        // Place 7 does not exist.
        assert_eq!(offer(&mut queue, parcel(number).with(PLACE, 7), at(1)), Some(0));
    }
    log.take();
    queue.tick(at(2));
    assert_eq!(log.of_law(), [Told::Tick(3, 3000)]);
    assert_eq!(queue.select(), Some(0));
    assert_eq!(serve(&mut queue, at(3)).map(|(parcel, _)| parcel.number), Some(0));
    assert_eq!((queue.tick_at(), queue.signal()), (Some(at(77)), 0.25));
    log.take();
    queue.on_rate(BitRate::from_bps(3.0));
    assert_eq!(log.take(), [Told::Rate(3.0)]);
}

/// The law sees the queue before the packet, and since when the link has had nothing to do.
#[test]
fn a_law_is_told_of_the_queue_and_of_idleness() {
    for needs in [Needs::ARRIVALS, Needs::DEPARTURES] {
        let (mut queue, log) = queue(needs, Buffer::Unlimited, 0);
        let idle = |queue: &mut Tested, now: Time, free_at: Time| {
            queue.admit(&mut parcel(0).with(ON_ARRIVAL, 2), (now, free_at), 5);
            match log.of_law()[..] {
                [Told::Arrival { packets, bytes, idle_since, flow: 5, size: 1000 }] => {
                    (packets, bytes, idle_since)
                }
                ref other => panic!("{other:?}"),
            }
        };
        assert_eq!(idle(&mut queue, at(10), at(4)), (0, 0, Some(at(4))));
        assert_eq!(idle(&mut queue, at(10), at(10)), (0, 0, Some(at(10))));
        assert_eq!(idle(&mut queue, at(10), at(11)), (0, 0, None));
        let mut waits = parcel(1);
        let place = queue.admit(&mut waits, (at(10), at(11)), 5).expect("room");
        match queue.pays_for_departures() {
            true => queue.push(&waits, place, at(10)).map_or((), |_| ()),
            false => queue.expect(&waits, at(11), at(10)),
        }
        log.take();
        // At the instant at which its service begins it still waits.
        assert_eq!(idle(&mut queue, at(11), at(11)), (1, 1000, None));
        queue.audit();
    }
}

#[test]
fn marks_and_drops_are_told_once_and_only_where_they_happen() {
    let (mut queue, log) = queue(Needs::DEPARTURES, Buffer::Packets(2), 0);
    let drop = |now| Told::Dropped(at(now));
    // Dropped by the law, which need not be told of it.
    assert_eq!(offer(&mut queue, parcel(0).with(ON_ARRIVAL, 2), at(1)), None);
    assert_eq!(log.take()[1..], [drop(1)]);
    // Marked, as the sender understands it; dropped where it does not.
    assert_eq!(offer(&mut queue, parcel(1).with(ON_ARRIVAL, 1), at(2)), Some(0));
    assert_eq!(log.of_watch(), [Told::Marked(at(2)), Told::Hold(at(2), 0, 0)]);
    assert!(queue.iter().next().is_some_and(Parcel::is_marked));
    let deaf = Parcel { marks: Codec::None.initial(), ..parcel(2).with(ON_ARRIVAL, 1) };
    assert_eq!(offer(&mut queue, deaf, at(3)), None);
    assert_eq!(log.of_watch(), [drop(3)]);
    assert_eq!(offer(&mut queue, parcel(3), at(4)), Some(0));
    log.take();
    // No room: the law is told, and nobody is marked.
    assert_eq!(offer(&mut queue, parcel(4).with(ON_ARRIVAL, 1), at(5)), None);
    assert_eq!(log.take()[1..], [drop(5), Told::Overflow(1000)]);
    // An idle transmitter takes a packet that finds no room to wait.
    let (tally, mut lucky) = (*queue.tally(), parcel(5));
    assert_eq!((tally.offered.packets, tally.offered.bytes), (5, 5000));
    assert_eq!((tally.dropped.packets, tally.dropped.bytes, tally.data), (3, 3000, 2));
    let (mut empty, _) = self::queue(Needs::ARRIVALS, Buffer::Packets(0), 0);
    assert_eq!(empty.admit(&mut lucky, (at(1), at(1)), 0), Some(0));
    assert_eq!(empty.admit(&mut lucky, (at(1), at(2)), 0), None);
}

#[test]
fn a_law_that_acts_on_departure_may_mark_and_drop() {
    let (mut queue, log) = queue(Needs::DEPARTURES, Buffer::Unlimited, 0);
    for number in 0..3 {
        offer(&mut queue, parcel(number).with(ON_DEPARTURE, number), at(1 + u64::from(number)));
    }
    assert_eq!(queue.data_departed(), 0);
    log.take();
    let served: Vec<_> = (0..3).filter_map(|_| serve(&mut queue, at(9))).collect();
    let seen: Vec<_> = served.iter().map(|(parcel, goes)| (parcel.is_marked(), *goes)).collect();
    assert_eq!(seen, [(false, true), (true, true), (false, false)]);
    let hold = |packets: usize| Told::Hold(at(9), packets, 1000 * packets as u64);
    let expected = [hold(3), hold(2), Told::Marked(at(2)), hold(1), Told::Dropped(at(3))];
    assert_eq!(log.of_watch(), expected);
    assert_eq!((queue.data_departed(), queue.tally().dropped.packets), (2, 1));
    queue.audit();
}

/// The law names whose packets are to go; they came when they came.
#[test]
fn an_overflow_evicts_what_the_law_names() {
    let (mut queue, log) = queue(several(2), Buffer::Packets(3), 2);
    for (number, place) in [(0, 1), (1, 0), (2, 0)] {
        let now = at(u64::from(number));
        assert!(offer(&mut queue, parcel(number).with(PLACE, place), now).is_some());
        assert!(!queue.is_overfull() && queue.evict(now).is_none());
    }
    assert_eq!(offer(&mut queue, parcel(3).with(PLACE, 1), at(3)), Some(1));
    assert!(queue.is_overfull());
    log.take();
    assert_eq!(queue.evict(at(4)).map(|parcel| parcel.number), Some(1));
    assert!(queue.is_overfull());
    assert_eq!(queue.evict(at(4)).map(|parcel| parcel.number), Some(2));
    assert!(!queue.is_overfull() && queue.evict(at(4)).is_none());
    let hold = |packets: usize| Told::Hold(at(4), packets, 1000 * packets as u64);
    let expected = [hold(4), Told::Dropped(at(1)), hold(3), Told::Dropped(at(2))];
    assert_eq!(log.of_watch(), expected);
    assert_eq!(queue.iter().map(|parcel| parcel.number).collect::<Vec<_>>(), [0, 3]);
    assert_eq!((queue.tally().data, queue.tally().dropped.packets), (2, 2));
    queue.audit();
}

/// One ACK of 40 bytes is evicted at a time, until the packet of 1000 fits.
#[test]
fn evictions_go_on_until_what_came_fits() {
    let (mut queue, _) = queue(several(2), Buffer::Bytes(1000), 1);
    for number in 0..4 {
        assert!(offer(&mut queue, Parcel { size: 40, ..parcel(number) }, at(1)).is_some());
    }
    assert!(offer(&mut queue, parcel(9).with(PLACE, 1), at(2)).is_some());
    let evicted = std::iter::from_fn(|| queue.evict(at(2))).map(|parcel| parcel.number);
    assert_eq!(evicted.collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((queue.packets(), queue.bytes()), (1, 1000));
    queue.audit();
}

/// A law that accepts nobody's loss has the one that comes dropped; one that drops it itself evicts nobody.
#[test]
fn without_an_eviction_who_comes_is_dropped() {
    for (evicts, verdict) in [(0, 0), (1, 2)] {
        let (mut queue, _) = queue(several(2), Buffer::Packets(1), evicts);
        assert!(offer(&mut queue, parcel(0), at(1)).is_some());
        assert!(offer(&mut queue, parcel(1).with(ON_ARRIVAL, verdict), at(1)).is_none());
        assert!(!queue.is_overfull() && queue.evict(at(1)).is_none());
        assert_eq!(queue.packets(), 1);
    }
}

/// Where nobody waits for departures they are known: who looks at the instant of one finds the packet still there.
#[test]
fn known_departures_leave_at_their_instants() {
    let (mut queue, log) = queue(Needs::ARRIVALS, Buffer::Unlimited, 0);
    assert!(!queue.pays_for_departures());
    for (number, start) in [(0, 0), (1, 10), (2, 20)] {
        let mut one = parcel(number);
        queue.admit(&mut one, (at(0), at(start)), 0).expect("room");
        queue.expect(&one, at(start), at(0));
        queue.audit();
    }
    assert_eq!((queue.packets(), queue.bytes(), queue.held_bytes()), (2, 2000, 0));
    assert_eq!((queue.data_departed(), queue.iter().count()), (1, 0));
    log.take();
    queue.tick(at(10));
    assert_eq!(log.of_law(), [Told::Tick(2, 2000)]);
    queue.advance(at(10));
    assert_eq!(log.of_watch(), [Told::Hold(at(10), 2, 2000)]);
    assert_eq!((queue.packets(), queue.data_departed()), (1, 2));
    queue.advance(at(30));
    assert_eq!((queue.packets(), queue.bytes(), queue.data_departed()), (0, 0, 3));
    assert!(queue.select().is_none() && queue.pop(0, at(30)).is_none());
    queue.audit();
}

#[test]
fn a_law_may_fail() {
    assert_eq!(queue(Needs::ARRIVALS, Buffer::Unlimited, 99).0.failure(), Some("no more"));
    assert_eq!(queue(Needs::ARRIVALS, Buffer::Unlimited, 0).0.failure(), None);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "packets and bytes offered")]
fn the_audit_finds_a_packet_that_came_from_nowhere() {
    let (mut queue, _) = queue(Needs::DEPARTURES, Buffer::Unlimited, 0);
    queue.push(&parcel(0), 0, at(1));
    queue.audit();
}
