//! H-TCP: growth becomes faster with the time since the last loss; a cut depends on the queueing delay.
//!
//! D. Leith, R. Shorten, "H-TCP: TCP for High-Speed and Long-Distance Networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp. Delta is the time since the last backoff in s, windows are in packets:
//!   (1) f(Delta) = 1 up to Delta_L = 1 s, then 1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)^2
//!   (2) alpha = 2 (1 - beta) f(Delta);       each RTT: cwnd += alpha
//!   (3) on loss, with B the throughput of the round before it, B' that before the last loss:
//!       beta = 0.5 if |B - B'| > 0.2 B', else RTT_min / RTT_max within [0.5, 0.8];  cwnd *= beta
//!   (4) optional RTT scaling: f *= RTT_min / 100 ms, the factor within [0.1, 2]
//! Slow start and timeouts are Reno's, except for beta; an ECN mark counts as a loss.
//! Differs from the paper: RTT_max is that since the last backoff; a slow start that ends without one
//! counts as one for Delta; growth never passes slow start's,
//! a packet each acknowledged packet, and f >= 1 also after scaling (both as in Linux); a cut is a
//! share of the packets in flight, not of the window.

use super::tcp::{Avoidance, Tcp};
use crate::quantities::{Span, Time};
use crate::round::Round;
use crate::sender::{Ack, Loss, Opening, SenderSpec};
use crate::{params, tunes};

params! {
    /// H-TCP's constants.
    pub struct Params {
        /// Time after a backoff in which it grows as Reno does, Delta_L.
        pub low_speed: Span = Span::from_secs(1), in 0.0, 100.0;
        /// Least share of the packets in flight kept after a loss.
        pub min_beta: f64 = 0.5, in 0.1, 0.5;
        /// Largest share of the packets in flight kept after a loss.
        pub max_beta: f64 = 0.8, in 0.5, 0.99;
        /// Relative change of throughput between losses from which `min_beta` is kept, Delta_B.
        pub bandwidth_switch: f64 = 0.2, in 0.0, 100.0;
        /// Scale growth with the RTT, so that flows of different RTT grow alike?
        pub rtt_scaling: bool = false, in 0.0, 1.0;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// (1): growth in packets a round, `delta` seconds after a backoff.
pub fn growth(delta: f64, low_speed: f64) -> f64 {
    let x = (delta - low_speed).max(0.0);
    1.0 + 10.0 * x + 0.25 * x * x
}

/// (3), the second case: a cut after which the queue is just empty.
pub fn adaptive_beta(min_rtt: Span, max_rtt: Span, params: &Params) -> f64 {
    if max_rtt == Span::ZERO {
        return params.min_beta;
    }
    min_rtt.ratio(max_rtt).clamp(params.min_beta, params.max_beta)
}

/// H-TCP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct HTcp {
    params: Params,
    /// beta of the last backoff.
    beta: Option<f64>,
    /// When the last backoff was; before the first, when congestion avoidance began.
    last_backoff: Option<Time>,
    min_rtt: Span,
    /// The longest RTT since the last backoff.
    max_rtt: Span,
    round: Round,
    /// In packets / s, of the last round; below, of the round before the last backoff.
    throughput: f64,
    throughput_before: Option<f64>,
}

impl HTcp {
    fn beta(&self) -> f64 {
        self.beta.unwrap_or(self.params.min_beta)
    }

    /// (2) and (4).
    fn alpha(&mut self, now: Time) -> f64 {
        let since = *self.last_backoff.get_or_insert(now);
        let mut f = growth(now.since(since).seconds(), self.params.low_speed.seconds());
        if self.params.rtt_scaling {
            f = (f * (self.min_rtt.seconds() / 0.1).clamp(0.1, 2.0)).max(1.0);
        }
        2.0 * (1.0 - self.beta()) * f
    }
}

impl Avoidance for HTcp {
    tunes! {}

    fn measure(&mut self, ack: &Ack) {
        if let Some(passed) = self.round.on_ack(ack).filter(|passed| passed.seconds > 0.0) {
            self.throughput = passed.packets as f64 / passed.seconds;
        }
        self.min_rtt = ack.min_rtt;
        if !ack.recovering {
            self.max_rtt = self.max_rtt.max(ack.rtt);
        }
    }

    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        let share = self.alpha(ack.now) / window;
        f64::from(ack.newly_acked) * share.min(1.0)
    }

    /// (3).
    fn kept(&mut self, loss: &Loss, _: f64) -> f64 {
        let params = &self.params;
        let steady = self.throughput_before.is_some_and(|before| {
            (self.throughput - before).abs() <= params.bandwidth_switch * before
        });
        let adaptive = adaptive_beta(self.min_rtt, self.max_rtt, params);
        let beta = if steady { adaptive } else { params.min_beta };
        self.beta = Some(beta);
        self.throughput_before = Some(self.throughput);
        self.last_backoff = Some(loss.now);
        self.max_rtt = Span::ZERO;
        beta * f64::from(loss.in_flight)
    }

    fn on_timeout(&mut self) {
        self.round.restart();
    }

    fn observe(&self, _: f64, show: &mut dyn FnMut(&str, f64)) {
        show("beta", self.beta());
        show("throughput", self.throughput);
    }
}

