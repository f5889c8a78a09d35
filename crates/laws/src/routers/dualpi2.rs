//! DualPI2: a shallow queue for L4S flows and a deep one for classic flows, their signals coupled.
//!
//! K. De Schepper, B. Briscoe, G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency,
//! Low Loss, and Scalable Throughput (L4S)", RFC 9332, 2023, appendix A. ECT(1) and CE packets join queue L,
//! others queue C. Every t_update, with D the longer of the times that the two heads have waited, in
//! seconds, and D' that of the update before:
//!   (1) p' = p' + alpha (D - target) + beta (D - D'), within [0, 1]
//! On departure, unless at most two packets wait in all:
//!   (2) from C: with probability p'^2, mark; drop if the packet cannot be marked, or k p' >= 1
//!   (3) from L: mark with probability max(native, k p'); if k p' >= 1, drop with p'^2, else mark
//!       native = 1 for a packet that has waited longer than the step and left others behind, else 0
//! Probabilities are added up: the event happens when the sum reaches 1 (recur() in the RFC).
//! Scheduler: weighted round robin by bytes, C has at least its share while both wait. From Linux's
//! sch_dualpi2: gains, t_update, the longer wait, the step, no signals for two packets. k p' = 1 is p_C = 25 %.

use crate::codecs::{Wire, ecn};
use crate::interval::Interval;
use crate::quantities::{Span, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict, Waiting,
};
use crate::{params, tunes};

params! {
    /// DualPI2's parameters.
    pub struct Params {
        /// Target queueing delay of classic flows.
        pub target: Span = Span::from_millis(15), in 1e-5, 10.0;
        /// Time between two updates, T_update.
        pub t_update: Span = Span::from_millis(16), in 1e-4, 10.0;
        /// Gain alpha on the distance to the target, per update and second of delay.
        pub alpha: f64 = 0.16, in 0.0, 100.0;
        /// Gain beta on the change of the delay, per update and second of delay.
        pub beta: f64 = 3.2, in 0.0, 100.0;
        /// Coupling factor k: marks of L4S flows are k p', of classic flows p'^2.
        pub coupling: f64 = 2.0, in 0.1, 10.0;
        /// Wait from which every packet of queue L is marked.
        pub step: Span = Span::from_millis(1), in 1e-6, 1.0;
        /// Least share of queue C while both wait.
        pub classic_share: f64 = 0.0625, in 0.0, 1.0;
    }
}

const L: usize = 0;
const C: usize = 1;

/// (1): p' after an update, from p' and the waits in seconds now and before.
pub fn control_step(p: f64, wait: f64, before: f64, params: &Params) -> f64 {
    let error = wait - params.target.seconds();
    (p + params.alpha * error + params.beta * (wait - before)).clamp(0.0, 1.0)
}

/// Adds up a probability. Returns whether the event happens.
fn recur(sum: &mut f64, probability: f64) -> bool {
    *sum += probability;
    let event = *sum >= 1.0;
    if event {
        *sum -= 1.0;
    }
    event
}

/// The state of DualPI2 at one link.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    params: Params,
    spared_bytes: u64,
    /// p'.
    p: f64,
    /// D at the last update, in seconds.
    wait: f64,
    updates: Interval,
    /// Sums of probabilities: marks in L, drops in L, signals in C.
    marks: f64,
    drops: f64,
    classic: f64,
    /// Bytes that C may send before L is served again, while packets wait in both.
    credit: f64,
    /// The content of the queues when the last packet was selected.
    seen: [Waiting; 2],
}

impl DualPi2 {
    /// Do packets wait in both queues?
    fn both_wait(&self) -> bool {
        self.seen.iter().all(|queue| queue.packets > 0)
    }

    /// Updates the credit by a transmission, if the other queue waited for it.
    fn pay(&mut self, departure: &Departure) {
        if self.both_wait() {
            let size = f64::from(departure.size);
            let share = self.params.classic_share;
            self.credit += if departure.from == L { share * size } else { (share - 1.0) * size };
        }
    }

