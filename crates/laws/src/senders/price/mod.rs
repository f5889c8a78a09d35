//! What the scalable laws share: the utility, its integral, and the motion of the window.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003, III-B. A source of rate x (packets/s), price q (s) and RTT tau:
//!   (15)  tau xi' = beta (U'(x) - q),   beta = z alpha / M,   z = eta / (bound of the RTT)
//! The forms in [`marks`] and [`delay`] differ in where q comes from, and in the window that xi and q give, the *expected*
//! window. Each ACK moves the window towards it by a bounded number of packets (Figure 3). xi changes every
//! `interval`. As q changes with ACKs only, an ACK makes all steps that are due.
//! The paper's utility is K log x, U' = K / x. Here U' = p (K / (p x))^a, a the `fairness`: K / x for
//! a = 1, K log x; minimum potential delay for a = 2; max-min in the limit. All demand K / p at price p.
//! The paper leaves losses and idle times open. Here a loss halves window and e^xi, a timeout sends one packet and
//! halves e^xi; an application-limited source does not grow; a step changes xi by at most 1, and not past the
//! demand; x is at least one packet an RTT.

pub mod delay;
pub mod marks;

use crate::params;
use crate::params::{ParamError, Value};
use crate::quantities::{BitRate, Span, Time};
use crate::sender::{Ack, Loss, Opening, SenderLaw};

/// The most steps that one ACK makes. Steps before count as idle time.
const MOST_STEPS: u32 = 1000;
/// The largest exponent of a window; 60 is beyond any network.
const LARGEST_EXPONENT: f64 = 60.0;

/// The marginal utility U'(x) = p (K / (p x))^a, with p the `pivot`.
#[derive(Clone, Copy, Debug)]
pub struct Utility {
    /// K, in packets.
    pub weight: f64,
    /// a.
    pub fairness: f64,
    /// p, in s.
    pub pivot: f64,
}

impl Utility {
    /// U' in s, at a rate in packets/s.
    pub fn marginal(&self, rate: f64) -> f64 {
        self.pivot * libm::pow(self.weight / (self.pivot * rate), self.fairness)
    }
    /// f = (U')^-1: the rate at this price (4).
    pub fn demand(&self, price: f64) -> f64 {
        self.weight / self.pivot * libm::pow(self.pivot / price, 1.0 / self.fairness)
    }
}

/// The gains that follow from the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// alpha / M.
    pub alpha: f64,
    /// beta = z alpha / M, in 1/s.
    pub beta: f64,
    /// The utility.
    pub utility: Utility,
    /// Ts.
    pub interval: Span,
    /// The most packets by which an ACK raises and lowers the window.
    pub caps: [f64; 2],
    /// The share that a loss leaves.
    pub decrease: f64,
}

impl Gains {
    /// (15) over one interval: by how much xi changes at rate x, price q and RTT tau.
    pub fn integrate(&self, rate: f64, price: f64, rtt_s: f64) -> f64 {
        let slope = self.beta / rtt_s * (self.utility.marginal(rate) - price);
        let step = (slope * self.interval.seconds()).clamp(-1.0, 1.0);
        let most = libm::fabs(libm::log(self.utility.demand(price) / rate));
        step.clamp(-most, most)
    }
}

params! {
    /// Parameters that the laws share, as in section V.
    pub struct Params {
        /// Stability parameter alpha, below pi/2.
        pub alpha: f64 = 0.37, in 0.001, std::f64::consts::FRAC_PI_2;
        /// eta, below 0.64; with the bound of the RTT it is the zero z = eta / rtt_bound.
        pub eta: f64 = 0.64, in 0.0, 10.0;
        /// Bound of the RTTs in the network, the same at every source. The paper gives none for section V;
        /// its longest RTT is 1 s.
        pub rtt_bound: Span = Span::from_secs(1), in 1e-4, 1000.0;
        /// Bound M of the number of bottlenecks on the path.
        pub bottlenecks: f64 = 1.0, in 1.0, 1000.0;
        /// Weight K of the utility, in packets: K log x.
        pub weight: f64 = 50.0, in 1e-3, 1e9;
        /// Exponent a of the fairness: 1 is K log x, proportional; 2 minimum potential delay; large ones
        /// tend to max-min.
        pub fairness: f64 = 1.0, in 0.1, 100.0;
        /// Price at which every fairness demands the same rate, K / pivot.
        pub pivot: Span = Span::from_millis(100), in 1e-6, 100.0;
        /// Integration period Ts.
        pub interval: Span = Span::from_millis(10), in 1e-4, 10.0;
        /// Most packets by which an ACK raises the window; the paper gives no number.
        pub max_increment: f64 = 1.0, in 0.001, 1e6;
        /// Most packets by which an ACK lowers the window; the paper gives no number.
        pub max_decrement: f64 = 1.0, in 0.001, 1e6;
        /// What a loss leaves of the packets in flight and of e^xi.
        pub decrease: f64 = 0.5, in 0.01, 0.99;
    }
}

