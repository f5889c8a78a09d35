//! XCP's sender: writes its window and RTT into each packet, and changes its window by the routers' answer.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks",
//! SIGCOMM 2002, 3.2. Windows in packets, the header in bytes and seconds:
//!   each packet carries  H_cwnd = cwnd, H_rtt = srtt, 0 before the first sample, and
//!                        H_feedback = (r srtt - cwnd) / packets in the window, r the desired rate
//!   each new ACK         cwnd = max(cwnd + H_feedback, s)
//! Losses are answered as in TCP Reno, with its recovery, as in ns-2.29; there is no slow start.
//! Differs from the paper: feedback is ignored while losses are repaired, and an application-limited
//! sender only takes reductions. From ns-2: feedback is a change of window, not of throughput,
//! and the window in the header is not rounded down to whole packets.

use super::tcp_window::halved;
use crate::codecs::xcp::CongestionHeader;
use crate::codecs::{Codec, Feedback, Header};
use crate::quantities::{BitRate, Span};
use crate::sender::{Ack, Loss, Opening, Recovery, SenderLaw, SenderSpec, Sending};
use crate::{params, tunes};

params! {
    /// The sender's request.
    pub struct Params {
        /// Rate r that the sender wants within one RTT; the default is more than any link gives.
        pub desired_rate: BitRate = BitRate::from_bps(1e15), in 1e3, 1e15;
    }
}

/// The state of an XCP sender.
#[derive(Clone, Debug)]
pub struct Xcp {
    params: Params,
    window: f64,
    packet_bytes: f64,
}

impl Xcp {
    /// Starts with the initial window.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            window: opening.initial_window,
            packet_bytes: f64::from(opening.packet_bytes),
        }
    }
}

impl Xcp {
    /// The window at the desired rate.
    fn wanted_bytes(&self, rtt: Span) -> f64 {
        self.params.desired_rate.bytes_per_second() * rtt.seconds()
    }
}

impl SenderLaw for Xcp {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        let Feedback::Xcp { delta_bytes } = ack.feedback else { return };
        let held = ack.recovering || ack.newly_acked == 0 || (ack.app_limited && delta_bytes > 0.0);
        if !held {
            // Routers only lower the request: feedback cannot raise the window beyond it.
            let most = self.wanted_bytes(ack.smoothed_rtt) / self.packet_bytes;
            let moved = self.window + delta_bytes / self.packet_bytes;
            self.window = moved.min(most.max(self.window)).max(1.0);
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
        let rtt_s = sending.smoothed_rtt.seconds();
        let window_bytes = self.window * self.packet_bytes;
        let wanted_bytes = self.wanted_bytes(sending.smoothed_rtt);
        let delta_bytes =
            if rtt_s > 0.0 { (wanted_bytes - window_bytes) / self.window } else { 0.0 };
        CongestionHeader {
            window_bytes: window_bytes as f32,
            rtt_s: rtt_s as f32,
            delta_bytes: delta_bytes as f32,
        }
        .write()
    }
}

impl SenderSpec for Xcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "xcp";
    const TITLE: &'static str = "XCP: routers write the change of the window into a header";
    const SOURCE: &'static str = "Katabi, Handley, Rohrs, SIGCOMM 2002, 3.2";
    const CODEC: Codec = Codec::Xcp;
    const RECOVERY: Recovery = Recovery::Reno;
    const ROUTER: &'static str = "xcp";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Time;
    use crate::script::{Script, ms};

    fn xcp(desired_rate: BitRate) -> Script<Xcp> {
        let opening = Opening::new(10.0, 1000);
        Script::new(Xcp::new(Params { desired_rate }, &opening))
    }

    fn delta(delta_bytes: f64) -> Feedback {
        Feedback::Xcp { delta_bytes }
    }

    #[test]
    fn the_window_moves_by_the_bytes_that_an_ack_brings() {
        let mut flow = xcp(Params::default().desired_rate);
        flow.feedback(delta(500.0)).acks(ms(80), 10).expect_window(15.0);
        flow.feedback(delta(-2000.0)).acks(ms(80), 3).expect_window(9.0);
        flow.acks(ms(80), 10).expect_window(1.0);
        flow.feedback(Feedback::None).acks(ms(80), 10).expect_window(1.0);
    }

    #[test]
    fn feedback_beyond_what_was_asked_for_opens_the_window_to_the_desired_rate_only() {
        let mut flow = xcp(BitRate::from_mbps(10.0)); // 100 packets in 80 ms
        flow.feedback(delta(f64::from(f32::MAX))).acks(ms(80), 1).expect_window(100.0);
        flow.acks(ms(80), 5).expect_window(100.0);
        flow.feedback(delta(-f64::from(f32::MAX))).acks(ms(80), 1).expect_window(1.0);
    }

    #[test]
    fn losses_halve_and_no_slow_start_follows() {
        let mut flow = xcp(Params::default().desired_rate);
        flow.loss(10).expect_window(5.0).loss(1).expect_window(2.0);
        flow.timeout().expect_window(1.0);
        flow.feedback(delta(250.0)).acks(ms(80), 2).expect_window(1.5);
    }

    #[test]
    fn packets_ask_for_what_brings_the_desired_rate_in_one_rtt() {
        let flow = xcp(BitRate::from_mbps(8.0)); // 1 MB/s: 80 kB in 80 ms
        let sent = |smoothed_rtt| {
            let sending =
                Sending { now: Time::ZERO, smoothed_rtt, packet_bytes: 1000, identifier: 0 };
            CongestionHeader::parse(&flow.law.header(&sending))
        };
        let asked = CongestionHeader { window_bytes: 1e4, rtt_s: 0.08, delta_bytes: 7e3 };
        assert_eq!(sent(ms(80)), asked); // 10 packets asking for 7 kB each fill the missing 70 kB
        assert_eq!(sent(ms(5)).delta_bytes, -500.0);
        assert_eq!(sent(Span::ZERO), CongestionHeader { rtt_s: 0.0, delta_bytes: 0.0, ..asked });
    }
}
