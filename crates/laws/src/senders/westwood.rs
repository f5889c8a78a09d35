//! Westwood+: Reno whose window after a loss is the estimated bandwidth times the least RTT.
//!
//! L. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas
//! TCP Congestion Control", ACM CCR 34(2), 2004, 2.2. Windows in packets, rates in packets / s:
//!   (1) a sample each round:   b = packets acknowledged in it / its length
//!   (2) B = 0.9 B + 0.1 b
//!   (3) loss:     ssthresh = max(2, B RTT_min), cwnd = ssthresh;  timeout: the same, cwnd = 1
//! Slow start and avoidance are Reno's; an ECN mark counts as a loss.
//! Differs from the paper: the filter starts at the first sample, not at 0; rounds in which the sender
//! ran out of data give no sample; without a sample a loss leaves half of the flight; (3) never raises cwnd.

use super::tcp::{Avoidance, Tcp};
use crate::quantities::Span;
use crate::round::Round;
use crate::sender::{Ack, Loss, Opening, SenderSpec};
use crate::{params, tunes};

params! {
    /// Westwood+'s constants.
    pub struct Params {
        /// Weight of the past in the bandwidth estimate (2).
        pub weight: f64 = 0.9, in 0.0, 0.999;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// Westwood+'s congestion avoidance, with its estimate of the bandwidth.
#[derive(Clone, Debug)]
pub struct Westwood {
    params: Params,
    round: Round,
    /// B of (2), in packets / s.
    bandwidth: Option<f64>,
    min_rtt: Span,
}

impl Avoidance for Westwood {
    tunes! {}

    /// (1) and (2).
    fn measure(&mut self, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
        if ack.app_limited {
            self.round.restart();
        } else if let Some(passed) = self.round.on_ack(ack).filter(|passed| passed.seconds > 0.0) {
            let sample = passed.packets as f64 / passed.seconds;
            let past = self.bandwidth.unwrap_or(sample);
            self.bandwidth = Some(past + (1.0 - self.params.weight) * (sample - past));
        }
    }

    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        f64::from(ack.newly_acked) / window
    }

    /// (3).
    fn kept(&mut self, loss: &Loss, _: f64) -> f64 {
        let carried = self.bandwidth.map(|bandwidth| bandwidth * self.min_rtt.seconds());
        carried.unwrap_or(f64::from(loss.in_flight) / 2.0)
    }

    fn on_timeout(&mut self) {
        self.round.restart();
    }

    fn observe(&self, _: f64, show: &mut dyn FnMut(&str, f64)) {
        show("bandwidth", self.bandwidth.unwrap_or(0.0));
    }
}

impl SenderSpec for Westwood {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "westwood";
    const TITLE: &'static str =
        "Westwood+: after a loss, the measured bandwidth times the least RTT";
    const SOURCE: &'static str = "Grieco and Mascolo, ACM CCR 34(2), 2004";
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        let (round, min_rtt) = (Round::default(), Span::ZERO);
        let westwood = Self { params, round, bandwidth: None, min_rtt };
        Tcp::new(westwood, params.initial_ssthresh, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Bottleneck;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    fn westwood(window: f64) -> Tcp<Westwood> {
        let params = Params { initial_ssthresh: 2.0, ..Params::default() };
        <Westwood as SenderSpec>::new(params, &Opening::new(window, 1000))
    }

    /// 1000 packets/s and 100 ms hold 100 packets: that is what a loss leaves, whatever the queue.
    #[test]
    fn a_loss_empties_the_queue_and_no_more() {
        for window in [110.0, 180.0] {
            let (mut law, mut path) = (westwood(window), Bottleneck::new(1000.0, ms(100)));
            for _ in 0..10 {
                path.round(&mut law);
            }
            let in_flight = law.window() as u32;
            let mut flow = Script::new(law);
            flow.loss(in_flight);
            assert!((99.0..=101.0).contains(&flow.law.window()), "{}", flow.law.window());
        }
    }

    #[test]
    fn a_sample_counts_a_tenth() {
        let mut law = westwood(10.0);
        let mut path = Bottleneck::new(1e9, ms(100));
        path.round(&mut law);
        path.round(&mut law);
        let sample = law.avoidance.bandwidth.expect("a round has passed");
        assert!((90.0..=111.0).contains(&sample), "{sample}"); // 10 packets in 100 ms
        law.avoidance.bandwidth = Some(1000.0);
        path.round(&mut law);
        let moved = 1000.0 - law.avoidance.bandwidth.unwrap_or(0.0);
        assert!((88.0..=91.0).contains(&moved), "{moved}"); // a tenth of 1000 - 100
    }

    #[test]
    fn without_a_sample_it_is_reno() {
        let mut flow = Script::new(westwood(20.0));
        flow.ack_at(80, ms(80)).expect_window(20.05);
        flow.loss(20).expect_window(10.0).timeout().expect_window(1.0);
    }
}