    fn decide(&mut self, departure: &Departure, wire: &Wire<'_>) -> Verdict {
        let backlog: u64 = self.seen.iter().map(|queue| queue.bytes).sum();
        let (squared, coupled) = (self.p * self.p, self.p * self.params.coupling);
        let (overload, spared) = (coupled >= 1.0, backlog <= self.spared_bytes);
        if departure.from == C {
            if spared || !recur(&mut self.classic, squared) {
                return Verdict::Accept;
            }
            return if !overload && ecn::is_capable(wire) { Verdict::Mark } else { Verdict::Drop };
        }
        if overload && !spared && recur(&mut self.drops, squared) {
            return Verdict::Drop;
        }
        let native = departure.waited > self.params.step && departure.queue.packets > 0;
        let marked = native || (!spared && recur(&mut self.marks, coupled.min(1.0)));
        if marked { Verdict::Mark } else { Verdict::Accept }
    }
}

impl RouterLaw for DualPi2 {
    tunes! {}

    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        Verdict::Accept
    }

    fn classify(&mut self, _: &Arrival, wire: &Wire<'_>) -> usize {
        let is_l4s = ecn::is_capable(wire) && wire.marks.ecn() & ecn::CAPABLE_L4S != 0;
        if is_l4s { L } else { C }
    }

    fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
        self.seen = [queues[L], queues[C]];
        if self.both_wait() {
            return Some(if self.credit <= 0.0 { L } else { C });
        }
        if queues[L].packets + queues[C].packets == 0 {
            self.credit = 0.0;
        }
        queues.iter().position(|queue| queue.packets > 0)
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        let verdict = self.decide(departure, wire);
        if verdict != Verdict::Drop {
            self.pay(departure);
        }
        verdict
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.updates.end(self.params.t_update))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        self.on_tick_queues(queue, &[]);
    }

    fn on_tick_queues(&mut self, all: &QueueView, waits: &[Span]) {
        if self.updates.next(self.params.t_update, all.now).is_none() {
            return;
        }
        let before = self.wait;
        self.wait = waits.iter().map(|wait| wait.seconds()).fold(0.0, f64::max);
        self.p = control_step(self.p, self.wait, before, &self.params);
    }

    /// p'.
    fn signal(&self) -> f64 {
        self.p
    }
}

