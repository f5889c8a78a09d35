//! VCP's sender: multiplicative increase, additive increase or a cut, by two bits of load.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions
//! on Networking 16(6), 2008, III-E.2 and Table I. Windows in packets, per ACK:
//!   S.1 low load:   cwnd += (1 + xi)^min(srtt / t_rho, sigma_mi) - 1             (6)
//!   S.2 high load:  cwnd += alpha min((srtt / t_rho)^2, sigma_ai) / cwnd         (8)
//!   S.3 overload:   cwnd = max(1, beta cwnd) once; then hold cwnd for one t_rho, then S.2 for one
//!                   srtt, whatever the load feedback says in these two periods   (4)
//! Losses are answered as in TCP Reno, with its recovery; there is no slow start, also after a loss.
//! Where the authors' ns-2 code differs, there is a parameter; see [`habits`].

pub mod habits;

use super::tcp_window::halved;
use crate::codecs::{Codec, Feedback, Load};
use crate::quantities::{BitRate, Span, Time};
use crate::sender::{Ack, Loss, Opening, Recovery, SenderLaw, SenderSpec};
use crate::{params, tunes};
use habits::{AfterCut, AiLimit, AiScaling, MiLimit, RttFrom, TickClock};

params! {
    /// Lower part of Table I, then differences of the authors' code.
    pub struct Params {
        /// MI parameter xi: growth each t_rho at low load, dimensionless.
        pub xi: f64 = 0.0625, in 0.0, 10.0;
        /// AI parameter alpha: packets each t_rho at high load.
        pub alpha: f64 = 1.0, in 0.0, 1000.0;
        /// MD parameter beta: what a cut leaves of the window.
        pub beta: f64 = 0.875, in 0.01, 0.999;
        /// Load-factor measurement interval t_rho of the routers.
        pub t_rho: Span = Span::from_millis(200), in 0.001, 100.0;
        /// MI scaling limiter sigma_mi: bounds the exponent srtt / t_rho.
        pub sigma_mi: f64 = 2.5, in 0.0, 1000.0;
        /// AI scaling limiter sigma_ai: bounds (srtt / t_rho)^2.
        pub sigma_ai: f64 = 10.0, in 0.0, 1e6;
        /// Weight of the flow [IV-D]: a factor of (8).
        pub weight: f64 = 1.0, in 0.001, 1000.0;
        /// How AI depends on the RTT: (8), (7), (3) or as the authors' code [S1].
        pub ai_scaling: AiScaling = AiScaling::Rate;
        /// What bounds AI: sigma_ai, or a table over the window [S2].
        pub ai_limit: AiLimit = AiLimit::Sigma;
        /// What bounds xi: nothing, or a table over the window [S3].
        pub mi_limit: MiLimit = MiLimit::None;
        /// Do duplicate ACKs leave the window alone [S3]?
        pub new_acks_only: bool = false;
        /// After a cut, are hold and AI prescribed, or do codes count [S4]?
        pub after_cut: AfterCut = AfterCut::Prescribed;
        /// The smoothed RTT: the transport's, or one of 10 ms ticks [S5].
        pub rtt_from: RttFrom = RttFrom::Transport;
        /// Is the first packet alone, in place of a SYN [S6]?
        pub syn: bool = false => fixed;
        /// Are 2 to 64 packets paced if more than 100 ms apart [S8]?
        pub sparse_pacing: bool = false;
    }
}

/// The largest exponent of a step of MI: e^60 packets are beyond any network.
const LARGEST_EXPONENT: f64 = 60.0;

/// What the sender does with load feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Follows each ACK's code.
    Following,
    /// Has cut and holds its window until the instant given.
    Frozen(Time),
    /// Adds, whatever the codes, until the instant given.
    Adding(Time),
}

