//! VCP's sender: multiplicative increase, additive increase or a cut, as two bits of load say.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions
//! on Networking 16(6), 2008, III-E.2 and Table I. Windows in packets, per ACK:
//!   S.1 low load:   cwnd += (1 + xi)^min(srtt / t_rho, sigma_mi) - 1             (6)
//!   S.2 high load:  cwnd += alpha min((srtt / t_rho)^2, sigma_ai) / cwnd         (8)
//!   S.3 overload:   cwnd = max(1, beta cwnd) once; then hold cwnd for one t_rho, then S.2 for one
//!                   srtt, whatever the load feedback says in these two periods   (4)
//! Losses are answered as TCP Reno does, with its recovery; there is no slow start, also after one.

use crate::codecs::{Codec, Feedback, Load};
use crate::params;
use crate::quantities::{Span, Time};
use crate::registry::SenderSpec;
use crate::sender::{Ack, Loss, Opening, Recovery, SenderLaw};

params! {
    /// Lower part of Table I.
    pub struct Params {
        /// MI parameter xi: growth each t_rho at low load, dimensionless.
        pub xi: f64 = 0.0625, in 0.0, 10.0;
        /// AI parameter alpha: packets each t_rho at high load.
        pub alpha: f64 = 1.0, in 0.0, 1000.0;
        /// MD parameter beta: what a cut leaves of the window.
        pub beta: f64 = 0.875, in 0.01, 0.999;
        /// Load-factor measurement interval t_rho of the routers.
        pub t_rho: Span = Span::from_millis(200), in 0.001, 100.0;
        /// MI scaling limiter sigma_mi: bounds the exponent srtt / t_rho.
        pub sigma_mi: f64 = 2.5, in 0.0, 1000.0;
        /// AI scaling limiter sigma_ai: bounds (srtt / t_rho)^2.
        pub sigma_ai: f64 = 10.0, in 0.0, 1e6;
    }
}

/// What the sender does with load feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Follows each ACK's code.
    Following,
    /// Has cut and holds its window until the instant given.
    Frozen(Time),
    /// Adds, whatever the codes say, until the instant given.
    Adding(Time),
}

/// The state of a VCP sender.
#[derive(Clone, Debug)]
pub struct Vcp {
    params: Params,
    window: f64,
    phase: Phase,
    /// ln(1 + xi), for (6).
    ln_growth: f64,
    /// The smoothed RTT for which `mi_step` was computed, and (6)'s result.
    mi_step: (Span, f64),
}

impl Vcp {
    /// Starts with the initial window, in MI.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            window: opening.initial_window,
            phase: Phase::Following,
            ln_growth: libm::log1p(params.xi),
            mi_step: (Span::ZERO, 0.0),
        }
    }

    /// (6): packets that one ACK adds at low load.
    fn mi(&mut self, smoothed_rtt: Span) -> f64 {
        if self.mi_step.0 != smoothed_rtt {
            let exponent = smoothed_rtt.ratio(self.params.t_rho).min(self.params.sigma_mi);
            self.mi_step = (smoothed_rtt, libm::expm1(exponent * self.ln_growth));
        }
        self.mi_step.1
    }

    /// (8): packets that one ACK adds at high load.
    fn ai(&self, smoothed_rtt: Span) -> f64 {
        let ratio = smoothed_rtt.ratio(self.params.t_rho);
        self.params.alpha * (ratio * ratio).min(self.params.sigma_ai) / self.window
    }

    /// The load that the sender acts on: the ACK's, or S.3's prescription after a cut.
    fn load(&mut self, ack: &Ack, said: Load) -> Option<Load> {
        if let Phase::Frozen(until) = self.phase {
            if ack.now < until {
                return None;
            }
            self.phase = Phase::Adding(until + ack.smoothed_rtt);
        }
        if let Phase::Adding(until) = self.phase {
            if ack.now < until {
                return Some(Load::High);
            }
            self.phase = Phase::Following;
        }
        Some(said)
    }
}

impl SenderLaw for Vcp {
    fn on_ack(&mut self, ack: &Ack) {
        let Feedback::Load(said) = ack.feedback else { return };
        if ack.recovering || ack.app_limited {
            return;
        }
        match self.load(ack, said) {
            None => {}
            Some(Load::Low) => self.window += self.mi(ack.smoothed_rtt),
            Some(Load::High) => self.window += self.ai(ack.smoothed_rtt),
            Some(Load::Over) => {
                self.window = (self.params.beta * self.window).max(1.0);
                self.phase = Phase::Frozen(ack.now + self.params.t_rho);
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window = (f64::from(loss.in_flight) / 2.0).max(2.0).min(self.window);
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.window = 1.0;
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("frozen", f64::from(u8::from(matches!(self.phase, Phase::Frozen(_)))));
    }
}

impl SenderSpec for Vcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vcp";
    const TITLE: &'static str = "VCP: MI, AI or MD as two ECN bits of load say";
    const SOURCE: &'static str = "Xia et al., IEEE/ACM ToN 16(6), 2008, III-E.2";
    const CODEC: Codec = Codec::Load2;
    const RECOVERY: Recovery = Recovery::Reno;
    const ROUTER: &'static str = "vcp";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    fn vcp() -> Script<Vcp> {
        Script::new(Vcp::new(
            Params::default(),
            &Opening { initial_window: 16.0, packet_bytes: 1000 },
        ))
    }

    fn load(load: Load) -> Feedback {
        Feedback::Load(load)
    }

    #[test]
    fn at_an_rtt_of_t_rho_mi_grows_by_xi_a_round_and_ai_by_one() {
        let mut flow = vcp();
        flow.feedback(load(Load::Low)).acks(ms(200), 16).expect_window(17.0); // 16 (1 + 1/16)
        flow.feedback(load(Load::High)).acks(ms(200), 1).expect_window(17.0 + 1.0 / 17.0);
    }

    #[test]
    fn scaling_is_bounded_at_long_rtts() {
        let mut flow = vcp();
        flow.feedback(load(Load::Low)).acks(ms(10_000), 1);
        let growth = libm::pow(1.0625, 2.5) - 1.0; // sigma_mi
        assert!((flow.law.window() - 16.0 - growth).abs() < 1e-12);
        let before = flow.law.window();
        flow.feedback(load(Load::High)).acks(ms(10_000), 1);
        assert!((flow.law.window() - before - 10.0 / before).abs() < 1e-12); // sigma_ai
    }

    #[test]
    fn after_a_cut_it_holds_for_t_rho_then_adds_for_one_rtt() {
        let mut flow = vcp();
        flow.feedback(load(Load::Over)).ack_at(1000, ms(80)).expect_window(14.0);
        flow.ack_at(1199, ms(80)).expect_window(14.0);
        flow.feedback(load(Load::Low)).ack_at(1199, ms(80)).expect_window(14.0);
        flow.ack_at(1200, ms(80)).expect_window(14.0 + 0.16 / 14.0); // (80/200)^2 = 0.16
        let before = flow.law.window();
        flow.feedback(load(Load::Over)).ack_at(1279, ms(80)).expect_window(before + 0.16 / before);
        let before = flow.law.window();
        flow.ack_at(1280, ms(80)).expect_window(0.875 * before);
    }

    #[test]
    fn the_window_never_falls_below_one_packet() {
        let mut flow = vcp();
        for cut in 0..40 {
            flow.feedback(load(Load::Over)).ack_at(1000 * (cut + 1), ms(80));
        }
        flow.expect_window(1.0);
    }
}
