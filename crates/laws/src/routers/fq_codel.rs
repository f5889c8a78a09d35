//! FQ-CoDel: a queue for each flow, served in turns, sparse flows first, with CoDel in each.
//!
//! T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet
//! Scheduler and Active Queue Management Algorithm", RFC 8290, 2018; numbers in brackets are its sections:
//!   classify  a hash of the flow chooses one of 1024 queues; a queue that is on neither list joins the
//!             end of the new ones, with a credit of one quantum (4.1)
//!   select    the first new queue, else the first old one. If it has no credit, it gets a quantum and moves
//!             to the end of the old ones. If it is empty, a new one moves to the end of the old ones, and
//!             an old one leaves the list (4.2)
//!   depart    CoDel of the queue decides; the bytes of a transmitted packet reduce the credit (4.2)
//!   evict     half of the packets of the longest queue in bytes, at most 64, from its head (4.1)
//! Sizes in bytes, time in seconds. Differs from the RFC: the limit of 10240 packets (5.2.2) is the
//! link's buffer; the hash is of the flow's number, without a salt, so that runs can be repeated; there is no
//! CE threshold (5.2.7).

use super::codel::{self, Control};
use crate::codecs::Wire;
use crate::quantities::Bytes;
use crate::router::{
    Arrival, Departure, Draw, Eviction, LinkView, Needs, RouterLaw, RouterSpec, Verdict, Waiting,
};
use crate::{params, tunes};

params! {
    /// FQ-CoDel's parameters, section 5.2.
    pub struct Params {
        /// Bytes that a queue may send in a turn.
        pub quantum: Bytes = Bytes(1514), in 256, 65536;
        with codel: codel::Params;
    }
}

const QUEUES: usize = 1024;
const LARGEST_EVICTION: u64 = 64;
const NONE: u16 = u16::MAX;

/// The queue of a flow, by a multiplicative hash, which puts neighbours far apart. The flow's ACKs count as another flow.
pub fn queue_of(flow: u32, data: bool) -> usize {
    let key = flow.wrapping_mul(2).wrapping_add(u32::from(data));
    (key.wrapping_mul(0x9E37_79B1) >> 22) as usize
}

/// Queues in the order of their turns, as a linked list.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u16,
    last: u16,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };

    fn push(&mut self, queue: u16, next: &mut [u16; QUEUES]) {
        match self.first {
            NONE => self.first = queue,
            _ => next[usize::from(self.last)] = queue,
        }
        next[usize::from(queue)] = NONE;
        self.last = queue;
    }

    fn pop(&mut self, next: &[u16; QUEUES]) -> Option<u16> {
        let queue = (self.first != NONE).then_some(self.first)?;
        self.first = next[usize::from(queue)];
        Some(queue)
    }
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    credit: i64,
    is_listed: bool,
    codel: Control,
}

/// The state of FQ-CoDel at one link.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    params: Params,
    packet_bytes: u64,
    turns: Box<[Turn]>,
    next: Box<[u16; QUEUES]>,
    new: List,
    old: List,
    listed: u32,
}

impl FqCoDel {
    fn quantum(&self) -> i64 {
        self.params.quantum.count() as i64
    }
}

impl RouterLaw for FqCoDel {
    tunes! {}

    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        Verdict::Accept
    }

    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        let (queue, quantum) = (queue_of(arrival.flow, arrival.data), self.quantum());
        let turn = &mut self.turns[queue];
        if !turn.is_listed {
            turn.is_listed = true;
            turn.credit = quantum;
            self.listed += 1;
            self.new.push(queue as u16, &mut self.next);
        }
        queue
    }

    fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
        let quantum = self.quantum();
        loop {
            let is_new = self.new.first != NONE;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = (list.first != NONE).then_some(list.first)?;
            let turn = &mut self.turns[usize::from(queue)];
            let is_empty = queues[usize::from(queue)].packets == 0;
            if turn.credit > 0 && !is_empty {
                return Some(usize::from(queue));
            }
            list.pop(&self.next);
            if turn.credit <= 0 {
                turn.credit += quantum;
            } else if !is_new {
                turn.is_listed = false;
                self.listed -= 1;
                continue;
            }
            self.old.push(queue, &mut self.next);
        }
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        let turn = &mut self.turns[departure.from];
        let verdict = turn.codel.verdict(departure, wire, &self.params.codel, self.packet_bytes);
        if verdict != Verdict::Drop {
            turn.credit -= i64::from(departure.size);
        }
        verdict
    }

    fn evict(&mut self, queues: &[Waiting]) -> Option<Eviction> {
        let queues = (0..).zip(queues).filter(|(_, waiting)| waiting.packets > 0);
        let (queue, longest) = queues.max_by_key(|(_, waiting)| waiting.bytes)?;
        Some(Eviction { queue, packets: longest.packets.div_ceil(2).min(LARGEST_EVICTION) })
    }

    /// The number of queues on the lists.
    fn signal(&self) -> f64 {
        f64::from(self.listed)
    }
}

