//! FAST TCP: each flow keeps alpha packets in the queue. A round covers a share of the distance to that.
//!
//! C. Jin, D. Wei, S. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE
//! INFOCOM 2004, III. Windows in packets:
//!   (1) once a round:  w <- min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))
//!   (2) RTT, per ACK:  RTT <- (1 - eta) RTT + eta sample,   eta = min(3 / w, 1/4)
//!   loss: half of what is in flight; timeout: one packet, from which (1) doubles
//! In equilibrium w (1 - baseRTT / RTT) = alpha. An ECN mark counts as a loss. No slow start of
//! its own: far from equilibrium (1) doubles each round.
//! Differs from the paper: alpha is constant (the paper lets it be proportional to w while the queue is
//! empty). An increase is spread over the round, a packet for each acknowledged packet, in place of the
//! paper's burstiness control; a decrease comes at once. The window does not change in recovery.

use crate::round::Round;
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// FAST's constants.
    pub struct Params {
        /// Packets that a flow keeps in the queue, alpha.
        pub alpha: f64 = 20.0, in 0.1, 1e5;
        /// Share of the way to the target that a round covers, gamma.
        pub gamma: f64 = 0.5, in 0.01, 1.0;
        /// Share of the packets in flight that a loss leaves.
        pub decrease: f64 = 0.5, in 0.01, 0.99;
    }
}

/// (1): the window after a round, from the ratio of base to average RTT.
pub fn update(window: f64, rtt_ratio: f64, params: &Params) -> f64 {
    let Params { alpha, gamma, .. } = *params;
    (2.0 * window).min((1.0 - gamma) * window + gamma * (rtt_ratio * window + alpha))
}

/// The state of a FAST sender.
#[derive(Clone, Debug)]
pub struct Fast {
    params: Params,
    window: f64,
    /// The window towards which this round grows.
    target: f64,
    round: Round,
    /// The average RTT (2), in s.
    rtt: Option<f64>,
}

impl Fast {
    /// Starts with the initial window, and doubles it in the first round.
    pub fn new(params: Params, opening: &Opening) -> Self {
        let window = opening.initial_window;
        Self { params, window, target: window, round: Round::default(), rtt: None }
    }

    /// (2).
    fn measure(&mut self, sample: f64) -> f64 {
        let past = self.rtt.unwrap_or(sample);
        let rtt = past + (3.0 / self.window).min(0.25) * (sample - past);
        self.rtt = Some(rtt);
        rtt
    }

    fn set(&mut self, window: f64) {
        (self.window, self.target) = (window, window);
        self.round.restart();
    }
}

impl SenderLaw for Fast {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        if ack.recovering {
            self.round.restart();
        }
        if ack.recovering || ack.newly_acked == 0 {
            return;
        }
        let rtt = self.measure(ack.rtt.seconds());
        let round_ended = self.round.on_ack(ack).is_some();
        if ack.app_limited {
            return;
        }
        if round_ended && rtt > 0.0 {
            let ratio = (ack.min_rtt.seconds() / rtt).min(1.0);
            self.target = update(self.window, ratio, &self.params).max(1.0);
        }
        let most = self.window + f64::from(ack.newly_acked);
        self.window = self.target.min(most);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let kept = self.params.decrease * f64::from(loss.in_flight);
        self.set(kept.max(2.0).min(self.window));
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.set(1.0);
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("target", self.target);
        show("average_rtt", self.rtt.unwrap_or(0.0));
    }
}

impl SenderSpec for Fast {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "fast";
    const TITLE: &'static str =
        "FAST TCP: approaches alpha packets in the queue, a share each round";
    const SOURCE: &'static str = "Jin, Wei and Low, INFOCOM 2004";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Bottleneck;
    use crate::script::{Script, ms};

    fn fast(window: f64) -> Fast {
        Fast::new(Params::default(), &Opening::new(window, 1000))
    }

    #[test]
    fn the_update_passes_the_hand_checked_points() {
        let update = |window, ratio| update(window, ratio, &Params::default());
        assert_eq!(update(2.0, 1.0), 4.0); // far away: doubles
        assert_eq!(update(10.0, 1.0), 20.0); // 10 + 20 / 2: as much
        assert_eq!(update(100.0, 1.0), 110.0); // empty queue: half of alpha
        assert_eq!(update(80.0, 0.75), 80.0); // 20 packets queued: stays
        assert_eq!(update(80.0, 0.5), 70.0);
    }

    #[test]
    fn an_empty_queue_doubles_then_adds_half_of_alpha_a_round() {
        let (mut law, mut path) = (fast(2.0), Bottleneck::new(1e6, ms(100)));
        for _ in 0..4 {
            path.round(&mut law);
        }
        let before = path.round(&mut law);
        assert!((20.0..=40.0).contains(&before), "{before}");
        assert!((path.round(&mut law) - before - 10.0).abs() < 1e-9);
    }

    /// 1000 packets/s and 100 ms hold 100 packets; FAST must keep alpha = 20 more.
    #[test]
    fn alone_it_keeps_alpha_packets_in_the_queue() {
        for start in [2.0, 400.0] {
            let (mut law, mut path) = (fast(start), Bottleneck::new(1000.0, ms(100)));
            for _ in 0..100 {
                path.round(&mut law);
            }
            let queue = path.round(&mut law) - 100.0;
            assert!((19.0..=21.0).contains(&queue), "{queue} from {start}");
        }
    }

    #[test]
    fn a_loss_halves_and_a_timeout_restarts() {
        let mut flow = Script::new(fast(80.0));
        flow.loss(80).expect_window(40.0).loss(3).expect_window(2.0).timeout().expect_window(1.0);
    }
}
