//! DCTCP: cuts the window by the fraction of marked packets.
//!
//! S. Bensley et al., "Data Center TCP (DCTCP): TCP Congestion Control for Data Centers", RFC 8257, 2017,
//! section 3.3; windows in packets. Marks are echoed for each packet (`Codec::AccurateEcn`):
//!   once a window of data:  M = marked / acknowledged;  alpha = (1 - g) alpha + g M
//!   on the first mark of a window:  cwnd = cwnd (1 - alpha / 2), at most once a window
//! Growth is Reno's ([`reno`](super::reno)); a loss halves the window, as in Reno.
//! Differs from the RFC: packets are counted in place of bytes, since they all have the same size.

use super::reno::{self, Reno};
use super::tcp::Tcp;
use crate::codecs::{Codec, Feedback};
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// DCTCP's parameters.
    pub struct Params {
        /// Weight g of the newest window in the estimate of the marked fraction.
        pub gain: f64 = 0.0625, in 0.001, 1.0;
        /// Marked fraction alpha at the start; 1 is cautious.
        pub initial_alpha: f64 = 1.0, in 0.0, 1.0 => fixed;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// The state of a DCTCP sender.
#[derive(Clone, Debug)]
pub struct Dctcp {
    params: Params,
    reno: Tcp<Reno>,
    alpha: f64,
    /// Packets acknowledged in the current window of data; below, marked ones among them.
    acked: f64,
    marked: f64,
    /// Packets of that window that are not acknowledged.
    left: f64,
    /// Has the window been cut in this window of data?
    has_cut: bool,
}

impl Dctcp {
    /// Starts with the initial window.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            reno: Reno::start(
                reno::Params { initial_ssthresh: params.initial_ssthresh, ..Default::default() },
                opening,
            ),
            alpha: params.initial_alpha,
            acked: 0.0,
            marked: 0.0,
            left: opening.initial_window,
            has_cut: false,
        }
    }

    /// Counts marks. At the end of a window of data it updates the estimate.
    fn observe_marks(&mut self, ack: &Ack, congested: bool) {
        let packets = f64::from(ack.newly_acked.max(1));
        self.acked += packets;
        self.marked += if congested { packets } else { 0.0 };
        self.left -= f64::from(ack.newly_acked);
        if self.left <= 0.0 {
            self.alpha += self.params.gain * (self.marked / self.acked - self.alpha);
            (self.acked, self.marked, self.has_cut) = (0.0, 0.0, false);
            self.left = f64::from(ack.in_flight).max(1.0);
        }
    }
}

impl SenderLaw for Dctcp {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        let congested = ack.feedback == (Feedback::Ecn { congested: true });
        self.observe_marks(ack, congested);
        if ack.recovering {
            return;
        }
        if congested && !self.has_cut {
            self.has_cut = true;
            self.reno.scale(1.0 - self.alpha / 2.0);
        } else if !congested {
            self.reno.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.reno.on_timeout(loss);
    }

    fn window(&self) -> f64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> Option<f64> {
        self.reno.ssthresh()
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("alpha", self.alpha);
    }
}

impl SenderSpec for Dctcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "dctcp";
    const TITLE: &'static str = "DCTCP: cuts by the fraction of marked packets";
    const SOURCE: &'static str = "RFC 8257";
    const CODEC: Codec = Codec::AccurateEcn;
    const ROUTER: &'static str = "red";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    fn dctcp(initial_alpha: f64) -> Script<Dctcp> {
        let params = Params { initial_alpha, ..Params::default() };
        Script::new(Dctcp::new(params, &Opening::new(16.0, 1000)))
    }

    #[test]
    fn the_first_mark_of_a_window_cuts_by_half_of_alpha() {
        let mut flow = dctcp(0.25);
        flow.feedback(Feedback::Ecn { congested: true });
        flow.acks(ms(80), 1).expect_window(14.0); // 16 (1 - 0.25 / 2)
        flow.acks(ms(80), 5).expect_window(14.0); // no second cut, no growth on marks
    }

    #[test]
    fn alpha_is_the_average_marked_fraction_of_windows() {
        let mut flow = dctcp(1.0);
        // One window of 16 packets without a mark: alpha = 15/16.
        flow.feedback(Feedback::Ecn { congested: false }).acks(ms(80), 16);
        assert!((flow.law.alpha - 0.9375).abs() < 1e-12);
        // All marked from now on: alpha stays where (1 - g) alpha + g = alpha, at 1.
        flow.feedback(Feedback::Ecn { congested: true }).acks(ms(80), 4000);
        assert!((flow.law.alpha - 1.0).abs() < 1e-3);
    }

    #[test]
    fn slow_start_ends_at_its_threshold() {
        let params = Params { initial_ssthresh: 20.0, ..Params::default() };
        let opening = Opening::new(16.0, 1000);
        let mut flow = Script::new(Dctcp::new(params, &opening));
        flow.feedback(Feedback::Ecn { congested: false });
        flow.acks(ms(80), 4).expect_window(20.0);
        flow.acks(ms(80), 1).expect_window(20.05); // a packet an RTT from here on
    }

    #[test]
    fn a_loss_halves() {
        let mut flow = dctcp(0.0);
        flow.loss(16).expect_window(8.0);
    }
}
