//! An end-to-end VCP, an experiment of knee's own: VCP's sender, which guesses the load from losses and delays.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions on
//! Networking 16(6), 2008, VIII, proposes for future work that loss tell overload from high load, and the
//! variation of the RTT high load from low. It gives no algorithm; this one is:
//!   loss       overload: (4), then VCP's hold and AI (S.3)
//!   every t_rho, d = least RTT of the interval - least RTT of all
//!     d > queue_delay   high load: (8) until the next
//!     else              low load: (6) until the next
//! A burst is over before the interval ends, but a standing queue is not. So the interval's least RTT tells the
//! link's load. CoDel uses the minimum in the same way; its 5 ms (RFC 8289, 4.2) are the default of `queue_delay`.

use crate::codecs::{Codec, Feedback, Load};
use crate::quantities::{Span, Time};
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::senders::vcp::{self, Vcp};
use crate::{params, tunes};

params! {
    /// VCP's parameters, and the threshold between low and high load.
    pub struct Params {
        /// Standing queueing delay above which load is high.
        pub queue_delay: Span = Span::from_millis(5), in 0.0, 10.0;
        /// Interval t_rho over which the least RTT is taken.
        pub t_rho: Span = Span::from_millis(200), in 0.001, 100.0;
        /// MI parameter xi: growth each t_rho at low load, dimensionless.
        pub xi: f64 = 0.0625, in 0.0, 10.0;
        /// AI parameter alpha: packets each t_rho at high load.
        pub alpha: f64 = 1.0, in 0.0, 1000.0;
        /// MD parameter beta: what a loss leaves of the window.
        pub beta: f64 = 0.875, in 0.01, 0.999;
    }
}

/// The state of an end-to-end VCP.
#[derive(Clone, Debug)]
pub struct VcpE2e {
    params: Params,
    vcp: Vcp,
    load: Load,
    /// The least RTT of the current interval.
    least: Span,
    ends: Time,
}

impl Params {
    /// The parameters of VCP.
    fn vcp(&self) -> vcp::Params {
        let Self { t_rho, xi, alpha, beta, .. } = *self;
        vcp::Params { t_rho, xi, alpha, beta, new_acks_only: true, ..vcp::Params::default() }
    }
}

impl VcpE2e {
    fn derive(&mut self) {
        self.vcp.set(self.params.vcp());
    }

    /// The load that the last whole interval tells.
    fn guess(&mut self, ack: &Ack) -> Load {
        if ack.now >= self.ends {
            if self.least != Span::MAX {
                let high = self.least > ack.min_rtt + self.params.queue_delay;
                self.load = if high { Load::High } else { Load::Low };
            }
            self.least = Span::MAX;
            self.ends = ack.now + self.params.t_rho;
        }
        self.least = self.least.min(ack.rtt);
        self.load
    }
}

impl SenderLaw for VcpE2e {
    tunes! { derive }

    fn on_ack(&mut self, ack: &Ack) {
        let feedback = Feedback::Load(self.guess(ack));
        self.vcp.on_ack(&Ack { feedback, ..*ack });
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.vcp.cut(loss.now);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.vcp.on_timeout(loss);
    }
    fn window(&self) -> f64 {
        self.vcp.window()
    }
    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("high_load", f64::from(u8::from(self.load == Load::High)));
        self.vcp.observe(show);
    }
}

impl SenderSpec for VcpE2e {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vcp-e2e";
    const TITLE: &'static str =
        "end-to-end VCP, knee's experiment: loss is overload, delay high load";
    const SOURCE: &'static str = "idea: Xia et al., IEEE/ACM ToN 16(6), 2008, VIII";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, opening: &Opening) -> Self {
        let (vcp, load) = (Vcp::new(params.vcp(), opening), Load::Low);
        Self { params, vcp, load, least: Span::MAX, ends: Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::Congestion;

    fn flow() -> VcpE2e {
        let opening = Opening::new(16.0, 1000);
        <VcpE2e as SenderSpec>::new(Params::default(), &opening)
    }

    /// An ACK at `at` ms with this RTT; the least of all is 80 ms. Returns the window's growth.
    fn grows(flow: &mut VcpE2e, at: u64, rtt: u64) -> f64 {
        let before = flow.window();
        let [rtt, smoothed_rtt, min_rtt] = [rtt, 200, 80].map(Span::from_millis);
        let ack = Ack::new(Time::ZERO + Span::from_millis(at), 1, 16, rtt);
        flow.on_ack(&Ack { smoothed_rtt, min_rtt, ..ack });
        flow.window() - before
    }

    #[test]
    fn a_standing_queue_is_high_load_and_a_burst_is_not() {
        let (mi, mut flow) = (0.0625, flow()); // (6) at an RTT of t_rho
        for (at, rtt) in [(0, 80), (100, 120), (200, 120), (300, 85)] {
            assert!((grows(&mut flow, at, rtt) - mi).abs() < 1e-12, "{at} ms");
        }
        assert!((grows(&mut flow, 400, 86) - mi).abs() < 1e-12); // the least was 85: not above
        let window = flow.window();
        assert!((grows(&mut flow, 600, 90) - 1.0 / window).abs() < 1e-12); // 86: high load
        assert!((grows(&mut flow, 700, 81) - 1.0 / flow.window()).abs() < 1e-3);
        assert!((grows(&mut flow, 800, 95) - mi).abs() < 1e-12);
    }

    #[test]
    fn a_loss_cuts_holds_and_adds() {
        let mut flow = flow();
        let now = Time::ZERO + Span::from_millis(1000);
        flow.on_loss(&Loss { now, in_flight: 16, by: Congestion::Loss });
        assert_eq!(flow.window(), 14.0);
        assert_eq!(grows(&mut flow, 1199, 80), 0.0);
        assert!((grows(&mut flow, 1200, 80) - 1.0 / 14.0).abs() < 1e-12);
        assert!((grows(&mut flow, 1400, 80) - 0.0625).abs() < 1e-12);
        flow.on_timeout(&Loss { now, in_flight: 16, by: Congestion::Timeout });
        assert_eq!(flow.window(), 1.0);
    }
}
