//! TCP Prague: cuts by the fraction of marked packets; growth does not depend on the RTT.
//!
//! K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control",
//! draft-briscoe-iccrg-prague-congestion-control-04, 2024, section 2.4. Windows in packets:
//!   once a virtual RTT:  alpha += g (M - alpha),  M the fraction of packets marked in it
//!   on a mark:           cwnd -= alpha cwnd / 2, at most once a virtual RTT
//!   on an unmarked ACK:  cwnd += (srtt / virtual RTT)^2 / cwnd, also after a cut; slow start as in Reno
//! The virtual RTT is the smoothed one, but at least 25 ms from 500 rounds after slow start on. Alpha stays
//! at 1 until the first mark, which therefore halves the window. A loss halves. Packets are paced at
//! cwnd / srtt, twice as fast while cwnd is below half of ssthresh.
//! Differs from the draft: marks are answered at once, not in the next round; a loss in the RTT of a cut halves the
//! reduced window; there is no fallback on paths with classic ECN marking, which the draft leaves open.

use super::tcp_window::TcpWindow;
use crate::codecs::{Codec, Feedback};
use crate::quantities::{BitRate, Span, Time};
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// Prague's constants.
    pub struct Params {
        /// Weight g of the newest round in the estimate of the marked fraction.
        pub gain: f64 = 0.0625, in 0.001, 1.0;
        /// The least virtual RTT: flows with shorter RTTs grow and respond as if they had this one.
        pub least_virtual_rtt: Span = Span::from_millis(25), in 0.0, 1.0;
        /// Rounds after slow start from which the virtual RTT has that least value.
        pub independent_after: u64 = 500, in 0.0, 1e6;
    }
}

const MIN_WINDOW: f64 = 2.0;

/// The state of a Prague sender.
#[derive(Clone, Debug)]
pub struct Prague {
    params: Params,
    packet_bits: f64,
    window: TcpWindow,
    srtt: Span,
    alpha: f64,
    has_seen_mark: bool,
    /// Packets acknowledged since the last update of the estimate; below, marked ones among them.
    acked: f64,
    marked: f64,
    updated: Time,
    /// Packets of the current round that are not acknowledged; below, rounds since slow start.
    left: f64,
    rounds: u64,
    /// No second cut before this.
    cut_until: Time,
}

impl Prague {
    /// Starts with the initial window, in slow start.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            packet_bits: 8.0 * f64::from(opening.packet_bytes),
            window: TcpWindow::new(f64::INFINITY, opening),
            srtt: Span::ZERO,
            alpha: 1.0,
            has_seen_mark: false,
            acked: 0.0,
            marked: 0.0,
            updated: Time::ZERO,
            left: opening.initial_window,
            rounds: 0,
            cut_until: Time::ZERO,
        }
    }

    fn virtual_rtt(&self) -> Span {
        if self.rounds < self.params.independent_after {
            self.srtt
        } else {
            self.srtt.max(self.params.least_virtual_rtt)
        }
    }

    /// Counts marks, and ends rounds and virtual RTTs.
    fn observe_marks(&mut self, ack: &Ack, congested: bool) {
        let packets = f64::from(ack.newly_acked.max(1));
        self.acked += packets;
        self.marked += if congested { packets } else { 0.0 };
        self.has_seen_mark |= congested;
        self.left -= f64::from(ack.newly_acked);
        if self.left > 0.0 {
            return;
        }
        self.left = f64::from(ack.in_flight).max(1.0);
        self.rounds += u64::from(!self.window.is_starting());
        if self.rounds < self.params.independent_after
            || ack.now.since(self.updated) >= self.virtual_rtt()
        {
            if self.has_seen_mark {
                self.alpha += self.params.gain * (self.marked / self.acked - self.alpha);
            }
            (self.acked, self.marked, self.updated) = (0.0, 0.0, ack.now);
        }
    }

    fn reduce(&mut self, share: f64) {
        let window = self.window.packets();
        self.window.set((window * (1.0 - share)).max(MIN_WINDOW.min(window)));
        self.window.end(self.window.packets());
    }
}

