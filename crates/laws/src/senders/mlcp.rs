//! MLCP's sender: MI, AI, II or MD, by a four-bit code of load, scaled with the routers' interval.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 3.4.1. For each acknowledged packet, windows in packets,
//! sigma the upper end of the level, r = srtt / t_p, t_p as the ACK says:
//!   MI  below 80 %:  cwnd += (1 + kappa (1 - sigma) / sigma)^r - 1       (3.8), (3.12)
//!   AI  to 95 %:     cwnd += alpha r^2 / cwnd                            (3.9), (3.13), (3.15)
//!   II  to 100 %:    cwnd += alpha r^2 / (cwnd sqrt(cwnd))               (3.10), (3.13), (3.15)
//!   MD  from 100 %:  cwnd = max(1, beta cwnd), once each t_p             (3.11)
//! beta falls in equal steps from beta_max to beta_min, one a level of MD. Levels are parameters: the
//! n-bit schemes of 3.2.1 and schemes A to D of 3.2.2.2 are this sender with others (docs/laws/mlcp.md).
//! Losses are answered as in TCP; there is no slow start.
//! Differs from the dissertation: r is bounded as in VCP (`sigma_mi`, `sigma_ai`). Without a bound, an RTT that has
//! grown far beyond t_p causes bursts of thousands of packets; up to r = 2.5 the dissertation reports hardly any queue.

use super::tcp_window::halved;
use crate::codecs::mlcp::{Levels, Region, write};
use crate::codecs::{Codec, Feedback, Header};
use crate::quantities::Time;
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec, Sending};
use crate::{params, tunes};

params! {
    /// The constants of 3.2 and 3.4.1.
    pub struct Params {
        /// Gain kappa of MI.
        pub kappa: f64 = 0.35, in 0.0, 10.0;
        /// Packets alpha added each t_p by AI.
        pub alpha: f64 = 1.0, in 0.0, 1000.0;
        /// What the mildest cut leaves of the window, beta_max.
        pub beta_max: f64 = 0.875, in 0.01, 0.999;
        /// What the hardest cut leaves, beta_min; not used with a single level of MD.
        pub beta_min: f64 = 0.675, in 0.01, 0.999;
        /// Levels of MI: 5, or 2^n - 3 for an n-bit scheme.
        pub mi_levels: u64 = 5, in 1, 32765;
        /// Levels of MD: 8 in scheme D, 2 in C, 1 in A (with beta_max 0.675) and B.
        pub md_levels: u64 = 8, in 1, 8;
        /// Is there a level of II, from 95 % on?
        pub ii: bool = true;
        /// Bounds r in MI, as VCP's sigma_mi; not in the dissertation.
        pub sigma_mi: f64 = 2.5, in 0.1, 20.0;
        /// Bounds r^2 in AI and II, as VCP's sigma_ai; not in the dissertation.
        pub sigma_ai: f64 = 10.0, in 0.1, 1e4;
    }
}

/// (3.8): growth of the window in one t_p at this load factor, as a share of the window.
pub fn xi(load: f64, kappa: f64) -> f64 {
    kappa * (1.0 - load) / load
}

/// The most packets for which an ACK counts (RFC 3465's L). A duplicate counts for none.
pub const MOST_ACKED: u32 = 2;

/// The state of an MLCP sender.
#[derive(Clone, Debug)]
pub struct Mlcp {
    params: Params,
    levels: Levels,
    window: f64,
    /// The earliest instant of the next cut.
    settled_at: Time,
    /// The bound of sigma for which `ln_growth` was computed, ln(1 + xi).
    bound: f64,
    ln_growth: f64,
}

impl Mlcp {
    /// Starts with the initial window, without slow start.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            levels: levels(&params),
            window: opening.initial_window,
            settled_at: Time::ZERO,
            bound: f64::NAN,
            ln_growth: 0.0,
        }
    }

    /// Updates what follows from the parameters.
    fn derive(&mut self) {
        self.levels = levels(&self.params);
        self.bound = f64::NAN;
    }

    /// (3.8) and (3.12): packets that one ACK adds.
    fn mi(&mut self, sigma: f64, ratio: f64) -> f64 {
        if self.bound != sigma {
            self.bound = sigma;
            self.ln_growth = libm::log1p(xi(sigma, self.params.kappa));
        }
        libm::expm1(ratio * self.ln_growth)
    }
}

/// The scheme that the parameters choose.
fn levels(params: &Params) -> Levels {
    Levels { mi: params.mi_levels as u16, md: params.md_levels as u8, ii: params.ii }
}

