//! HighSpeed TCP: Reno whose increase and decrease depend on the window.
//!
//! S. Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649, 2003. w in packets; P_L is Reno's
//! own loss rate at the low window, 1.5 / w_L^2; the response function is a line on log-log axes:
//!   s(w) = (ln w - ln w_L) / (ln w_H - ln w_L)        0 at the low window, 1 at the high one
//!   p(w) = exp(s(w) (ln P_H - ln P_L) + ln P_L)       the loss rate at which w is the average window (5)
//!   b(w) = (b_H - 0.5) s(w) + 0.5                                                              (5)
//!   a(w) = w^2 p(w) 2 b(w) / (2 - b(w))                                                        (5)
//!   each RTT: w += a(w); on loss: w = (1 - b(w)) w; Reno up to w_L
//! Slow start and timeouts are Reno's; an ECN mark counts as a loss.
//! Differs from the RFC: p(w) is exact, where the RFC's tables round it to 0.078 / w^1.2 (up to 5 %
//! lower); b(w) stays above 0.01 (it would reach 0 at half a million packets); the window of a cut is
//! what was in flight, as in RFC 5681. Limited slow start (RFC 3742) is an
//! option of the transport.

use super::tcp::{Avoidance, Tcp};
use crate::sender::{Ack, Loss, Opening, SenderSpec};
use crate::{params, tunes};

params! {
    /// HighSpeed TCP's constants.
    pub struct Params {
        /// Window up to which it is Reno, Low_Window w_L, in packets.
        pub low_window: f64 = 38.0, in 2.0, 1e4;
        /// Window at which `high_p` and `high_decrease` hold, High_Window w_H, in packets.
        pub high_window: f64 = 83_000.0, in 1.1e4, 1e9;
        /// Loss rate at which the average window is `high_window`, High_P.
        pub high_p: f64 = 1e-7, in 1e-12, 1e-3;
        /// Share of the window given up at `high_window`, High_Decrease b_H.
        pub high_decrease: f64 = 0.1, in 0.01, 0.5;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// a(w) of section 5: the packets per round for which w is the average window, at loss rate `p` and decrease `b`.
pub fn increase(w: f64, p: f64, b: f64) -> f64 {
    w * w * p * 2.0 * b / (2.0 - b)
}

/// The response function on logarithmic axes.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    low_window: f64,
    ln_low: f64,
    ln_span: f64,
    ln_p_low: f64,
    ln_p_span: f64,
    high_decrease: f64,
}

impl Response {
    /// The line between Reno's point and the high one.
    pub fn new(params: &Params) -> Self {
        let Params { low_window, high_window, high_p, high_decrease, .. } = *params;
        let ln_low = libm::log(low_window);
        let ln_p_low = libm::log(1.5 / (low_window * low_window));
        let ln_span = libm::log(high_window) - ln_low;
        let ln_p_span = libm::log(high_p) - ln_p_low;
        Self { low_window, ln_low, ln_span, ln_p_low, ln_p_span, high_decrease }
    }

    /// s(w), 0 up to the low window.
    fn position(&self, w: f64) -> f64 {
        if w <= self.low_window { 0.0 } else { (libm::log(w) - self.ln_low) / self.ln_span }
    }

    /// p(w), for windows from the low one on.
    pub fn loss_rate(&self, w: f64) -> f64 {
        libm::exp(self.position(w) * self.ln_p_span + self.ln_p_low)
    }

    /// b(w): the share of the window that a loss costs.
    pub fn decrease(&self, w: f64) -> f64 {
        ((self.high_decrease - 0.5) * self.position(w) + 0.5).max(0.01)
    }

    /// a(w): packets that a round adds.
    pub fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        increase(w, self.loss_rate(w), self.decrease(w))
    }
}

/// HighSpeed TCP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct HsTcp {
    params: Params,
    response: Response,
}

impl HsTcp {
    fn derive(&mut self) {
        self.response = Response::new(&self.params);
    }
}

impl Avoidance for HsTcp {
    tunes! { derive }

    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        let share = self.response.increase(window) / window;
        f64::from(ack.newly_acked) * share.min(1.0)
    }

    fn kept(&mut self, loss: &Loss, _: f64) -> f64 {
        let flight = f64::from(loss.in_flight);
        (1.0 - self.response.decrease(flight)) * flight
    }

    fn observe(&self, window: f64, show: &mut dyn FnMut(&str, f64)) {
        show("increase", self.response.increase(window));
        show("decrease", self.response.decrease(window));
    }
}

impl SenderSpec for HsTcp {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "hstcp";
    const TITLE: &'static str = "HighSpeed TCP: Reno with steps that grow with the window";
    const SOURCE: &'static str = "RFC 3649";
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        let response = Response::new(&params);
        Tcp::new(Self { params, response }, params.initial_ssthresh, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    fn hstcp(window: f64) -> Script<Tcp<HsTcp>> {
        let params = Params { initial_ssthresh: 2.0, ..Params::default() };
        Script::new(<HsTcp as SenderSpec>::new(params, &Opening::new(window, 1000)))
    }

    #[test]
    fn the_response_function_passes_its_two_points() {
        let response = Response::new(&Params::default());
        assert!((response.loss_rate(38.0) - 1.5 / 1444.0).abs() < 1e-15);
        assert!((response.loss_rate(83_000.0) / 1e-7 - 1.0).abs() < 1e-12);
        assert_eq!((response.increase(38.0), response.decrease(38.0)), (1.0, 0.5));
        assert!((response.increase(38.0 + 1e-9) - 1.0).abs() < 1e-9); // Reno's a from p_L: continuous
        assert!((response.decrease(83_000.0) - 0.1).abs() < 1e-12);
        // a(83000) = 83000^2 1e-7 0.2 / 1.9 = 72.5.
        assert!((response.increase(83_000.0) - 72.515_789_473_7).abs() < 1e-6);
        assert_eq!(response.decrease(1e9), 0.01);
    }

    #[test]
    fn up_to_the_low_window_it_is_reno() {
        hstcp(20.0).ack_at(80, ms(80)).expect_window(20.05);
        hstcp(20.0).loss(20).expect_window(10.0);
        hstcp(38.0).loss(38).expect_window(19.0).loss(3).expect_window(2.0);
        hstcp(20.0).timeout().expect_window(1.0);
    }

    #[test]
    fn at_the_high_window_a_loss_costs_a_tenth_and_a_round_brings_72_packets() {
        hstcp(83_000.0).loss(83_000).expect_window(74_700.0);
        let mut flow = hstcp(83_000.0);
        flow.ack_at(80, ms(80));
        assert!(((flow.law.window() - 83_000.0) * 83_000.0 - 72.5158).abs() < 1e-3);
    }
}