impl SenderSpec for HTcp {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "htcp";
    const TITLE: &'static str = "H-TCP: growth by the time since the last loss, cuts by the queue";
    const SOURCE: &'static str = "Leith and Shorten, PFLDnet 2004";
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        let htcp = Self {
            params,
            beta: None,
            last_backoff: None,
            min_rtt: Span::ZERO,
            max_rtt: Span::ZERO,
            round: Round::default(),
            throughput: 0.0,
            throughput_before: None,
        };
        Tcp::new(htcp, params.initial_ssthresh, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    fn htcp(window: f64, rtt_scaling: bool) -> Script<Tcp<HTcp>> {
        let params = Params { initial_ssthresh: 2.0, rtt_scaling, ..Params::default() };
        Script::new(<HTcp as SenderSpec>::new(params, &Opening::new(window, 1000)))
    }

    #[test]
    fn growth_passes_the_hand_checked_points() {
        for (delta, packets) in
            [(0.0, 1.0), (1.0, 1.0), (1.1, 2.0 + 0.0025), (3.0, 22.0), (11.0, 126.0)]
        {
            assert!((growth(delta, 1.0) - packets).abs() < 1e-12, "{delta}");
        }
    }

    #[test]
    fn beta_leaves_the_queue_just_empty() {
        let beta = |max| adaptive_beta(ms(70), ms(max), &Params::default());
        assert_eq!([beta(100), beta(70), beta(80), beta(200)], [0.7, 0.8, 0.8, 0.5]);
        assert_eq!(beta(0), 0.5);
    }

    #[test]
    fn three_seconds_after_a_loss_a_round_brings_22_packets() {
        let mut flow = htcp(100.0, false);
        flow.loss(100).expect_window(50.0); // nothing to compare with: beta = 0.5, so alpha = f
        flow.ack_at(1000, ms(100)).expect_window(50.0 + 1.0 / 50.0);
        let before = flow.law.window();
        flow.ack_at(3000, ms(100)).expect_window(before + 22.0 / before);
        let before = flow.law.window();
        flow.ack_at(60_000, ms(100)).expect_window(before + 1.0); // f = 1461: no faster than slow start
    }

    /// A flow that starts at 100 s and leaves slow start without a loss grows as one that has just had one.
    #[test]
    fn without_a_backoff_time_counts_from_the_end_of_slow_start() {
        let mut flow = htcp(100.0, false);
        flow.ack_at(100_000, ms(100)).expect_window(100.01);
        let before = flow.law.window();
        flow.ack_at(103_000, ms(100)).expect_window(before + 22.0 / before);
    }

    #[test]
    fn rtt_scaling_works_from_a_tenth_to_twice() {
        for (rtt, factor) in [(50, 0.5), (400, 2.0), (1, 0.1)] {
            let mut flow = htcp(100.0, true);
            flow.loss(100).ack_at(3000, ms(rtt)).expect_window(50.0 + 22.0 * factor / 50.0);
        }
        htcp(100.0, true).loss(100).ack_at(500, ms(10)).expect_window(50.0 + 1.0 / 50.0);
    }

    #[test]
    fn a_change_of_throughput_by_more_than_a_fifth_halves() {
        let beta = |before: f64, now: f64| {
            let mut flow = htcp(100.0, false);
            flow.law.avoidance.min_rtt = ms(70);
            (flow.law.avoidance.throughput, flow.law.avoidance.max_rtt) = (before, ms(100));
            flow.loss(100);
            (flow.law.avoidance.throughput, flow.law.avoidance.max_rtt) = (now, ms(100));
            flow.loss(50);
            flow.law.avoidance.beta()
        };
        assert_eq!([beta(1000.0, 1200.0), beta(1000.0, 800.0)], [0.7, 0.7]);
        assert_eq!([beta(1000.0, 1201.0), beta(1000.0, 799.0)], [0.5, 0.5]);
    }
}