/// The state of a VCP sender.
#[derive(Clone, Debug)]
pub struct Vcp {
    params: Params,
    window: f64,
    phase: Phase,
    /// ln(1 + xi), for (6).
    ln_growth: f64,
    /// A smoothed RTT, and (6) for it.
    mi_step: (Span, f64),
    /// S5's clock.
    clock: TickClock,
    /// The smoothed RTT after the last ACK.
    smoothed_rtt: Span,
    /// S6: the window once the first packet is acknowledged.
    opened: Option<f64>,
    /// The last load feedback.
    said: Load,
    /// Are S3, S5 and S6 off? Then an ACK needs no preparation.
    plain: bool,
    packet_bytes: u32,
}

impl Vcp {
    /// Starts with the initial window, in MI.
    pub fn new(params: Params, opening: &Opening) -> Self {
        let mut law = Self {
            params,
            window: if params.syn { 1.0 } else { opening.initial_window },
            phase: Phase::Following,
            ln_growth: 0.0,
            mi_step: (Span::ZERO, 0.0),
            clock: TickClock::default(),
            smoothed_rtt: Span::ZERO,
            opened: params.syn.then_some(opening.initial_window),
            said: Load::Low,
            plain: false,
            packet_bytes: opening.packet_bytes,
        };
        law.derive();
        law
    }

    /// Changes the parameters.
    pub(super) fn set(&mut self, params: Params) {
        self.params = params;
        self.derive();
    }

    /// What follows from the parameters.
    fn derive(&mut self) {
        let Params { xi, rtt_from, syn, new_acks_only, .. } = self.params;
        self.ln_growth = libm::log1p(xi);
        self.mi_step = (Span::ZERO, 0.0);
        self.plain = rtt_from == RttFrom::Transport && !syn && !new_acks_only;
    }

    /// (6): packets that one ACK adds at low load.
    fn mi(&mut self) -> f64 {
        let rtt = self.smoothed_rtt;
        if self.params.mi_limit == MiLimit::Table {
            let most = habits::limit(&habits::MI_TABLE, self.window);
            if most < self.params.xi {
                return self.growth(libm::log1p(most));
            }
        }
        if self.mi_step.0 != rtt {
            self.mi_step = (rtt, self.growth(self.ln_growth));
        }
        self.mi_step.1
    }

    /// (6) with this ln(1 + xi).
    fn growth(&self, ln_growth: f64) -> f64 {
        let Params { t_rho, sigma_mi, .. } = self.params;
        let exponent = self.smoothed_rtt.ratio(t_rho).min(sigma_mi);
        libm::expm1((exponent * ln_growth).min(LARGEST_EXPONENT))
    }

    /// (8), or what replaces it: packets that one ACK adds at high load.
    fn ai(&self) -> f64 {
        let params = &self.params;
        let ratio = self.smoothed_rtt.ratio(params.t_rho);
        let factor = match params.ai_scaling {
            AiScaling::Rate => ratio * ratio,
            AiScaling::Window => ratio,
            AiScaling::None => 1.0,
            AiScaling::Authors => habits::ai_factor(self.smoothed_rtt),
        };
        let step = params.alpha * params.weight;
        match params.ai_limit {
            AiLimit::Sigma => step * factor.min(params.sigma_ai) / self.window,
            AiLimit::Table => {
                (step * factor / self.window).min(habits::limit(&habits::AI_TABLE, self.window))
            }
        }
    }

    /// The load on which the sender acts after a cut: the ACK's, or what the phase after the cut makes of it.
    #[inline(never)]
    fn load_after_cut(&mut self, now: Time, said: Load) -> Option<Load> {
        let heeds = self.params.after_cut == AfterCut::Conditional && said != Load::Over;
        if let Phase::Frozen(until) = self.phase {
            if now < until {
                return heeds.then_some(said);
            }
            self.phase = Phase::Adding(until + self.smoothed_rtt);
        }
        if let Phase::Adding(until) = self.phase {
            if now < until {
                return Some(if heeds { said } else { Load::High });
            }
            self.phase = Phase::Following;
        }
        Some(said)
    }

    /// (4), and the beginning of the hold.
    pub(super) fn cut(&mut self, now: Time) {
        self.window = (self.params.beta * self.window).max(1.0);
        self.phase = Phase::Frozen(now + self.params.t_rho);
    }

