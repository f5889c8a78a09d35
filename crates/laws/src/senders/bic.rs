//! BIC: a binary search for the window of the last loss, then slow growth beyond it.
//!
//! L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks", IEEE INFOCOM 2004, III. Windows in packets, per RTT, from low_window on:
//!   (1) binary search, cwnd < max:   cwnd += (max - cwnd) / B, at least S_min, at most S_max
//!   (2) max probing, beyond it:      cwnd += 1, then 2, 4 ... S_max: slow start from max
//!   (3) loss: max = cwnd, or the middle between cwnd and (1 - beta) cwnd if it had not come back to
//!       the last max (fast convergence); cwnd *= 1 - beta
//! Below low_window, in slow start and after timeouts it is Reno; an ECN mark counts as a loss.
//! Differs from the paper: B is 4, as in all of its implementations, where the paper aims at the middle
//! (B = 2); an acknowledged packet adds at most one (S_max / cwnd is 2.3 at low_window); a cut is a
//! share of the packets in flight, not of the window; fast convergence compares with the last max also
//! after probing, where the paper's pseudo-code compares with its "large integer"; a timeout forgets max.

use super::tcp::{Avoidance, Tcp};
use crate::sender::{Ack, Loss, Opening, SenderSpec};
use crate::{params, tunes};

params! {
    /// BIC's constants.
    pub struct Params {
        /// Largest growth a round, S_max, in packets.
        pub max_increment: f64 = 32.0, in 1.0, 1e4;
        /// Smallest growth a round of the search, S_min, in packets.
        pub min_increment: f64 = 0.01, in 1e-4, 1.0;
        /// Share of the packets in flight that a loss takes, beta.
        pub beta: f64 = 0.125, in 0.01, 0.9;
        /// Divisor B: a round covers 1 / B of the distance to max; 2 is the paper's bisection.
        pub search: f64 = 4.0, in 1.0, 100.0;
        /// Window below which it is Reno, in packets.
        pub low_window: f64 = 14.0, in 1.0, 1e6;
        /// Fast convergence: remember less than the window at the loss, to leave room for new flows?
        pub fast_convergence: bool = true, in 0.0, 1.0;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// (2): growth beyond max.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Packets per round.
    step: f64,
    /// The window from which the step doubles.
    until: f64,
}

/// BIC's congestion avoidance.
#[derive(Clone, Debug)]
pub struct Bic {
    params: Params,
    max: Option<f64>,
    probe: Option<Probe>,
}

impl Bic {
    /// (1) and (2): packets that a round adds at this window.
    fn step(&mut self, window: f64) -> f64 {
        let Params { max_increment, min_increment, search, .. } = self.params;
        if let Some(max) = self.max.filter(|max| window < *max) {
            return ((max - window) / search).max(min_increment).min(max_increment);
        }
        let probe = self.probe.get_or_insert(Probe { step: 1.0, until: window + 1.0 });
        if window >= probe.until {
            probe.step = (2.0 * probe.step).min(max_increment);
            probe.until = window + probe.step;
        }
        probe.step.min(max_increment)
    }
}

impl Avoidance for Bic {
    tunes! {}

    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        let acked = f64::from(ack.newly_acked);
        if window < self.params.low_window {
            acked / window
        } else {
            acked * (self.step(window) / window).min(1.0)
        }
    }

    /// (3).
    fn kept(&mut self, loss: &Loss, window: f64) -> f64 {
        let lost = if window < self.params.low_window { 0.5 } else { self.params.beta };
        if window >= self.params.low_window {
            let yields = self.params.fast_convergence && self.max.is_some_and(|max| window < max);
            let kept = if yields { 1.0 - lost / 2.0 } else { 1.0 };
            self.max = Some(kept * window);
        }
        self.probe = None;
        (1.0 - lost) * f64::from(loss.in_flight)
    }

    fn on_timeout(&mut self) {
        self.max = None;
    }

    fn observe(&self, _: f64, show: &mut dyn FnMut(&str, f64)) {
        show("max", self.max.unwrap_or(0.0));
    }
}

impl SenderSpec for Bic {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "bic";
    const TITLE: &'static str = "BIC: a binary search for the window of the last loss";
    const SOURCE: &'static str = "Xu, Harfoush and Rhee, INFOCOM 2004";
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        Tcp::new(Self { params, max: None, probe: None }, params.initial_ssthresh, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    fn bic(window: f64) -> Script<Tcp<Bic>> {
        let params = Params { initial_ssthresh: 2.0, ..Params::default() };
        Script::new(<Bic as SenderSpec>::new(params, &Opening::new(window, 1000)))
    }

    #[test]
    fn the_search_takes_a_quarter_of_the_distance_within_its_bounds() {
        let mut flow = bic(2000.0);
        flow.loss(2000).expect_window(1750.0);
        for (left, step) in [(250.0, 32.0), (128.0, 32.0), (124.0, 31.0), (4.0, 1.0), (0.01, 0.01)]
        {
            let window = 2000.0 - left;
            flow.law.window.set(window);
            flow.ack_at(80, ms(80)).expect_window(window + step / window);
        }
    }

    #[test]
    fn beyond_the_last_maximum_steps_double_from_one_packet() {
        let mut flow = bic(1000.0);
        flow.loss(1000);
        let mut steps = Vec::new();
        for window in [1000.0, 1000.5, 1001.0, 1003.0, 1007.0, 1015.0, 1031.0, 1063.0, 1500.0] {
            steps.push(flow.law.avoidance.step(window));
        }
        assert_eq!(steps, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0]);
    }

    #[test]
    fn losing_again_before_the_last_maximum_yields_room() {
        let mut flow = bic(1000.0);
        flow.loss(1000).loss(800);
        assert_eq!(flow.law.avoidance.max, Some(820.3125)); // the middle of 875 and 765.625
        flow.expect_window(700.0);
        flow.law.window.set(900.0); // beyond it
        flow.loss(900).expect_window(787.5);
        assert_eq!(flow.law.avoidance.max, Some(900.0));
    }

    #[test]
    fn below_the_low_window_it_is_reno() {
        bic(13.0).ack_at(80, ms(80)).expect_window(13.0 + 1.0 / 13.0);
        bic(13.0).loss(12).expect_window(6.0);
        bic(14.0).loss(14).expect_window(12.25);
        bic(14.0).timeout().expect_window(1.0);
    }
}
