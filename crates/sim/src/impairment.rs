//! What befalls packets on a link besides its queue: random loss and reordering.
//!
//! Bursts of loss are E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal
//! 39(5), 1960, with E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", ibid.
//! 42(5), 1963: a Markov chain of two states takes a step a packet. It begins in the good state.

use crate::config::{LinkConfig, Loss, Reorder};
use crate::packet::Packet;
use knee_laws::quantities::{Span, Time};
use knee_laws::router::Draw;
use knee_path::Stream;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What befalls a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It takes its place on the line.
    Fine,
    /// It does not arrive.
    Lost,
    /// It arrives so much later than in its turn.
    Late(Span),
}

/// A link's impairments in motion.
pub struct Impairment {
    loss: Option<Losses>,
    reorder: Option<(Reorder, Stream)>,
    /// Packets that have left the line's order.
    late: BinaryHeap<Late>,
    launched_late: u64,
    /// Packets lost since statistics began.
    pub lost: u64,
}

/// Random loss.
struct Losses {
    loss: Loss,
    is_bad: bool,
    draw: Stream,
}

/// A packet out of order: the one that arrives first is the greatest.
struct Late {
    packet: Packet,
    number: u64,
}

impl Impairment {
    /// That of a link, if it has any.
    pub fn new(config: &LinkConfig, seed: u64) -> Option<Self> {
        let stream = |of: &str| Stream::new(seed, &format!("{of} of {}", config.name));
        let losses = |loss| Losses { loss, is_bad: false, draw: stream("loss") };
        let impaired = config.loss.is_some() || config.reorder.is_some();
        impaired.then(|| Self {
            loss: config.loss.map(losses),
            reorder: config.reorder.map(|reorder| (reorder, stream("reordering"))),
            late: BinaryHeap::new(),
            launched_late: 0,
            lost: 0,
        })
    }

    /// Does it change the order of packets?
    pub fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// Decides on a packet.
    pub fn fate(&mut self) -> Fate {
        if self.loss.as_mut().is_some_and(Losses::strike) {
            self.lost += 1;
            return Fate::Lost;
        }
        let Some((reorder, draw)) = &mut self.reorder else { return Fate::Fine };
        if draw.uniform() >= reorder.probability {
            return Fate::Fine;
        }
        Fate::Late(reorder.delay.scale(draw.uniform()))
    }

    /// Keeps a packet that is late.
    pub fn push(&mut self, packet: &Packet) {
        self.late.push(Late { packet: *packet, number: self.launched_late });
        self.launched_late += 1;
    }

    /// The packets that are late.
    #[cfg(debug_assertions)]
    pub fn late(&self) -> impl Iterator<Item = &Packet> {
        self.late.iter().map(|late| &late.packet)
    }

    /// The late packet that arrives first.
    pub fn pop(&mut self) -> Option<Packet> {
        self.late.pop().map(|late| late.packet)
    }
}

impl Losses {
    /// Is the next packet lost? The chain takes its step after it.
    fn strike(&mut self) -> bool {
        match self.loss {
            Loss::Bernoulli { probability } => self.draw.uniform() < probability,
            Loss::GilbertElliott { enter, leave, good, bad } => {
                let (loss, change) = if self.is_bad { (bad, leave) } else { (good, enter) };
                let lost = self.draw.uniform() < loss;
                self.is_bad ^= self.draw.uniform() < change;
                lost
            }
        }
    }
}

impl Late {
    fn key(&self) -> (Time, u64) {
        (self.packet.at, self.number)
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Late {}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 200_000;

    /// Fraction lost of N packets, and how often a loss follows a loss.
    fn lost(loss: Loss) -> (f64, f64) {
        let mut losses = Losses { loss, is_bad: false, draw: Stream::new(1, "loss of test") };
        let (mut lost, mut pairs, mut before) = (0, 0, false);
        for _ in 0..N {
            let now = losses.strike();
            lost += u32::from(now);
            pairs += u32::from(now && before);
            before = now;
        }
        (f64::from(lost) / f64::from(N), f64::from(pairs) / f64::from(lost))
    }

    #[test]
    fn bernoulli_loses_its_fraction_without_memory() {
        for probability in [0.001, 0.3] {
            let (fraction, again) = lost(Loss::Bernoulli { probability });
            let variance = probability * (1.0 - probability);
            let error = (variance / f64::from(N)).sqrt();
            assert!((fraction - probability).abs() < 4.0 * error, "{fraction}");
            let error = (variance / (f64::from(N) * probability)).sqrt();
            assert!((again - probability).abs() < 4.0 * error, "{again}");
        }
    }

    #[test]
    fn gilbert_elliott_loses_its_stationary_fraction_in_bursts() {
        let (enter, leave, good, bad) = (0.01, 0.2, 0.002, 0.7);
        let (fraction, again) = lost(Loss::GilbertElliott { enter, leave, good, bad });
        let in_bad = enter / (enter + leave);
        let expected = in_bad * bad + (1.0 - in_bad) * good;
        // Covariance at lag k: (bad - good)^2 P(bad) P(good) memory^k.
        let memory: f64 = 1.0 - enter - leave;
        let apart: f64 = bad - good;
        let state = apart * apart * in_bad * (1.0 - in_bad);
        let variance = expected * (1.0 - expected) + 2.0 * state * memory / (1.0 - memory);
        let error = (variance / f64::from(N)).sqrt();
        assert!((fraction - expected).abs() < 4.0 * error, "{fraction} against {expected}");
        // P(two in a row) = expected^2 + covariance at lag 1.
        let pair = (expected * expected + state * memory) / expected;
        assert!((again - pair).abs() < 0.03, "{again} against {pair}"); // 6,900 losses in 1,900 bursts
    }

    #[test]
    fn late_packets_leave_in_order_of_time_then_of_launch() {
        let config = Reorder { probability: 1.0, delay: Span::from_millis(5) };
        let mut late = Impairment {
            loss: None,
            reorder: Some((config, Stream::new(1, "reordering of test"))),
            late: BinaryHeap::new(),
            launched_late: 0,
            lost: 0,
        };
        for (seq, ps) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 40)] {
            let mut packet = Packet::data(0, seq, 1000, false);
            packet.at = Time::from_ps(ps);
            late.push(&packet);
        }
        let order = Vec::from_iter(std::iter::from_fn(|| late.pop()).map(|packet| packet.seq));
        assert_eq!(order, [1, 3, 2, 0, 4]);
        let spans = (0..1000).map(|_| match late.fate() {
            Fate::Late(span) => span.millis(),
            fate => panic!("{fate:?}"),
        });
        let mean = spans.inspect(|ms| assert!((0.0..5.0).contains(ms))).sum::<f64>() / 1000.0;
        assert!((mean - 2.5).abs() < 4.0 * 5.0 / 12e3f64.sqrt(), "{mean}");
    }
}
