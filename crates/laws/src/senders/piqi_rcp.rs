//! PIQI-RCP's sender: approaches the path's rate in steps, and follows its changes.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control", IV-C.
//! It is [RCP's sender](super::rcp) with the gains of its (19), tau_1 and tau_2; a new flow starts from 0.
//! Stable for 0 < tau_1 < 1 and 0 < tau_1 + 2 tau_2 < 2 (Theorem 2). If (19) gives a rate below 0,
//! since the path's rate falls fast, x is 0.

use super::rcp::{self, Answers, Gains, RateSender};
use crate::codecs::Codec;
use crate::params;
use crate::sender::{Opening, SenderSpec};

params! {
    /// (19)'s gains, as in V, and the parameters of RCP's sender.
    pub struct Params {
        /// tau_1: share of the difference to the path's rate that one feedback removes.
        pub tau1: f64 = 0.005, in 0.00001, 2.0;
        /// tau_2: share of a change of the path's rate that is followed at once.
        pub tau2: f64 = 0.5, in 0.0, 2.0;
        with request: rcp::Params;
    }
}

impl Answers for Params {
    fn request(&self) -> &rcp::Params {
        &self.request
    }
    fn gains(&self) -> Gains {
        Gains { tau1: self.tau1, tau2: self.tau2 }
    }
}

/// PIQI-RCP's sender.
pub struct PiqiRcp;

impl SenderSpec for PiqiRcp {
    type Law = RateSender<Params>;
    type Params = Params;
    const NAME: &'static str = "piqi-rcp";
    const TITLE: &'static str = "PIQI-RCP: approaches the least rate of the path's links in steps";
    const SOURCE: &'static str = "Jain and Loguinov, PIQI-RCP, (19)";
    const CODEC: Codec = Codec::Rate;
    const HANDSHAKE: bool = true;
    const ROUTER: &'static str = "piqi-rcp";
    fn new(params: Params, opening: &Opening) -> RateSender<Params> {
        RateSender::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::Feedback;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    /// x in kB/s after each feedback in kB/s, one an interval of 10 ms, at an RTT of 100 s.
    fn rates(path: &[f64]) -> Vec<f64> {
        let opening = Opening::new(10.0, 1000);
        let mut flow = Script::new(PiqiRcp::new(Params::default(), &opening));
        let answer = |(at, rate): (usize, &f64)| {
            let interval = at as u32 + 1;
            flow.feedback(Feedback::Rate { rate: 1e3 * rate, interval });
            // The second is not answered: it has the same interval.
            flow.ack_at(10 * at as u64, ms(100_000)).ack_at(10 * at as u64 + 5, ms(100_000));
            flow.law.pacing_rate().map_or(0.0, |rate| rate.bps() / 8e3)
        };
        path.iter().enumerate().map(answer).collect()
    }

    #[track_caller]
    fn expect(path: &[f64], expected: &[f64]) {
        for (rate, expected) in rates(path).iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-9, "{rate}, not {expected}");
        }
    }

    #[test]
    fn a_new_flow_goes_a_two_hundredth_of_the_way_each_interval() {
        expect(&[1000.0, 1000.0, 1000.0], &[5.0, 9.975, 14.925_125]);
        let after = 200; // intervals, one time constant
        let reached = rates(&vec![1000.0; after])[after - 1];
        assert!((reached - 1000.0 * (1.0 - libm::pow(0.995, 200.0))).abs() < 1e-6);
    }

    #[test]
    fn half_of_a_change_is_followed_at_once() {
        // 5, then 5 + 0.005 (1200 - 5) + 0.5 x 200
        expect(&[1000.0, 1200.0], &[5.0, 110.975]);
        // After a fall by more than twice x, a packet an RTT is left.
        expect(&[1000.0, 100.0], &[5.0, 0.01]);
    }
}
