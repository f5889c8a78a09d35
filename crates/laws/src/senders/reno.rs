//! TCP Reno's congestion control: slow start, additive increase, halving.
//!
//! M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC 5681, 2009. Windows in packets.
//!   (2) slow start:  cwnd += newly acked          while cwnd < ssthresh
//!   (3) avoidance:   cwnd += newly acked / cwnd   otherwise (one packet an RTT)
//!   (4) on loss:     ssthresh = max(FlightSize / 2, 2); cwnd = ssthresh; after a timeout cwnd = 1
//! An ECN mark counts as a loss (RFC 3168, 6.1.2). The transport does the recovery.

use super::tcp::{Avoidance, Tcp};
use crate::sender::{Ack, Loss, Opening, Recovery, SenderSpec};
use crate::{params, tunes};

params! {
    /// Reno's parameters; NewReno and SACK TCP have the same.
    pub struct Params {
        /// Packets added to the window each RTT in congestion avoidance (alpha).
        pub increase: f64 = 1.0, in 0.001, 100.0;
        /// Share of the packets in flight that a loss leaves (beta).
        pub decrease: f64 = 0.5, in 0.01, 0.99;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// Reno's congestion avoidance.
#[derive(Clone, Debug)]
pub struct Reno {
    params: Params,
}

impl Reno {
    /// A Reno sender that starts with the initial window.
    pub fn start(params: Params, opening: &Opening) -> Tcp<Self> {
        Tcp::new(Self { params }, params.initial_ssthresh, opening)
    }
}

impl Avoidance for Reno {
    tunes! {}

    /// (3).
    #[inline]
    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        self.params.increase * f64::from(ack.newly_acked) / window
    }

    /// (4), with the packets in flight as FlightSize.
    fn kept(&mut self, loss: &Loss, _: f64) -> f64 {
        f64::from(loss.in_flight) * self.params.decrease
    }
}

impl SenderSpec for Reno {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "reno";
    const TITLE: &'static str = "TCP Reno: additive increase, halving, fast recovery";
    const SOURCE: &'static str = "RFC 5681";
    const RECOVERY: Recovery = Recovery::Reno;
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        Self::start(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    fn reno(ssthresh: f64) -> Script<Tcp<Reno>> {
        let params = Params { initial_ssthresh: ssthresh, ..Params::default() };
        Script::new(Reno::start(params, &Opening::new(2.0, 1000)))
    }

    #[test]
    fn slow_start_doubles_then_avoidance_adds_one_a_round() {
        let mut flow = reno(8.0);
        flow.acks(ms(80), 2).expect_window(4.0);
        flow.acks(ms(80), 4).expect_window(8.0);
        // One round of eight ACKs: 8 + 8 * (1/8), a little less as the window grows.
        flow.acks(ms(80), 8);
        assert!((8.9..9.0).contains(&flow.law.window()));
    }

    #[test]
    fn a_loss_halves_what_is_in_flight() {
        let mut flow = reno(1e9);
        flow.acks(ms(80), 30).expect_window(32.0);
        flow.loss(30).expect_window(15.0);
        flow.loss(3).expect_window(2.0);
    }

    #[test]
    fn a_timeout_restarts_from_one_packet() {
        let mut flow = reno(1e9);
        flow.acks(ms(80), 30).timeout().expect_window(1.0);
        // 32 were in flight: slow start ends at 16.
        flow.acks(ms(80), 15).expect_window(16.0);
        flow.acks(ms(80), 1).expect_window(16.0 + 1.0 / 16.0);
    }
}
