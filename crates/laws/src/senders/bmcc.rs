//! BMCC's sender: MI, AI or MD, by an estimate of the load factor from two ECN bits.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 4.1.3 and 5.4. For each acknowledged packet, windows in
//! packets, f the latest estimate, eta_0 at first, r = srtt / t_p:
//!   f < eta, or f < 1 until it first reaches 1:  cwnd += (1 + kappa_2 (1 - f) / f)^r - 1     (4.2), (4.3)
//!   f < 1:  cwnd += alpha r^2 / cwnd                                                         (4.4)
//!   else:   cwnd = max(1, beta(f) cwnd), beta from beta_max at 1 to beta_min at u, each t_p  (4.5), (4.6)
//! Losses are answered as in TCP; there is no slow start.
//!   `marked_cuts` (5.4.2): only (11) with f >= 1 causes a cut; at overload without (11), (4.4) applies.
//!   `fallback` (5.4.3): a loss or (11) with f < 1 turns it into a SACK TCP, until f >= 1.
//! Experiments, off by default: `ai_boost` (7.2.1), `map_*` (7.2.2), `capacity_gain` (7.2.3).
//! Differs from the dissertation: r is bounded as in VCP (`sigma_mi`, `sigma_ai`). The next cut comes an RTT
//! later (`settle_rtts`), as in VCP: a load measured before the cut took effect would otherwise cause a
//! second cut, and 4.3.1 assumes one.

use super::mlcp::{MOST_ACKED, xi};
use super::reno::{self, Reno};
use super::tcp::Tcp;
use super::tcp_window::halved;
use crate::codecs::adpm::{LEAST, MOST, Map, Overload, write};
use crate::codecs::{Codec, Feedback, Header};
use crate::quantities::{Span, Time};
use crate::sender::{Ack, Congestion, Loss, Opening, SenderLaw, SenderSpec, Sending};
use crate::{params, tunes};

params! {
    /// The constants of 4.1.4, the options of 5.4 and the experiments of 7.2.
    pub struct Params {
        /// Measurement interval t_p of the routers.
        pub t_p: Span = Span::from_millis(200), in 0.001, 100.0;
        /// Gain kappa_2 of MI.
        pub kappa: f64 = 0.35, in 0.0, 10.0;
        /// Packets alpha added each t_p by AI.
        pub alpha: f64 = 1.0, in 0.0, 1000.0;
        /// Load factor eta at which MI ends, except for new flows.
        pub eta: f64 = 0.75, in 0.15, 1.0;
        /// What the mildest cut leaves of the window, beta_max.
        pub beta_max: f64 = 0.875, in 0.01, 0.999;
        /// What the hardest cut leaves, beta_min.
        pub beta_min: f64 = 0.65, in 0.01, 0.999;
        /// Cut on (11) only, and only if the estimate is overload (5.4.2)?
        pub marked_cuts: bool = false;
        /// Become a SACK TCP at congestion without load (5.4.3)?
        pub fallback: bool = false;
        /// Increase of alpha at eta; it falls to 0 at full load (7.2.1).
        pub ai_boost: f64 = 0.0, in 0.0, 1000.0;
        /// Share of the spare capacity that AI adds each t_p, estimated from the growth of load and window since the
        /// last cut (7.2.3).
        pub capacity_gain: f64 = 0.0, in 0.0, 1.0;
        /// Share of packets that tell of loads in MI: H(0.75) (7.2.2).
        pub map_high: f64 = 0.25, in 0.01, 0.98;
        /// Share of packets that tell of loads in MI or AI: H(1).
        pub map_full: f64 = 0.5, in 0.02, 0.99;
        /// Exponent of H between its corners; 1 is a line.
        pub map_bend: f64 = 1.0, in 0.1, 10.0;
        /// Bounds r in MI, as VCP's sigma_mi; not in the dissertation.
        pub sigma_mi: f64 = 2.5, in 0.1, 20.0;
        /// Bounds r^2 in AI, as VCP's sigma_ai; not in the dissertation, whose RTTs reach 10 t_p.
        pub sigma_ai: f64 = 100.0, in 0.1, 1e4;
        /// RTTs after a cut, beyond one t_p, without another cut.
        pub settle_rtts: f64 = 1.0, in 0.0, 10.0;
    }
}