impl RouterSpec for DualPi2 {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "dualpi2";
    const TITLE: &'static str = "DualPI2: a shallow queue for L4S, a deep one for others, coupled";
    const SOURCE: &'static str = "RFC 9332";
    const NEEDS: Needs = Needs { queues: 2, ..Needs::DEPARTURES };
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            spared_bytes: 2 * u64::from(link.packet_bytes),
            p: 0.0,
            wait: 0.0,
            updates: Interval::default(),
            marks: 0.0,
            drops: 0.0,
            classic: 0.0,
            credit: 0.0,
            seen: [Waiting::default(); 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{link, queue};
    use super::*;
    use crate::codecs::Codec;

    fn dualpi2(p: f64) -> DualPi2 {
        DualPi2 { p, ..<DualPi2 as RouterSpec>::new(Params::default(), &link()) }
    }

    const FULL: Waiting = Waiting { packets: 50, bytes: 50_000 };
    const EMPTY: Waiting = Waiting { packets: 0, bytes: 0 };

    /// Selects and sends 4000 packets of 1000 bytes. Returns how many of each queue are marked and dropped.
    fn run(law: &mut DualPi2, queues: [Waiting; 2], codecs: [Codec; 2]) -> [[u32; 3]; 2] {
        let mut seen = [[0; 3]; 2];
        for _ in 0..4000 {
            let from = law.select(&queues).expect("packets wait");
            let (mut marks, mut header) = (codecs[from].initial(), [0; 4]);
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            let waited = Span::from_micros(500);
            let departure = Departure { queue: queue(0, 50), from, waited, size: 1000, data: true };
            match law.on_departure(&departure, &mut wire) {
                Verdict::Accept => seen[from][0] += 1,
                Verdict::Mark => seen[from][1] += 1,
                Verdict::Drop => seen[from][2] += 1,
            }
        }
        seen
    }

    /// 10 ms too long: 0.16 * 0.01; 5 ms more than before: 3.2 * 0.005.
    #[test]
    fn the_probability_follows_the_gains() {
        let step = |p, wait, before| control_step(p, wait, before, &Params::default());
        assert!((step(0.1, 0.025, 0.020) - (0.1 + 0.0016 + 0.016)).abs() < 1e-15);
        assert_eq!(step(0.1, 0.015, 0.015), 0.1);
        assert_eq!([step(0.0, 0.0, 0.0), step(1.0, 1.0, 0.0)], [0.0, 1.0]);
        let mut law = dualpi2(0.1);
        law.on_tick_queues(&queue(16, 30), &[Span::ZERO, Span::from_millis(25)]);
        assert!((law.p - (0.1 + 0.0016 + 0.08)).abs() < 1e-15);
        assert_eq!(law.tick_at(), Some(Time::ZERO + Span::from_millis(32)));
    }

    /// p' = 0.25: classic 1/16, L4S 1/2. What cannot be marked is dropped.
    #[test]
    fn signals_are_coupled_by_a_square() {
        let l4s = run(&mut dualpi2(0.25), [FULL, EMPTY], [Codec::L4s; 2]);
        assert_eq!(l4s[L], [2000, 2000, 0]);
        let classic = run(&mut dualpi2(0.25), [EMPTY, FULL], [Codec::Ecn; 2]);
        assert_eq!(classic[C], [3750, 250, 0]);
        let deaf = run(&mut dualpi2(0.25), [EMPTY, FULL], [Codec::None; 2]);
        assert_eq!(deaf[C], [3750, 0, 250]);
    }

    /// k p' = 1, p_C = 25 %: from there on both queues drop.
    #[test]
    fn overload_drops_in_both_queues() {
        assert_eq!(run(&mut dualpi2(0.5), [FULL, EMPTY], [Codec::L4s; 2])[L], [0, 3000, 1000]);
        assert_eq!(run(&mut dualpi2(0.5), [EMPTY, FULL], [Codec::Ecn; 2])[C], [3000, 0, 1000]);
    }

    #[test]
    fn two_packets_are_spared() {
        let two = Waiting { packets: 2, bytes: 2000 };
        assert_eq!(run(&mut dualpi2(0.4), [two, EMPTY], [Codec::L4s; 2])[L], [4000, 0, 0]);
        assert_eq!(run(&mut dualpi2(0.4), [EMPTY, two], [Codec::Ecn; 2])[C], [4000, 0, 0]);
    }

    #[test]
    fn the_classic_queue_gets_a_sixteenth() {
        let seen = run(&mut dualpi2(0.0), [FULL, FULL], [Codec::L4s, Codec::Ecn]);
        assert_eq!([seen[L][0], seen[C][0]], [3750, 250]);
    }

    #[test]
    fn longer_than_the_step_is_marked() {
        let mut law = dualpi2(0.0);
        let mut decide = |us, behind| {
            let waited = Span::from_micros(us);
            let departure =
                Departure { queue: queue(0, behind), from: L, waited, size: 1000, data: true };
            let (mut marks, mut header) = (Codec::L4s.initial(), [0; 4]);
            law.on_departure(&departure, &mut Wire { marks: &mut marks, header: &mut header })
        };
        assert_eq!(decide(1000, 5), Verdict::Accept);
        assert_eq!(decide(1001, 5), Verdict::Mark);
        assert_eq!(decide(1001, 0), Verdict::Accept);
    }

    #[test]
    fn l4s_packets_have_their_own_queue() {
        let mut law = dualpi2(0.0);
        let mut queue_of = |codec: Codec, bits| {
            let (mut marks, mut header) = (crate::codecs::Marks::new(codec, bits), [0; 4]);
            let arrival =
                Arrival { queue: queue(0, 0), idle_since: None, flow: 0, size: 1000, data: true };
            law.classify(&arrival, &Wire { marks: &mut marks, header: &mut header })
        };
        assert_eq!(queue_of(Codec::L4s, 0b01), L);
        assert_eq!(queue_of(Codec::L4s, 0b11), L);
        assert_eq!(queue_of(Codec::Ecn, 0b11), L); // CE does not tell what the packet was
        assert_eq!(queue_of(Codec::Ecn, 0b10), C);
        assert_eq!(queue_of(Codec::None, 0), C);
        assert_eq!(queue_of(Codec::Load2, 0b01), C); // VCP's bits mean something else
    }
}