impl Params {
    /// The gains that follow from them.
    pub fn gains(&self) -> Gains {
        Gains {
            alpha: self.alpha / self.bottlenecks,
            beta: self.eta / self.rtt_bound.seconds() * self.alpha / self.bottlenecks,
            utility: Utility {
                weight: self.weight,
                fairness: self.fairness,
                pivot: self.pivot.seconds(),
            },
            interval: self.interval,
            caps: [self.max_increment, self.max_decrement],
            decrease: self.decrease,
        }
    }
}

/// A form of the law: where its price comes from, and which window xi and the price give.
pub trait Pricing {
    /// The price in s that a probe shows.
    fn price(&self) -> f64;
    /// Learns from an ACK.
    fn hear(&mut self, ack: &Ack, source: &mut Source);
    /// Makes one step of Ts, which is due at this ACK.
    fn step(&mut self, ack: &Ack, source: &mut Source);
    /// The parameters that the forms share.
    fn shared(&self) -> &Params;
    /// Changes a parameter, as [`SenderLaw::tune`].
    ///
    /// # Errors
    /// If there is no such parameter, or the value does not fit it.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
}

/// A sender that follows such a law.
#[derive(Clone, Debug)]
pub struct PriceSender<P> {
    pricing: P,
    source: Source,
}

impl<P: Pricing> PriceSender<P> {
    /// Starts with the initial window.
    pub fn new(pricing: P, opening: &Opening) -> Self {
        let source = Source::new(pricing.shared().gains(), opening);
        Self { pricing, source }
    }
}

impl<P: Pricing> SenderLaw for PriceSender<P> {
    fn on_ack(&mut self, ack: &Ack) {
        let pricing = &mut self.pricing;
        pricing.hear(ack, &mut self.source);
        self.source.on_ack(ack, |source| pricing.step(ack, source));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.source.on_loss(loss);
    }

    fn on_timeout(&mut self, _: &Loss) {
        self.source.on_timeout();
    }

    fn window(&self) -> f64 {
        self.source.window
    }

    /// Spreads the window over the RTT.
    fn pacing_rate(&self) -> Option<BitRate> {
        let rtt = self.source.smoothed_rtt.seconds();
        let bits = self.source.window * self.source.packet_bits;
        (rtt > 0.0).then(|| BitRate::from_bps(bits / rtt))
    }

    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.pricing.tune(name, value)?;
        self.source.gains = self.pricing.shared().gains();
        Ok(())
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("price", self.pricing.price());
        show("xi", self.source.xi);
        show("expected", self.source.expected);
    }
}

/// The window of a source, and its state.
#[derive(Clone, Debug)]
pub struct Source {
    gains: Gains,
    /// The initial window, w_m.
    initial: f64,
    /// The window at xi = 0 and price 0: by default w_m.
    scale: f64,
    packet_bits: f64,
    window: f64,
    /// The window that the law asks for.
    expected: f64,
    xi: f64,
    /// When the next step is due; none before the first ACK.
    step_at: Option<Time>,
    smoothed_rtt: Span,
}

impl Source {
    /// Starts with the initial window, which is w_m, with xi and the price at 0.
    fn new(gains: Gains, opening: &Opening) -> Self {
        let window = opening.initial_window.max(1.0);
        let packet_bits = 8.0 * f64::from(opening.packet_bytes);
        let (step_at, smoothed_rtt) = (None, Span::ZERO);
        Self {
            gains,
            initial: window,
            scale: window,
            packet_bits,
            window,
            expected: window,
            xi: 0.0,
            step_at,
            smoothed_rtt,
        }
    }

    /// Makes the steps that are due, and moves the window towards the expected one (Figure 3).
    fn on_ack(&mut self, ack: &Ack, mut step: impl FnMut(&mut Self)) {
        let (xi, expected) = (self.xi, self.expected);
        for _ in 0..self.due(ack) {
            step(self);
        }
        if ack.app_limited {
            self.xi = self.xi.min(xi);
            self.expected = self.expected.min(expected);
        }
        if ack.recovering || ack.newly_acked == 0 {
            return;
        }
        let [up, down] = self.gains.caps.map(|cap| cap * f64::from(ack.newly_acked));
        let up = if ack.app_limited { 0.0 } else { up };
        self.window = self.expected.clamp(self.window - down, self.window + up).max(1.0);
    }

    /// The number of steps that are due; 0 while losses are repaired.
    fn due(&mut self, ack: &Ack) -> u32 {
        self.smoothed_rtt = ack.smoothed_rtt;
        let next = ack.now + self.gains.interval;
        let Some(at) = self.step_at.filter(|_| !ack.recovering && ack.min_rtt > Span::ZERO) else {
            self.step_at = Some(next);
            return 0;
        };
        if at > ack.now {
            return 0;
        }
        let steps = ack.now.since(at).ps() / self.gains.interval.ps() + 1;
        if steps > u64::from(MOST_STEPS) {
            self.step_at = Some(next);
            return MOST_STEPS;
        }
        self.step_at = Some(at + self.gains.interval * steps);
        steps as u32
    }