/// (4.6): what a cut leaves of the window at this load, from `max` at full load to `min` at the load `most`.
pub fn beta(load: f64, (max, min): (f64, f64), most: f64) -> f64 {
    let place = ((load - 1.0) / (most - 1.0)).clamp(0.0, 1.0);
    max - place * (max - min)
}

/// The state of a BMCC sender.
#[derive(Clone, Debug)]
pub struct Bmcc {
    params: Params,
    map: Map,
    window: f64,
    /// H of the latest estimate; below, the estimate, and ln(1 + xi) for it.
    height: f64,
    load: f64,
    ln_growth: f64,
    /// Has the estimate not reached 1 yet?
    new: bool,
    /// The earliest instant of the next cut.
    settled_at: Time,
    /// Window and load after the last cut, for 7.2.3.
    since: (f64, f64),
    /// In SACK compatibility mode, the law of that.
    sack: Option<Tcp<Reno>>,
}

impl Bmcc {
    /// Starts with the initial window, without slow start.
    pub fn new(params: Params, opening: &Opening) -> Self {
        let mut law = Self {
            params,
            map: map(&params),
            window: opening.initial_window,
            height: f64::NAN,
            load: LEAST,
            ln_growth: 0.0,
            new: true,
            settled_at: Time::ZERO,
            since: (opening.initial_window, LEAST),
            sack: None,
        };
        law.estimate(0.0);
        law
    }

    /// Updates what follows from the parameters.
    fn derive(&mut self) {
        self.map = map(&self.params);
        let height = std::mem::replace(&mut self.height, f64::NAN);
        self.estimate(height);
        if !self.params.fallback {
            self.leave_sack();
        }
    }

    /// Takes H of an estimate.
    fn estimate(&mut self, height: f64) {
        if height == self.height {
            return;
        }
        self.height = height;
        self.load = self.map.load(height);
        self.ln_growth = libm::log1p(xi(self.load.min(1.0), self.params.kappa));
        if self.load >= 1.0 {
            self.new = false;
            self.leave_sack();
        }
    }

    /// Ends SACK compatibility mode.
    fn leave_sack(&mut self) {
        if let Some(sack) = self.sack.take() {
            self.window = sack.window();
        }
    }

    /// Packets that one ACK adds at high load: (4.4), and what 7.2.1 and 7.2.3 would add.
    fn ai(&mut self, ratio: f64) -> f64 {
        let Params { alpha, eta, ai_boost, capacity_gain, sigma_ai, .. } = self.params;
        let spare = (1.0 - self.load).max(0.0);
        let boost = 1.0 + ai_boost * (spare / (1.0 - eta).max(1e-9)).min(1.0);
        let step = alpha * boost * (ratio * ratio).min(sigma_ai) / self.window;
        let (window, load) = self.since;
        let grown = self.load - load;
        if capacity_gain == 0.0 || grown < LEAST_GROWTH {
            return step;
        }
        let room = (spare * (self.window - window) / grown).clamp(0.0, self.window);
        step.max(capacity_gain * room * ratio / self.window)
    }

    fn cut(&mut self, ack: &Ack) {
        if ack.now < self.settled_at {
            return;
        }
        let Params { beta_max, beta_min, .. } = self.params;
        let kept = beta(self.load, (beta_max, beta_min), MOST);
        self.window = (kept * self.window).min(self.window).max(1.0);
        self.settled_at =
            ack.now + self.params.t_p + ack.smoothed_rtt.scale(self.params.settle_rtts);
        self.since = (self.window, f64::INFINITY);
    }

    /// Becomes a SACK TCP in congestion avoidance. The loss or mark that causes this is not answered itself.
    fn fall_back(&mut self) {
        let ssthresh = reno::Params { initial_ssthresh: 2.0, ..reno::Params::default() };
        let opening = Opening::new(self.window, 0);
        self.sack = Some(Reno::start(ssthresh, &opening));
    }

    /// (11) apart from the estimate, in SACK mode or on entering it. It is answered once an RTT.
    fn on_mark(&mut self, ack: &Ack) {
        if ack.now < self.settled_at {
            return;
        }
        self.settled_at = ack.now + ack.smoothed_rtt;
        match &mut self.sack {
            Some(sack) => sack.on_loss(&Loss {
                now: ack.now,
                in_flight: ack.in_flight.min(sack.window() as u32),
                by: Congestion::Mark,
            }),
            None => self.fall_back(),
        }
    }
}

