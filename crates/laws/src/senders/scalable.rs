//! Scalable TCP: a fixed share of the window is added and taken, so recovery time is the same at any rate.
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2),
//! 2003. Windows in packets:
//!   each acknowledged packet:   cwnd += a                a = 0.01
//!   once a round with a loss:   cwnd -= b cwnd           b = 0.125
//!   Reno's rules instead (1 / cwnd, halving) while cwnd <= lwnd, the legacy window of 16
//! Slow start and timeouts are Reno's; an ECN mark counts as a loss.
//! Differs from the paper: the window of a cut is what was in flight, as in RFC 5681; it is not
//! rounded to whole packets; a loss at cwnd = lwnd is Reno's, which the paper leaves open.

use super::tcp::{Avoidance, Tcp};
use crate::sender::{Ack, Loss, Opening, SenderSpec};
use crate::{params, tunes};

params! {
    /// Scalable TCP's constants.
    pub struct Params {
        /// Packets added for each acknowledged packet, a.
        pub increase: f64 = 0.01, in 1e-6, 1.0;
        /// Share of the packets in flight that a loss takes, b.
        pub decrease: f64 = 0.125, in 0.001, 0.99;
        /// Window up to which it is Reno, the legacy window lwnd, in packets.
        pub legacy_window: f64 = 16.0, in 1.0, 1e6;
        /// Slow-start threshold at the start, in packets.
        pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
    }
}

/// Scalable TCP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct Scalable {
    params: Params,
}

impl Avoidance for Scalable {
    tunes! {}

    fn growth(&mut self, ack: &Ack, window: f64) -> f64 {
        let acked = f64::from(ack.newly_acked);
        if window <= self.params.legacy_window {
            acked / window
        } else {
            acked * self.params.increase
        }
    }

    fn kept(&mut self, loss: &Loss, _: f64) -> f64 {
        let flight = f64::from(loss.in_flight);
        let legacy = flight <= self.params.legacy_window;
        let lost = if legacy { 0.5 } else { self.params.decrease };
        (1.0 - lost) * flight
    }
}

impl SenderSpec for Scalable {
    type Law = Tcp<Self>;
    type Params = Params;
    const NAME: &'static str = "scalable";
    const TITLE: &'static str = "Scalable TCP: adds 0.01 packets an ACK, a loss takes an eighth";
    const SOURCE: &'static str = "Kelly, ACM CCR 33(2), 2003";
    fn new(params: Params, opening: &Opening) -> Tcp<Self> {
        Tcp::new(Self { params }, params.initial_ssthresh, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    fn scalable(window: f64) -> Script<Tcp<Scalable>> {
        let params = Params { initial_ssthresh: 2.0, ..Params::default() };
        Script::new(<Scalable as SenderSpec>::new(params, &Opening::new(window, 1000)))
    }

    #[test]
    fn a_hundred_acks_bring_one_packet_at_any_window() {
        scalable(20.0).acks(ms(80), 100).expect_window(21.0);
        scalable(5000.0).acks(ms(80), 100).expect_window(5001.0);
    }

    #[test]
    fn a_loss_costs_an_eighth() {
        scalable(800.0).loss(800).expect_window(700.0);
    }

    #[test]
    fn up_to_the_legacy_window_it_is_reno() {
        scalable(16.0)
            .ack_at(80, ms(80))
            .expect_window(16.0625)
            .ack_at(80, ms(80))
            .expect_window(16.0725);
        scalable(16.0).loss(16).expect_window(8.0);
        scalable(17.0).loss(17).expect_window(14.875);
        scalable(3.0).loss(3).expect_window(2.0).timeout().expect_window(1.0);
    }

    /// ln(8/7) / ln(1.01) = 13.4 rounds back from a loss, whatever the window.
    #[test]
    fn recovery_takes_as_many_rounds_at_any_rate() {
        for window in [1000.0, 100_000.0] {
            let mut flow = scalable(window);
            flow.loss(window as u32);
            let mut rounds = 0;
            while flow.law.window() < window {
                rounds += 1;
                let acks = flow.law.window() as u32;
                flow.acks(ms(10), acks);
            }
            assert_eq!(rounds, 14, "from {window}");
        }
    }
}