    /// S3, S5, S6: what the authors' code does first with an ACK. Returns whether its load counts.
    #[cold]
    fn prepare(&mut self, ack: &Ack) -> bool {
        if self.params.rtt_from == RttFrom::Ticks {
            self.clock.sample(ack);
            self.smoothed_rtt = self.clock.smoothed();
        }
        if let Some(window) = self.opened.take() {
            self.window = window;
            return false;
        }
        !self.params.new_acks_only || ack.newly_acked > 0
    }
}

impl SenderLaw for Vcp {
    tunes! { derive }

    fn on_ack(&mut self, ack: &Ack) {
        let Feedback::Load(said) = ack.feedback else { return };
        self.smoothed_rtt = ack.smoothed_rtt;
        let counts = self.plain || self.prepare(ack);
        // An application-limited flow does not grow, but it answers overload.
        if !counts || ack.recovering || (ack.app_limited && said != Load::Over) {
            return;
        }
        self.said = said;
        let load = match self.phase {
            Phase::Following => Some(said),
            _ => self.load_after_cut(ack.now, said),
        };
        match load {
            None => {}
            Some(Load::Low) => self.window += self.mi(),
            Some(Load::High) => self.window += self.ai(),
            Some(Load::Over) => self.cut(ack.now),
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

    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        if !self.params.sparse_pacing {
            return None;
        }
        habits::pace(self.window, self.smoothed_rtt, self.packet_bytes)
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("frozen", f64::from(u8::from(matches!(self.phase, Phase::Frozen(_)))));
        show("load", f64::from(self.said as u8)); // 1 low, 2 high, 3 over
    }
}

impl SenderSpec for Vcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vcp";
    const TITLE: &'static str = "VCP: MI, AI or MD, by two ECN bits of load";
    const SOURCE: &'static str = "Xia et al., IEEE/ACM ToN 16(6), 2008, III-E.2";
    const CODEC: Codec = Codec::Load2;
    const RECOVERY: Recovery = Recovery::Reno;
    const ROUTER: &'static str = "vcp";
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};

    fn vcp_with(params: Params) -> Script<Vcp> {
        Script::new(Vcp::new(params, &Opening::new(16.0, 1000)))
    }

    fn vcp() -> Script<Vcp> {
        vcp_with(Params::default())
    }

    fn load(load: Load) -> Feedback {
        Feedback::Load(load)
    }

    #[test]
    fn at_an_rtt_of_t_rho_mi_grows_by_xi_a_round_and_ai_by_one() {
        let mut flow = vcp();
        flow.feedback(load(Load::Low)).acks(ms(200), 16).expect_window(17.0); // 16 (1 + 1/16)
        flow.feedback(load(Load::High)).acks(ms(200), 1).expect_window(17.0 + 1.0 / 17.0);
    }

    #[test]
    fn scaling_is_bounded_at_long_rtts() {
        let mut flow = vcp();
        flow.feedback(load(Load::Low)).acks(ms(10_000), 1);
        let growth = libm::pow(1.0625, 2.5) - 1.0; // sigma_mi
        assert!((flow.law.window() - 16.0 - growth).abs() < 1e-12);
        let before = flow.law.window();
        flow.feedback(load(Load::High)).acks(ms(10_000), 1);
        assert!((flow.law.window() - before - 10.0 / before).abs() < 1e-12); // sigma_ai
    }

    #[test]
    fn after_a_cut_it_holds_for_t_rho_then_adds_for_one_rtt() {
        let mut flow = vcp();
        flow.feedback(load(Load::Over)).ack_at(1000, ms(80)).expect_window(14.0);
        flow.ack_at(1199, ms(80)).expect_window(14.0);
        flow.feedback(load(Load::Low)).ack_at(1199, ms(80)).expect_window(14.0);
        flow.ack_at(1200, ms(80)).expect_window(14.0 + 0.16 / 14.0); // (80/200)^2 = 0.16
        let before = flow.law.window();
        flow.feedback(load(Load::Over)).ack_at(1279, ms(80)).expect_window(before + 0.16 / before);
        let before = flow.law.window();
        flow.ack_at(1280, ms(80)).expect_window(0.875 * before);
    }

    #[test]
    fn without_data_to_send_it_cuts_but_does_not_grow() {
        let mut flow = vcp();
        flow.app_limited(true).feedback(load(Load::Low)).acks(ms(200), 16).expect_window(16.0);
        flow.feedback(load(Load::Over)).acks(ms(200), 1).expect_window(14.0);
    }

    #[test]
    fn the_window_never_falls_below_one_packet() {
        let mut flow = vcp();
        for cut in 0..40 {
            flow.feedback(load(Load::Over)).ack_at(1000 * (cut + 1), ms(80));
        }
        flow.expect_window(1.0);
    }

    /// What one ACK at high load adds to 16 packets.
    fn added(params: Params, rtt: u64) -> f64 {
        let mut flow = vcp_with(params);
        flow.feedback(load(Load::High)).ack_at(0, ms(rtt)).law.window() - 16.0
    }

    #[test]
    fn ai_scales_with_the_rtt_as_chosen() {
        let scaled = |ai_scaling| added(Params { ai_scaling, ..Params::default() }, 80) * 16.0;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a}, not {b}");
        close(scaled(AiScaling::Rate), 0.16); // (80 / 200)^2
        close(scaled(AiScaling::Window), 0.4);
        close(scaled(AiScaling::None), 1.0);
        close(scaled(AiScaling::Authors), 0.64); // four times (8)
        close(added(Params { weight: 3.0, ..Params::default() }, 80) * 16.0, 0.48);
    }

    #[test]
    fn the_authors_table_bounds_what_an_ack_adds() {
        let params = Params {
            ai_scaling: AiScaling::Authors,
            ai_limit: AiLimit::Table,
            ..Params::default()
        };
        // At 16 packets the bound is 0.06 (0.04 / 0.06)^log10(1.6) = 0.0552.
        let most = 0.06 * libm::pow(2.0 / 3.0, libm::log10(1.6));
        assert!((added(params, 80) - 0.04).abs() < 1e-12); // 0.64 / 16
        assert!((added(params, 330) - most).abs() < 1e-12); // not 10.89 / 16
    }

    #[test]
    fn large_windows_grow_by_less_than_xi_in_the_authors_code() {
        let params = Params { mi_limit: MiLimit::Table, ..Params::default() };
        let opening = Opening::new(1e5, 1000);
        let mut flow = Script::new(Vcp::new(params, &opening));
        flow.feedback(load(Load::Low)).ack_at(0, ms(200)).expect_window(1e5 + 0.044);
    }

    #[test]
    fn codes_count_after_a_cut_in_the_authors_code() {
        let mut flow = vcp_with(Params { after_cut: AfterCut::Conditional, ..Params::default() });
        flow.feedback(load(Load::Over)).ack_at(1000, ms(80)).expect_window(14.0);
        flow.ack_at(1100, ms(80)).expect_window(14.0);
        flow.feedback(load(Load::High)).ack_at(1100, ms(80)).expect_window(14.0 + 0.16 / 14.0);
        let (before, mi) = (flow.law.window(), libm::pow(1.0625, 0.4) - 1.0);
        flow.feedback(load(Load::Low)).ack_at(1199, ms(80)).expect_window(before + mi);
        flow.ack_at(1200, ms(80)).expect_window(before + 2.0 * mi);
        let before = flow.law.window();
        flow.feedback(load(Load::Over)).ack_at(1279, ms(80)).expect_window(before + 0.16 / before);
        let before = flow.law.window();
        flow.ack_at(1280, ms(80)).expect_window(0.875 * before);
    }

    #[test]
    fn a_syn_is_alone() {
        let mut flow = vcp_with(Params { syn: true, ..Params::default() });
        flow.feedback(load(Load::Low)).expect_window(1.0);
        flow.ack_at(80, ms(80)).expect_window(16.0);
    }
}