/// The least growth of the load from which its rate of change is computed.
const LEAST_GROWTH: f64 = 0.02;

/// H, by the parameters.
fn map(params: &Params) -> Map {
    let Params { map_high, map_full, map_bend, .. } = *params;
    Map { at_high: map_high as f32, at_full: map_full as f32, bend: map_bend as f32 }
}

impl SenderLaw for Bmcc {
    tunes! { derive }

    fn on_ack(&mut self, ack: &Ack) {
        let Feedback::Adpm { estimate, congested } = ack.feedback else { return };
        if let Some(height) = estimate {
            self.estimate(height);
        }
        if ack.recovering {
            return;
        }
        let overload = self.load >= 1.0;
        if self.params.fallback && congested && !overload {
            self.on_mark(ack);
        }
        if let Some(sack) = &mut self.sack {
            return sack.on_ack(ack);
        }
        let ratio = ack.smoothed_rtt.ratio(self.params.t_p);
        // An application-limited flow does not grow, but it answers overload.
        let grows = if ack.app_limited { 0 } else { ack.newly_acked.min(MOST_ACKED) };
        let acked = f64::from(grows);
        if overload && (congested || !self.params.marked_cuts) {
            self.cut(ack);
        } else if self.load < self.params.eta || (self.new && !overload) {
            self.window += acked * libm::expm1(ratio.min(self.params.sigma_mi) * self.ln_growth);
        } else {
            self.window += acked * self.ai(ratio);
        }
        self.since.1 = self.since.1.min(self.load);
    }

    fn on_loss(&mut self, loss: &Loss) {
        match &mut self.sack {
            Some(sack) => sack.on_loss(loss),
            None if self.params.fallback && self.load < 1.0 => self.fall_back(),
            None => self.window = halved(self.window, loss),
        }
    }

    fn on_timeout(&mut self, loss: &Loss) {
        if self.params.fallback && self.load < 1.0 && self.sack.is_none() {
            self.fall_back();
        }
        match &mut self.sack {
            Some(sack) => sack.on_timeout(loss),
            None => self.window = 1.0,
        }
    }

    fn window(&self) -> f64 {
        self.sack.as_ref().map_or(self.window, Tcp::window)
    }

    fn header(&self, sending: &Sending) -> Header {
        let apart = self.params.marked_cuts || self.params.fallback;
        let overload = if apart { Overload::Apart } else { Overload::Estimated };
        write(sending.identifier, self.map, overload)
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("load", self.load);
        show("sack", f64::from(u8::from(self.sack.is_some())));
    }
}