impl SenderLaw for Mlcp {
    tunes! { derive }

    fn on_ack(&mut self, ack: &Ack) {
        let Feedback::Mlcp { code, interval } = ack.feedback else { return };
        if ack.recovering {
            return;
        }
        let params = self.params;
        let ratio = ack.smoothed_rtt.ratio(interval);
        // An application-limited flow does not grow, but it answers overload.
        let grows = if ack.app_limited { 0 } else { ack.newly_acked.min(MOST_ACKED) };
        let acked = f64::from(grows);
        let step = acked * params.alpha * (ratio * ratio).min(params.sigma_ai) / self.window;
        match self.levels.decode(code) {
            None => {}
            Some(Region::Low(sigma)) => {
                self.window += acked * self.mi(sigma, ratio.min(params.sigma_mi));
            }
            Some(Region::High) => self.window += step,
            Some(Region::Close) => self.window += step / libm::sqrt(self.window),
            Some(Region::Over(_)) if ack.now < self.settled_at => {}
            Some(Region::Over(place)) => {
                let beta = params.beta_max - place * (params.beta_max - params.beta_min);
                self.window = (beta * self.window).min(self.window).max(1.0);
                self.settled_at = ack.now + interval;
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window = halved(self.window, loss);
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.window = 1.0;
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn header(&self, sending: &Sending) -> Header {
        write(sending.smoothed_rtt.seconds(), self.levels)
    }
}

impl SenderSpec for Mlcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "mlcp";
    const TITLE: &'static str = "MLCP: MI, AI, II or MD, by four bits of load";
    const SOURCE: &'static str = "Qazi, PhD dissertation, 2010, chapter 3";
    const CODEC: Codec = Codec::Mlcp;
    const ROUTER: &'static str = "mlcp";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Span;
    use crate::script::{Script, ms};

    fn mlcp(params: Params) -> Script<Mlcp> {
        Script::new(Mlcp::new(params, &Opening::new(16.0, 1000)))
    }

    fn load(sigma: f64) -> Feedback {
        let code = Levels { mi: 5, md: 8, ii: true }.encode(sigma);
        Feedback::Mlcp { code, interval: ms(200) }
    }

    #[test]
    fn at_an_rtt_of_t_p_a_round_multiplies_or_adds_as_the_level_says() {
        // xi at 80 % is 0.35 / 4.
        mlcp(Params::default()).feedback(load(0.79)).acks(ms(200), 16).expect_window(17.4);
        // At 16 %, 0.35 * 84 / 16.
        mlcp(Params::default()).feedback(load(0.0)).acks(ms(200), 16).expect_window(45.4);
        mlcp(Params::default()).feedback(load(0.9)).acks(ms(200), 1).expect_window(16.0625);
        mlcp(Params::default()).feedback(load(0.97)).acks(ms(200), 1).expect_window(16.015_625);
    }

    #[test]
    fn short_rtts_grow_as_fast_in_time() {
        let mut flow = mlcp(Params::default());
        flow.feedback(load(0.79)).acks(ms(50), 1);
        let growth = flow.law.window() - 16.0;
        assert!((libm::pow(1.0 + growth, 4.0) - 1.0875).abs() < 1e-12); // (3.12)
        mlcp(Params::default())
            .feedback(load(0.9))
            .acks(ms(50), 1)
            .expect_window(16.0 + 1.0 / 256.0);
    }

    #[test]
    fn cuts_are_those_of_figure_7_and_come_once() {
        let cut = |params, sigma| {
            let mut flow = mlcp(params);
            flow.feedback(load(sigma)).acks(ms(200), 1);
            flow.law.window() / 16.0
        };
        let d = Params::default();
        assert_eq!((cut(d, 1.0), cut(d, 3.0)), (0.875, 0.675));
        assert!((cut(d, 1.03) - (0.875 - 0.2 / 7.0)).abs() < 1e-12);
        let mut flow = mlcp(d);
        flow.feedback(load(1.0)).ack_at(1000, ms(80)).ack_at(1199, ms(80)).expect_window(14.0);
        flow.ack_at(1200, ms(80)).expect_window(12.25);
    }

    #[test]
    fn without_feedback_or_in_recovery_it_holds() {
        let mut flow = mlcp(Params::default());
        flow.acks(ms(80), 5).expect_window(16.0);
        flow.feedback(Feedback::Mlcp { code: 0, interval: Span::from_millis(80) });
        flow.acks(ms(80), 5).expect_window(16.0).loss(16).expect_window(8.0);
        flow.timeout().expect_window(1.0);
    }
}
