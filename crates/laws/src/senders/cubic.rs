//! CUBIC: the window follows a cubic of the time since the last congestion event.
//!
//! L. Xu et al., "CUBIC for Fast and Long-Distance Networks", RFC 9438, 2023. Windows in packets,
//! times in seconds, equations by figure:
//!   F1  W_cubic(t) = C (t - K)^3 + W_max        F2  K = cbrt((W_max - cwnd_epoch) / C)
//!   target = W_cubic(t + srtt), at least cwnd, at most 1.5 cwnd                           (4.2)
//!   F4  W_est += alpha newly_acked / cwnd, alpha = 3 (1 - beta) / (1 + beta), 1 from cwnd_prior on
//!   each new ACK: cwnd = W_est where W_cubic(t) < W_est (4.3), else cwnd += (target - cwnd) / cwnd
//!   F5  loss: ssthresh = beta FlightSize, cwnd = max(ssthresh, 2), after an ECN mark max(ssthresh, 1)
//!   4.7 W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd has not reached the last W_max
//!   4.8 timeout: F5, cwnd = 1; a stage entered from slow start has K = 0 and W_max = cwnd
//! Differs from the RFC: an ACK never lowers cwnd to W_est. HyStart++ (4.10) is an option of the
//! transport; spurious losses (4.9) are left out. An epoch begins with the first ACK of avoidance after recovery. Time in
//! which the sender is application-limited does not count (5.8).

use super::tcp_window::TcpWindow;
use crate::params;
use crate::params::{ParamError, ParamSet, Value};
use crate::quantities::Time;
use crate::sender::{Ack, Congestion, Loss, Opening, SenderLaw, SenderSpec};

params! {
    /// CUBIC's constants.
    pub struct Params {
        /// Steepness C of the cubic, in packets / s^3.
        pub c: f64 = 0.4, in 0.001, 1000.0;
        /// Share of the packets in flight that a loss leaves, beta_cubic.
        pub beta: f64 = 0.7, in 0.1, 0.95;
        /// Fast convergence: remember less than the window at the loss, to leave room for new flows?
        pub fast_convergence: bool = true, in 0.0, 1.0;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// F2: seconds until the cubic is back at `w_max`.
pub fn inflection(w_max: f64, cwnd_epoch: f64, c: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch) / c)
}

/// F1: the window, `t` seconds into the epoch.
pub fn w_cubic(t: f64, k: f64, w_max: f64, c: f64) -> f64 {
    let x = t - k;
    c * x * x * x + w_max
}

/// alpha_cubic of F4: with a decrease to `beta`, the average window is Reno's.
pub fn friendly_alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// An epoch of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    k: f64,
    w_est: f64,
}

/// The state of a CUBIC sender.
#[derive(Clone, Debug)]
pub struct Cubic {
    params: Params,
    window: TcpWindow,
    /// The window just before the last reduction.
    cwnd_prior: f64,
    w_max: f64,
    epoch: Option<Epoch>,
    /// Is the next epoch entered without a loss, or after a timeout?
    from_slow_start: bool,
    last_ack: Time,
}

impl Cubic {
    /// Starts with the initial window, in slow start.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            window: TcpWindow::new(params.initial_ssthresh, opening),
            cwnd_prior: 0.0,
            w_max: 0.0,
            epoch: None,
            from_slow_start: true,
            last_ack: Time::ZERO,
        }
    }

    fn begin_epoch(&mut self, now: Time) -> Epoch {
        if self.from_slow_start {
            self.w_max = self.window.packets();
        }
        let k = inflection(self.w_max, self.window.packets(), self.params.c);
        Epoch { start: now, k, w_est: self.window.packets() }
    }

    /// 4.2 to 4.5.
    fn avoid(&mut self, ack: &Ack) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let cubic = |t| w_cubic(t, epoch.k, self.w_max, self.params.c);
        let t = ack.now.since(epoch.start).seconds();
        let below_prior = epoch.w_est < self.cwnd_prior;
        let alpha = if below_prior { friendly_alpha(self.params.beta) } else { 1.0 };
        let window = self.window.packets();
        let w_est = epoch.w_est + alpha * f64::from(ack.newly_acked) / window;
        if cubic(t) < w_est {
            self.window.set(window.max(w_est));
        } else {
            let target = cubic(t + ack.smoothed_rtt.seconds());
            self.window.add(target.clamp(window, 1.5 * window) / window - 1.0);
        }
        epoch.w_est = w_est;
        self.epoch = Some(epoch);
    }

    /// F5 and 4.7, up to the window itself.
    fn reduce(&mut self, loss: &Loss, at_least: f64) {
        let Params { beta, fast_convergence, .. } = self.params;
        let window = self.window.packets();
        let yields = fast_convergence && window < self.w_max;
        self.w_max = if yields { window * (1.0 + beta) / 2.0 } else { window };
        self.cwnd_prior = window;
        let ssthresh = beta * f64::from(loss.in_flight);
        self.window.set(ssthresh.max(at_least).min(window));
        self.window.end(ssthresh.max(2.0));
        self.epoch = None;
    }
}