impl RouterSpec for FqCoDel {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "fq-codel";
    const TITLE: &'static str =
        "FQ-CoDel: a queue for each flow, sparse flows first, CoDel in each";
    const SOURCE: &'static str = "RFC 8290";
    const NEEDS: Needs = Needs { departures: true, queues: QUEUES, flows: true };
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            packet_bytes: u64::from(link.packet_bytes),
            turns: vec![Turn::default(); QUEUES].into(),
            next: Box::new([NONE; QUEUES]),
            new: List::EMPTY,
            old: List::EMPTY,
            listed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{link, queue};
    use super::*;
    use crate::codecs::Codec;
    use crate::quantities::Span;
    use std::collections::VecDeque;

    /// FQ-CoDel over queues of packet sizes. No packet waits long.
    struct Trial {
        law: FqCoDel,
        queues: Vec<VecDeque<u32>>,
    }

    impl Trial {
        fn new() -> Self {
            let law = <FqCoDel as RouterSpec>::new(Params::default(), &link());
            Self { law, queues: vec![VecDeque::new(); QUEUES] }
        }

        fn waiting(&self) -> Vec<Waiting> {
            let view = |sizes: &VecDeque<u32>| Waiting {
                packets: sizes.len() as u64,
                bytes: sizes.iter().map(|size| u64::from(*size)).sum(),
            };
            self.queues.iter().map(view).collect()
        }

        fn arrive(&mut self, flow: u32, size: u32) {
            let arrival = Arrival { queue: queue(0, 0), idle_since: None, flow, size, data: true };
            let (mut marks, mut header) = (Codec::None.initial(), [0; 4]);
            let wire = Wire { marks: &mut marks, header: &mut header };
            self.queues[self.law.classify(&arrival, &wire)].push_back(size);
        }

        /// Serves a packet. Returns which of these flows it is of.
        fn serve(&mut self, flows: &[u32]) -> Option<u32> {
            let waiting = self.waiting();
            let from = self.law.select(&waiting)?;
            let size = self.queues[from].pop_front().expect("a queue that is not empty");
            let departure =
                Departure { queue: queue(0, 0), from, waited: Span::ZERO, size, data: true };
            let (mut marks, mut header) = (Codec::None.initial(), [0; 4]);
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            assert_eq!(self.law.on_departure(&departure, &mut wire), Verdict::Accept);
            flows.iter().copied().find(|flow| queue_of(*flow, true) == from)
        }

        fn serve_all(&mut self, flows: &[u32]) -> Vec<u32> {
            std::iter::from_fn(|| self.serve(flows)).collect()
        }
    }

    /// 1514 bytes buy two packets of 1000 (the second on credit), then 1028 bytes two more, then 542 one.
    #[test]
    fn turns_are_of_a_quantum() {
        let mut trial = Trial::new();
        for _ in 0..6 {
            trial.arrive(1, 1000);
            trial.arrive(2, 1000);
        }
        assert_eq!(trial.serve_all(&[1, 2]), [1, 1, 2, 2, 1, 1, 2, 2, 1, 2, 1, 2]);
        assert_eq!(trial.law.signal(), 0.0);
    }

    #[test]
    fn bytes_are_shared_not_packets() {
        let mut trial = Trial::new();
        for _ in 0..1000 {
            trial.arrive(1, 1500);
            trial.arrive(2, 100);
        }
        let served: Vec<_> = (0..160).filter_map(|_| trial.serve(&[1, 2])).collect();
        let large = served.iter().filter(|flow| **flow == 1).count();
        let lead = 1500 * large as i64 - 100 * (160 - large as i64);
        assert!(lead.abs() <= 1514 + 1500, "{lead}");
    }

    #[test]
    fn a_sparse_flow_goes_first_once() {
        let mut trial = Trial::new();
        for _ in 0..10 {
            trial.arrive(1, 1000);
        }
        assert_eq!([trial.serve(&[1]), trial.serve(&[1]), trial.serve(&[1])], [Some(1); 3]);
        trial.arrive(2, 100);
        assert_eq!(trial.serve(&[1, 2]), Some(2));
        // It left the new queues when it was found empty: the next packet waits for its turn.
        assert_eq!(trial.serve(&[1, 2]), Some(1));
        trial.arrive(2, 100);
        assert_eq!(trial.serve_all(&[1, 2])[..3], [2, 1, 1]);
    }

    #[test]
    fn half_of_the_longest_queue_goes_at_most_64_packets() {
        let mut trial = Trial::new();
        let evict = |trial: &Trial| {
            let law = &mut Trial::new().law;
            law.evict(&trial.waiting())
        };
        assert_eq!(evict(&trial), None);
        (0..5).for_each(|_| trial.arrive(1, 1000));
        (0..20).for_each(|_| trial.arrive(2, 100));
        assert_eq!(evict(&trial), Some(Eviction { queue: queue_of(1, true), packets: 3 }));
        (0..200).for_each(|_| trial.arrive(2, 100));
        assert_eq!(evict(&trial), Some(Eviction { queue: queue_of(2, true), packets: 64 }));
    }

    /// 300 flows over 1024 queues: 1024 (1 - exp(-300/1024)) = 260 queues if the hash were random.
    #[test]
    fn flows_are_spread() {
        let queues: std::collections::BTreeSet<_> = (0..300).map(|n| queue_of(n, true)).collect();
        assert!(queues.len() >= 260, "{}", queues.len());
    }
}
