//! TCP Vegas: keeps a few packets of its own in the queue, estimated from the RTT.
//!
//! L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas: New Techniques for Congestion Detection and
//! Avoidance", SIGCOMM 1994, 4.2 and 4.3. Windows in packets; once a round, with the mean RTT of it:
//!   (1) diff = (cwnd / baseRTT - cwnd / RTT) baseRTT       packets of this flow in the queue
//!   (2) avoidance: diff < alpha: cwnd += 1 over the next round; diff > beta: cwnd -= 1; else hold
//!   (3) slow start: doubles every other round; after a round of holding with diff > gamma it ends
//!   (4) loss: 3/4 of what is in flight, then avoidance; timeout: Reno's
//! An ECN mark counts as a loss.
//! Where the paper is silent, the authors' code in ns-2 is followed: slow start ends at 7/8 cwnd; the 3/4 of (4)
//! (but a packet lost twice does not halve); cwnd is at least two. Left out: the fine-grained timeout on the
//! first duplicate ACK (4.1), which would belong to the transport.

use crate::round::Round;
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// Vegas's thresholds.
    pub struct Params {
        /// Packets in the queue below which the window grows, alpha.
        pub alpha: f64 = 1.0, in 0.0, 1e6;
        /// Packets in the queue above which the window shrinks, beta; should be at least alpha.
        pub beta: f64 = 3.0, in 0.0, 1e6;
        /// Packets in the queue above which slow start ends, gamma.
        pub gamma: f64 = 1.0, in 0.0, 1e6;
        /// Share of the packets in flight that a loss leaves.
        pub decrease: f64 = 0.75, in 0.01, 0.99;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// What a round does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Hold,
    /// By one packet.
    Add,
    /// By the packets acknowledged, in slow start.
    Double,
}

/// The state of a Vegas sender.
#[derive(Clone, Debug)]
pub struct Vegas {
    params: Params,
    window: f64,
    ssthresh: f64,
    growth: Growth,
    round: Round,
    /// The sum of the current round's RTTs in s; below, their number.
    rtt_sum: f64,
    rtts: u32,
    diff: f64,
}

impl Vegas {
    /// Starts with the initial window, in slow start.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            window: opening.initial_window,
            ssthresh: params.initial_ssthresh,
            growth: Growth::Double,
            round: Round::default(),
            rtt_sum: 0.0,
            rtts: 0,
            diff: 0.0,
        }
    }

    fn restart_round(&mut self) {
        self.round.restart();
        (self.rtt_sum, self.rtts) = (0.0, 0);
    }

    /// (1) to (3), at the end of a round with this mean RTT.
    fn decide(&mut self, base_rtt: f64, mean_rtt: f64) {
        self.diff = self.window * (1.0 - (base_rtt / mean_rtt).min(1.0));
        let Params { alpha, beta, gamma, .. } = self.params;
        let slow_start = self.window < self.ssthresh;
        self.growth = if slow_start && self.growth == Growth::Hold {
            if self.diff <= gamma {
                Growth::Double
            } else {
                self.ssthresh = 2.0;
                self.window = (0.875 * self.window).max(2.0).min(self.window);
                Growth::Hold
            }
        } else if !slow_start && self.diff < alpha {
            Growth::Add
        } else {
            if !slow_start && self.diff > beta {
                self.window = (self.window - 1.0).max(2.0).min(self.window);
            }
            Growth::Hold
        };
    }
}

impl SenderLaw for Vegas {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        if ack.recovering {
            self.restart_round();
        }
        if ack.recovering || ack.newly_acked == 0 {
            return;
        }
        self.rtt_sum += ack.rtt.seconds();
        self.rtts += 1;
        if self.round.on_ack(ack).is_some() {
            let mean = self.rtt_sum / f64::from(self.rtts);
            (self.rtt_sum, self.rtts) = (0.0, 0);
            if !ack.app_limited && mean > 0.0 {
                self.decide(ack.min_rtt.seconds(), mean);
            }
        }
        if ack.app_limited {
            return;
        }
        let acked = f64::from(ack.newly_acked);
        match (self.growth, self.window < self.ssthresh) {
            (Growth::Double, true) => self.window = (self.window + acked).min(self.ssthresh),
            (Growth::Add, _) => self.window += acked / self.window,
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let kept = self.params.decrease * f64::from(loss.in_flight);
        self.window = kept.max(2.0).min(self.window);
        self.ssthresh = 2.0;
        self.growth = Growth::Hold;
        self.restart_round();
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.ssthresh = (f64::from(loss.in_flight) / 2.0).max(2.0);
        self.window = 1.0;
        self.growth = Growth::Double;
        self.restart_round();
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("ssthresh", self.ssthresh);
        show("diff", self.diff);
    }
}

impl SenderSpec for Vegas {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vegas";
    const TITLE: &'static str = "TCP Vegas: one to three packets in the queue, by the RTT";
    const SOURCE: &'static str = "Brakmo, O'Malley and Peterson, SIGCOMM 1994";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Bottleneck;
    use crate::script::{Script, ms};

    fn vegas(window: f64, initial_ssthresh: f64) -> Vegas {
        let params = Params { initial_ssthresh, ..Params::default() };
        Vegas::new(params, &Opening::new(window, 1000))
    }

    #[test]
    fn it_grows_below_alpha_shrinks_above_beta_and_holds_between() {
        // diff = 20 (1 - 76 / RTT): at 80 ms 1, at 89.41 ms 3.
        for (base, mean, growth, window) in [
            (76.0, 79.9, Growth::Add, 20.0),
            (75.0, 80.0, Growth::Hold, 20.0), // 1.25
            (76.0, 89.4, Growth::Hold, 20.0),
            (76.0, 89.5, Growth::Hold, 19.0),
        ] {
            let mut law = vegas(20.0, 2.0);
            law.decide(base, mean);
            assert_eq!((law.growth, law.window), (growth, window), "{base} {mean}");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let (mut law, mut path) = (vegas(2.0, 1e9), Bottleneck::new(1e6, ms(100)));
        let windows: Vec<f64> = (0..6).map(|_| path.round(&mut law)).collect();
        assert_eq!(windows, [4.0, 4.0, 8.0, 8.0, 16.0, 16.0]);
    }

    /// 1000 packets/s and 100 ms hold 100 packets; Vegas must keep 1 to 3 more.
    #[test]
    fn alone_it_keeps_alpha_to_beta_packets_in_the_queue() {
        for start in [2.0, 300.0] {
            let ssthresh = if start < 100.0 { 1e9 } else { 2.0 };
            let (mut law, mut path) = (vegas(start, ssthresh), Bottleneck::new(1000.0, ms(100)));
            for _ in 0..400 {
                path.round(&mut law);
            }
            for _ in 0..50 {
                let queue = path.round(&mut law) - 100.0;
                assert!((0.9..=3.1).contains(&queue), "{queue} from {start}");
            }
        }
    }

    #[test]
    fn a_loss_costs_a_quarter_and_ends_slow_start() {
        let mut flow = Script::new(vegas(40.0, 1e9));
        flow.loss(40).expect_window(30.0).loss(2).expect_window(2.0);
        assert_eq!(flow.law.ssthresh, 2.0);
        flow.timeout().expect_window(1.0);
    }
}
