//! Impairments of a link behind its queue: random loss and reordering.
//!
//! Bursts of loss are E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal
//! 39(5), 1960, with E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", ibid.
//! 42(5), 1963: a Markov chain of two states, which takes a step for each packet. It begins in the good state.

use crate::config::{LinkConfig, RandomLoss, Reorder};
use knee_laws::quantities::Span;
use knee_laws::router::Draw;
use knee_path::Stream;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives in order.
    Fine,
    /// It does not arrive.
    Lost,
    /// It arrives this much later than in order.
    Late(Span),
}

/// The state of a link's impairments.
pub struct Impairment {
    loss: Option<Losses>,
    reorder: Option<(Reorder, Stream)>,
    /// Packets lost since statistics began.
    pub lost: u64,
}

/// Random loss.
pub struct Losses {
    loss: RandomLoss,
    is_bad: bool,
    draw: Stream,
}

impl Impairment {
    /// The impairments of a link; at first there may be none.
    pub fn new(config: &LinkConfig, seed: u64) -> Self {
        let stream = |of: &str| Stream::new(seed, &format!("{of} of {}", config.name));
        let losses = |loss| Losses::new(loss, stream("loss"));
        Self {
            loss: config.loss.map(losses),
            reorder: config.reorder.map(|reorder| (reorder, stream("reordering"))),
            lost: 0,
        }
    }

    /// Changes how packets are lost. `draw` makes the stream of random numbers, if there is none yet.
    pub fn change_loss(&mut self, loss: Option<RandomLoss>, draw: impl FnOnce() -> Stream) {
        self.loss = change(self.loss.take(), loss, draw);
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
}

/// Changes how packets are lost. Goes on with the random numbers of the losses before, if there were any.
pub fn change(
    before: Option<Losses>,
    loss: Option<RandomLoss>,
    draw: impl FnOnce() -> Stream,
) -> Option<Losses> {
    loss.map(|loss| Losses::new(loss, before.map_or_else(draw, |before| before.draw)))
}

impl Losses {
    /// Losses of this kind, before the first packet.
    pub fn new(loss: RandomLoss, draw: Stream) -> Self {
        Self { loss, is_bad: false, draw }
    }

    /// Is the next packet lost? Afterwards the chain takes a step.
    pub fn strike(&mut self) -> bool {
        match self.loss {
            RandomLoss::Bernoulli { probability } => self.draw.uniform() < probability,
            RandomLoss::GilbertElliott { enter, leave, good, bad } => {
                let (loss, change) = if self.is_bad { (bad, leave) } else { (good, enter) };
                let lost = self.draw.uniform() < loss;
                self.is_bad ^= self.draw.uniform() < change;
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 200_000;

    /// Fraction lost of N packets, and how often a loss follows a loss.
    fn lost(loss: RandomLoss) -> (f64, f64) {
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
            let (fraction, again) = lost(RandomLoss::Bernoulli { probability });
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
        let (fraction, again) = lost(RandomLoss::GilbertElliott { enter, leave, good, bad });
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
    fn delays_are_uniform() {
        let config = Reorder { probability: 1.0, delay: Span::from_millis(5) };
        let reorder = Some((config, Stream::new(1, "reordering of test")));
        let mut late = Impairment { loss: None, reorder, lost: 0 };
        let spans = (0..1000).map(|_| match late.fate() {
            Fate::Late(span) => span.millis(),
            fate => panic!("{fate:?}"),
        });
        let mean = spans.inspect(|ms| assert!((0.0..5.0).contains(ms))).sum::<f64>() / 1000.0;
        assert!((mean - 2.5).abs() < 4.0 * 5.0 / 12e3f64.sqrt(), "{mean}");
    }
}