    /// The expected rate, of at least one packet an RTT.
    fn rate(&self, rtt_s: f64) -> f64 {
        self.expected.max(1.0) / rtt_s
    }

    /// Moves xi at this price and RTT.
    fn integrate(&mut self, price: f64, rtt_s: f64) {
        self.xi += self.gains.integrate(self.rate(rtt_s), price, rtt_s);
    }

    /// The expected window is `w_m e^exponent`.
    fn expect(&mut self, exponent: f64) {
        self.expected = self.scale * libm::exp(exponent.min(LARGEST_EXPONENT));
    }

    fn on_loss(&mut self, loss: &Loss) {
        let kept = self.gains.decrease * f64::from(loss.in_flight);
        self.window = kept.max(1.0).min(self.window);
        self.reduce();
    }

    fn on_timeout(&mut self) {
        self.window = 1.0;
        self.reduce();
    }

    fn reduce(&mut self) {
        self.xi += libm::log(self.gains.decrease);
        self.expected *= self.gains.decrease;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utility(fairness: f64) -> Utility {
        Utility { weight: 50.0, fairness, pivot: 0.1 }
    }

    fn gains() -> Gains {
        Params::default().gains()
    }

    /// Section V: alpha = 0.37, eta = 0.64 and M = 1.
    #[test]
    fn the_zero_is_eta_over_the_bound_of_the_rtt() {
        let Gains { alpha, beta, .. } = gains();
        assert!((beta - 0.2368).abs() < 1e-12);
        assert!((beta / alpha - 0.64).abs() < 1e-12); // z = beta M / alpha
        let twice = Params { bottlenecks: 2.0, ..Params::default() }.gains();
        assert!((twice.beta / twice.alpha - 0.64).abs() < 1e-12);
        assert!((twice.alpha - 0.185).abs() < 1e-12);
    }

    #[test]
    fn demands_of_each_fairness_by_hand() {
        assert!((utility(1.0).marginal(250.0) - 0.2).abs() < 1e-12); // 50 / x
        assert!((utility(1.0).demand(0.2) - 250.0).abs() < 1e-9);
        assert!((utility(2.0).marginal(1000.0) - 0.025).abs() < 1e-12); // half of the rate: four times
        assert!((utility(2.0).demand(0.4) - 250.0).abs() < 1e-9);
        for fairness in [0.5, 1.0, 2.0, 100.0] {
            assert!((utility(fairness).demand(0.1) - 500.0).abs() < 1e-9);
        }
        // A path of n equal prices gets n^(-1/a) of a path of one: all for max-min.
        let share =
            |fairness, n| utility(fairness).demand(0.05 * n) / utility(fairness).demand(0.05);
        assert!((share(1.0, 3.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!((share(2.0, 4.0) - 0.5).abs() < 1e-12);
        assert!(share(100.0, 4.0) > 0.98);
    }

    proptest! {
        #[test]
        fn demand_inverts_marginal_utility(fairness in 0.5..20.0f64, price in 0.001..1.0f64) {
            let utility = utility(fairness);
            prop_assert!((utility.marginal(utility.demand(price)) / price - 1.0).abs() < 1e-9);
        }

        #[test]
        fn a_step_leads_towards_the_demand_and_not_past_it(
            fairness in 0.1..100.0f64, rate in 1.0..1e6f64, price in 0.0..1.0f64, rtt in 0.001..1.0f64
        ) {
            let gains = Gains { utility: utility(fairness), ..gains() };
            let way = libm::log(gains.utility.demand(price) / rate);
            let step = gains.integrate(rate, price, rtt);
            prop_assert!(step.is_finite() && step * way >= 0.0 && step.abs() <= way.abs() + 1e-12);
        }
    }

    /// (20) without a price: xi grows by beta K Ts / w, so that the window gains beta K a second, 11.84.
    #[test]
    fn without_a_price_xi_grows_as_the_paper_says() {
        let step = gains().integrate(100.0 / 0.05, 0.0, 0.05);
        assert!((step - 0.2368 * 50.0 / 100.0 * 0.01).abs() < 1e-15);
        let step = gains().integrate(100.0 / 0.05, 0.2, 0.05);
        assert!((step - 0.2368 * (0.5 - 4.0) * 0.01).abs() < 1e-15);
    }

    #[test]
    fn steps_are_made_up_for_when_an_ack_comes() {
        let mut source = Source::new(gains(), &Opening::new(2.0, 1000));
        let mut due = |ms: u64, recovering| {
            let now = Time::ZERO + Span::from_millis(ms);
            source.due(&Ack { recovering, ..Ack::new(now, 1, 1, Span::from_millis(50)) })
        };
        let steps = [(50, 0), (59, 0), (60, 1), (61, 0), (95, 3), (99, 0), (100, 1)];
        for (ms, expected) in steps {
            assert_eq!(due(ms, false), expected, "{ms} ms");
        }
        assert_eq!([due(500, true), due(505, false), due(510, false)], [0, 0, 1]);
        assert_eq!([due(60_510, false), due(60_515, false), due(60_520, false)], [1000, 0, 1]);
    }
}