impl SenderLaw for Cubic {
    /// With another C, the stage under way goes on from the window and the slope's zero where it is.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        let before = self.params.c;
        self.params.tune(name, value)?;
        if let Some(epoch) = &mut self.epoch {
            let t = self.last_ack.since(epoch.start).seconds();
            epoch.k = t - (t - epoch.k) * libm::cbrt(before / self.params.c);
        }
        Ok(())
    }

    fn on_ack(&mut self, ack: &Ack) {
        let since_last = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        if ack.recovering || ack.app_limited {
            if let Some(epoch) = &mut self.epoch {
                epoch.start += since_last;
            }
        } else if ack.newly_acked > 0 && self.window.is_starting() {
            self.window.start(ack);
        } else if ack.newly_acked > 0 {
            self.avoid(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduce(loss, if loss.by == Congestion::Mark { 1.0 } else { 2.0 });
        self.from_slow_start = false;
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.reduce(loss, 1.0);
        self.window.set(1.0);
        self.from_slow_start = true;
    }

    fn window(&self) -> f64 {
        self.window.packets()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.threshold())
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("ssthresh", self.window.threshold());
        show("w_max", self.w_max);
        show("w_est", self.epoch.map_or(0.0, |epoch| epoch.w_est));
    }
}

impl SenderSpec for Cubic {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "cubic";
    const TITLE: &'static str = "CUBIC: the window follows a cubic of the time since the last loss";
    const SOURCE: &'static str = "RFC 9438";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    /// 80 packets, lost. (80 - 56) / 0.375 = 64, so that K is 4 s.
    fn cut_at_80() -> Script<Cubic> {
        let params = Params { c: 0.375, ..Params::default() };
        let opening = Opening::new(80.0, 1000);
        let mut flow = Script::new(Cubic::new(params, &opening));
        flow.loss(80).expect_window(56.0);
        flow
    }

    #[test]
    fn the_cubic_passes_the_hand_checked_points() {
        assert_eq!(inflection(80.0, 56.0, 0.375), 4.0);
        assert_eq!(inflection(56.0, 56.0, 0.4), 0.0);
        for (t, window) in [(0.0, 56.0), (2.0, 77.0), (4.0, 80.0), (6.0, 83.0), (8.0, 104.0)] {
            assert_eq!(w_cubic(t, 4.0, 80.0, 0.375), window);
        }
        assert!((friendly_alpha(0.7) - 9.0 / 17.0).abs() < 1e-15); // and Reno's own:
        assert_eq!(friendly_alpha(0.5), 1.0);
    }

    #[test]
    fn an_ack_moves_a_windowth_of_the_way_to_the_target_an_rtt_ahead() {
        let mut flow = cut_at_80();
        // The first ACK of avoidance begins the epoch; an RTT of 2 s looks ahead to 77.
        flow.ack_at(1000, ms(2000)).expect_window(56.0 + 9.0 / 17.0 / 56.0); // W_cubic(0) < W_est
        flow.ack_at(3000, ms(2000)); // W_cubic(2) = 77, target W_cubic(4) = 80
        let from = 56.0 + 9.0 / 17.0 / 56.0;
        flow.expect_window(from + (80.0 - from) / from);
        let from = flow.law.window();
        flow.ack_at(9000, ms(8000)).expect_window(from + 0.5); // the target stops at 1.5 cwnd
    }

    #[test]
    fn it_is_reno_while_reno_would_be_faster() {
        let mut flow = cut_at_80();
        flow.ack_at(0, ms(1)).ack_at(1, ms(1));
        let w_est = |flow: &Script<Cubic>| flow.law.epoch.map_or(0.0, |epoch| epoch.w_est);
        // W_cubic climbs 18 packets a second, W_est 9/17 each 56 ACKs.
        let mut at = 1;
        while flow.law.window() == w_est(&flow) {
            at += 1;
            flow.ack_at(at, ms(1));
        }
        let cubic = |at: u64| w_cubic(at as f64 / 1e3, 4.0, 80.0, 0.375);
        assert!(cubic(at) >= w_est(&flow) && cubic(at - 1) < w_est(&flow));
    }

    #[test]
    fn losing_again_before_the_last_maximum_yields_room() {
        let mut flow = cut_at_80();
        flow.ack_at(0, ms(100)).loss(56);
        assert!((flow.law.w_max - 0.85 * flow.law.cwnd_prior).abs() < 1e-12);
        flow.expect_window(39.2);
    }

    #[test]
    fn after_a_timeout_the_cubic_starts_at_its_inflection() {
        let mut flow = cut_at_80();
        flow.ack_at(0, ms(100)).timeout().expect_window(1.0); // 56 in flight: ssthresh = 39.2
        for _ in 0..39 {
            flow.ack_at(1000, ms(100));
        }
        flow.expect_window(39.2).ack_at(2000, ms(100));
        assert!((flow.law.w_max - 39.2).abs() < 1e-9);
        assert_eq!(flow.law.epoch.map(|epoch| epoch.k), Some(0.0));
    }
}