impl SenderLaw for Prague {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        let congested = ack.feedback == (Feedback::Ecn { congested: true });
        self.srtt = ack.smoothed_rtt;
        self.observe_marks(ack, congested);
        if ack.recovering {
            return;
        }
        if congested {
            if ack.now >= self.cut_until {
                self.reduce(self.alpha / 2.0);
                self.cut_until = ack.now + self.virtual_rtt();
            }
        } else if !ack.app_limited {
            let acked = f64::from(ack.newly_acked);
            if self.window.is_starting() {
                self.window.start(ack);
            } else if self.srtt > Span::ZERO {
                let ratio = self.srtt.ratio(self.virtual_rtt());
                self.window.add(ratio * ratio * acked / self.window.packets());
            }
        }
    }

    fn on_loss(&mut self, _: &Loss) {
        self.reduce(0.5);
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.reduce(0.5);
        self.window.set(1.0);
    }

    fn window(&self) -> f64 {
        self.window.packets()
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        if self.srtt == Span::ZERO {
            return None;
        }
        let window = self.window.packets();
        let gain = if window < self.window.threshold() / 2.0 { 2.0 } else { 1.0 };
        Some(BitRate::from_bps(gain * window * self.packet_bits / self.srtt.seconds()))
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.threshold())
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("alpha", self.alpha);
        show("virtual_rtt", self.virtual_rtt().seconds());
    }
}

impl SenderSpec for Prague {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "prague";
    const TITLE: &'static str = "TCP Prague: cuts by the fraction of marks, grows whatever the RTT";
    const SOURCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-04";
    const CODEC: Codec = Codec::L4s;
    const ROUTER: &'static str = "dualpi2";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    const MARK: Feedback = Feedback::Ecn { congested: true };
    const NO_MARK: Feedback = Feedback::Ecn { congested: false };

    fn prague(window: f64, independent_after: u64) -> Script<Prague> {
        let params = Params { independent_after, ..Params::default() };
        let opening = Opening::new(window, 1000);
        Script::new(Prague::new(params, &opening))
    }

    #[test]
    fn the_first_mark_halves_and_ends_slow_start() {
        let mut flow = prague(10.0, 500);
        flow.feedback(NO_MARK).acks(ms(80), 10).expect_window(20.0);
        flow.feedback(MARK).acks(ms(80), 3).expect_window(10.0); // once an RTT
        flow.feedback(NO_MARK).acks(ms(80), 1).expect_window(10.1);
    }

    /// Unmarked packets grow the window in the RTT of a cut too.
    #[test]
    fn marks_cut_by_half_of_alpha_and_the_others_add() {
        let mut flow = prague(100.0, 500);
        flow.law.alpha = 0.1;
        flow.law.window.end(100.0);
        flow.feedback(MARK).acks(ms(80), 1).expect_window(95.0);
        flow.feedback(NO_MARK).ack_at(81, ms(80)).expect_window(95.0 + 1.0 / 95.0);
    }

    #[test]
    fn alpha_is_the_average_marked_fraction_of_rounds() {
        let mut flow = prague(16.0, 500);
        flow.law.window.end(16.0);
        flow.feedback(NO_MARK).acks(ms(80), 16);
        assert_eq!(flow.law.alpha, 1.0); // no mark yet
        flow.law.has_seen_mark = true;
        let left = flow.law.left as u32;
        flow.acks(ms(80), left);
        assert!((flow.law.alpha - 15.0 / 16.0).abs() < 1e-12);
    }

    /// At 5 ms a fifth of the rate of growth in packets / s^2 would be 25 times as much: scaled by 1/25.
    #[test]
    fn short_rtts_grow_and_answer_as_25_ms_do() {
        let mut flow = prague(50.0, 0);
        flow.law.window.end(50.0);
        flow.feedback(NO_MARK).acks(ms(5), 1).expect_window(50.0 + 0.04 / 50.0);
        flow.law.alpha = 0.2;
        flow.feedback(MARK).acks(ms(5), 1);
        let cut = flow.law.window();
        flow.acks(ms(5), 1).acks(ms(5), 1).acks(ms(5), 1).acks(ms(5), 1).expect_window(cut);
        flow.acks(ms(5), 1);
        assert!(flow.law.window() < cut);
    }

    #[test]
    fn a_loss_halves_and_packets_are_paced() {
        let mut flow = prague(40.0, 500);
        flow.feedback(NO_MARK).ack_at(100, ms(100));
        let mbps = flow.law.pacing_rate().map(|rate| rate.bps() / 1e6);
        assert_eq!(mbps, Some(2.0 * 41.0 * 8e-3 / 0.1)); // slow start: twice
        flow.loss(41).expect_window(20.5).timeout().expect_window(1.0);
    }
}