impl SenderSpec for Bmcc {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "bmcc";
    const TITLE: &'static str = "BMCC: MI, AI or MD by a load factor decoded from ECN bits";
    const SOURCE: &'static str = "Qazi, PhD dissertation, 2010, chapters 4 and 5";
    const CODEC: Codec = Codec::Adpm;
    const ROUTER: &'static str = "bmcc";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    fn bmcc(params: Params) -> Script<Bmcc> {
        Script::new(Bmcc::new(params, &Opening::new(16.0, 1000)))
    }

    fn said(load: f64, congested: bool) -> Feedback {
        Feedback::Adpm { estimate: Some(Map::default().at(load)), congested }
    }

    fn silent(congested: bool) -> Feedback {
        Feedback::Adpm { estimate: None, congested }
    }

    #[test]
    fn a_new_flow_triples_each_t_p_until_it_hears_more() {
        let mut flow = bmcc(Params::default());
        // 1 + 0.35 * 0.85 / 0.15 = 2.98333.
        flow.feedback(silent(false)).acks(ms(200), 12).expect_window(16.0 + 12.0 * 1.19 / 0.6);
        let mut flow = bmcc(Params::default());
        flow.feedback(silent(false)).acks(ms(50), 1);
        let growth = libm::pow(1.0 + 1.19 / 0.6, 0.25) - 1.0;
        assert!((flow.law.window() - 16.0 - growth).abs() < 1e-12); // (4.3)
    }

    #[test]
    fn below_full_load_a_new_flow_multiplies_and_an_old_one_adds() {
        let mut flow = bmcc(Params::default());
        flow.feedback(said(0.875, false)).acks(ms(200), 1).expect_window(16.05); // 0.35 / 7
        flow.feedback(said(1.0, false)).acks(ms(200), 1).expect_window(0.875 * 16.05);
        let before = flow.law.window();
        flow.feedback(said(0.875, false)).acks(ms(100), 1).expect_window(before + 0.25 / before);
        let before = flow.law.window();
        flow.feedback(said(0.7, false)).acks(ms(200), 1).expect_window(before + 0.15); // 0.35 * 3 / 7
    }

    #[test]
    fn cuts_deepen_with_overload_and_wait_for_their_effect() {
        let params = Params::default();
        let beta = |load| beta(load, (0.875, 0.65), 1.2);
        assert_eq!([1.0, 1.2, 9.0].map(beta), [0.875, 0.65, 0.65]);
        assert!((beta(1.1) - 0.7625).abs() < 1e-12);
        let mut flow = bmcc(params);
        flow.feedback(said(1.0, false)).ack_at(1000, ms(80)).expect_window(14.0);
        flow.feedback(silent(false)).ack_at(1279, ms(80)).expect_window(14.0);
        flow.ack_at(1280, ms(80)).expect_window(12.25);
        let mut flow = bmcc(Params { settle_rtts: 0.0, ..params });
        flow.feedback(said(1.2, false)).ack_at(1000, ms(80)).expect_window(10.4);
        flow.ack_at(1199, ms(80)).expect_window(10.4).ack_at(1200, ms(80)).expect_window(6.76);
    }

    #[test]
    fn with_marked_cuts_overload_alone_adds() {
        let mut flow = bmcc(Params { marked_cuts: true, ..Params::default() });
        flow.feedback(said(0.9, true)).acks(ms(200), 1);
        flow.feedback(said(1.1, false)).acks(ms(200), 1);
        let before = flow.law.window();
        flow.acks(ms(200), 1).expect_window(before + 1.0 / before);
        let before = flow.law.window();
        flow.feedback(said(1.1, true)).acks(ms(200), 1).expect_window(0.7625 * before);
    }

    #[test]
    fn congestion_without_load_makes_a_sack_tcp_of_it_until_there_is_load() {
        let fallback = Params { fallback: true, ..Params::default() };
        let mut flow = bmcc(fallback);
        flow.loss(16).expect_window(16.0); // it enters SACK mode, without an answer
        flow.feedback(silent(false)).acks(ms(80), 1).expect_window(16.0625);
        flow.loss(16).expect_window(8.0);
        flow.feedback(said(1.0, false)).acks(ms(80), 1).expect_window(7.0);
        let mut flow = bmcc(fallback);
        flow.feedback(said(0.5, true)).ack_at(1000, ms(80)).expect_window(16.0625);
        flow.ack_at(1079, ms(80)); // the same window of data
        assert!(flow.law.window() > 16.0);
        flow.ack_at(1080, ms(80));
        assert!((8.0..8.2).contains(&flow.law.window()));
        // Over a BMCC link in overload, losses are answered as before.
        flow.feedback(said(1.1, false)).ack_at(3000, ms(80)).loss(6).expect_window(3.0);
    }

    #[test]
    fn a_boost_raises_ai_at_eta_and_not_at_full_load() {
        let mut flow = bmcc(Params { ai_boost: 3.0, ..Params::default() });
        flow.feedback(said(1.0, false)).ack_at(1000, ms(200));
        flow.feedback(said(0.75, false)).ack_at(1200, ms(200)).expect_window(14.0 + 4.0 / 14.0);
        let before = flow.law.window();
        flow.feedback(said(0.875, false))
            .ack_at(1400, ms(200))
            .expect_window(before + 2.5 / before);
    }

    /// Alone, its load being its window over 20: at 17 of 20 a gain of 1/2 takes half of the way.
    #[test]
    fn spare_capacity_follows_from_how_the_load_has_grown() {
        let mut flow = bmcc(Params { capacity_gain: 0.5, ..Params::default() });
        flow.feedback(said(1.2, false)).ack_at(1000, ms(200));
        flow.law.window = 15.0;
        flow.feedback(said(0.75, false)).ack_at(2000, ms(200));
        flow.law.since = (15.0, 0.75);
        flow.law.window = 17.0;
        flow.feedback(said(0.85, false)).ack_at(3000, ms(200)).expect_window(17.0 + 1.5 / 17.0);
    }
}
