//! The scalable law over prices in marks: it answers the price at once, and its utility slowly.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003. Windows in packets, q the price of the last N marks, d the least RTT:
//!   (20) xi <- xi + beta (U'(w / d) - q) / d Ts; for K log x, U'(w / d) / d = K / w
//!   (21) w = w_m exp(xi - alpha q / (M d)),  w_m the initial window
//!   (22) in place of both, `form` linear:  w <- theta w + beta x U'(x) Ts, which is beta K Ts for K log x,
//!        theta = 1 - (beta Ts + alpha / M) q / d + alpha / M q' / d, q' the price a step before
//!   (6)  `form` static:  w = d x_max exp(-alpha q / (M d))
//! Each ACK moves the window towards w by a bounded number of packets (Figure 3). Packets are spread over the RTT.
//! What is the same in other forms, and what the paper leaves open, is in [`price`](super).

use super::{PriceSender, Source};
use crate::codecs::{Codec, Feedback, price};
use crate::quantities::BitRate;
use crate::sender::{Ack, Opening, SenderSpec};
use crate::{choices, params, tunes};

choices! {
    /// How the window follows from the price.
    pub enum Form {
        /// (20) and (21).
        Exponential = "exponential",
        /// (22), which needs no exponential.
        Linear = "linear",
        /// (6): the price alone, without a utility.
        Static = "static",
    }
}

params! {
    /// The source's parameters, as in section V.
    pub struct Params {
        /// How the window follows from the price: (20) and (21), (22), or (6).
        pub form: Form = Form::Exponential;
        /// Base phi of the marking probability, as at the links.
        pub phi: f64 = 1000.0, in 1.000001, 1e9;
        /// Marks N in the register.
        pub marks: u64 = 31, in 1, 128;
        /// Rate x_max of the static form at price 0.
        pub max_rate: BitRate = BitRate::from_mbps(10.0), in 1e3, 1e15;
        with shared: super::Params;
    }
}

/// (22): the window after an interval, in packets. `prices` has the price at its end and the one before; the RTT is in
/// s.
pub fn linear_step(window: f64, prices: [f64; 2], rtt_s: f64, gains: &super::Gains) -> f64 {
    let [before, price] = prices;
    let (alpha, beta_ts) = (gains.alpha, gains.beta * gains.interval.seconds());
    let theta = 1.0 - (beta_ts + alpha) * price / rtt_s + alpha * before / rtt_s;
    theta * window + beta_ts * window / rtt_s * gains.utility.marginal(window / rtt_s)
}

/// The form over marks.
#[derive(Clone, Debug)]
pub struct ScalablePrice {
    params: Params,
    register: price::Register,
    /// The price; below, the price of the last step.
    price: f64,
    before: f64,
}

impl super::Pricing for ScalablePrice {
    tunes! { derive }

    fn price(&self) -> f64 {
        self.price
    }

    fn hear(&mut self, ack: &Ack, source: &mut Source) {
        if let Feedback::Ecn { congested } = ack.feedback {
            let packets = if ack.recovering { 1 } else { ack.newly_acked.max(1) };
            self.register.push(congested, packets);
        }
        self.price = self.register.price(self.params.phi);
        source.scale = match self.params.form {
            Form::Static => self.params.max_rate.bps() / source.packet_bits * ack.min_rtt.seconds(),
            Form::Exponential | Form::Linear => source.initial,
        };
    }

    fn step(&mut self, ack: &Ack, source: &mut Source) {
        let (price, rtt_s) = (self.price, ack.min_rtt.seconds());
        let before = std::mem::replace(&mut self.before, price);
        let fast = -source.gains.alpha * price / rtt_s;
        match self.params.form {
            Form::Exponential => {
                source.integrate(price, rtt_s);
                source.expect(source.xi + fast);
            }
            Form::Linear => {
                let window = source.expected.max(1.0);
                let next = linear_step(window, [before, price], rtt_s, &source.gains);
                source.expected = next.clamp(1.0, 2.0 * window);
            }
            Form::Static => source.expect(fast),
        }
    }

    fn shared(&self) -> &super::Params {
        &self.params.shared
    }
}

impl ScalablePrice {
    fn derive(&mut self) {
        self.register.resize(self.params.marks as u32);
        self.price = self.register.price(self.params.phi);
    }
}

impl SenderSpec for ScalablePrice {
    type Law = PriceSender<Self>;
    type Params = Params;
    const NAME: &'static str = "scalable-price";
    const TITLE: &'static str =
        "scalable law: answers the price of marks at once, a utility slowly";
    const SOURCE: &'static str = "Paganini, Wang, Low, Doyle, INFOCOM 2003, IV";
    const CODEC: Codec = Codec::Price;
    const ROUTER: &'static str = "price";
    fn new(params: Params, opening: &Opening) -> PriceSender<Self> {
        let register = price::Register::new(params.marks as u32);
        PriceSender::new(Self { params, register, price: 0.0, before: 0.0 }, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, ms};
    use crate::sender::SenderLaw;

    const SECOND: u64 = 1000;

    fn start(params: Params) -> Script<PriceSender<ScalablePrice>> {
        let opening = Opening::new(2.0, 1000);
        let mut flow = Script::new(<ScalablePrice as SenderSpec>::new(params, &opening));
        flow.feedback(Feedback::Ecn { congested: false });
        flow
    }

    /// An ACK a millisecond over these milliseconds, `k` of 31 in a row marked; RTT 50 ms.
    fn run(flow: &mut Script<PriceSender<ScalablePrice>>, times: std::ops::Range<u64>, k: u64) {
        for at in times {
            flow.feedback(Feedback::Ecn { congested: at * k % 31 < k }).ack_at(at, ms(50));
        }
    }

    /// The price of 8 marks in 31, by hand: ln(31 / 23) / ln 1000.
    const EIGHT: f64 = 0.043_210;

    /// Without marks the window grows by beta K = 11.84 packets a second, as the paper reads (22).
    #[test]
    fn an_idle_network_is_approached_linearly() {
        for form in [Form::Exponential, Form::Linear] {
            let mut flow = start(Params { form, ..Params::default() });
            run(&mut flow, 50..20 * SECOND, 0);
            let early = flow.law.window();
            run(&mut flow, 20 * SECOND..40 * SECOND, 0);
            let slope = (flow.law.window() - early) / 20.0;
            assert!((slope - 11.84).abs() < 0.05, "{slope}");
        }
    }

    /// (4): at rest U'(w / d) = q; K log x gives w = K d / q, 57.9 packets.
    #[test]
    fn it_rests_where_marginal_utility_is_the_price() {
        for form in [Form::Exponential, Form::Linear] {
            for (fairness, rate) in [(1.0, 1157.1), (2.0, 760.7), (100.0, 504.2)] {
                let shared = super::super::Params { fairness, ..Default::default() };
                let mut flow = start(Params { form, shared, ..Params::default() });
                run(&mut flow, 50..120 * SECOND, 8);
                let (window, expected) = (flow.law.window(), 0.05 * rate);
                assert!((window - expected).abs() < 0.01 * expected, "{window}, {expected}");
            }
        }
    }

    /// (6): w = d x_max e^(-alpha q / (M d)): 62.5 packets at no price, 45.4 at 8 marks in 31.
    #[test]
    fn the_static_law_is_an_exponential_of_the_price() {
        let params = Params { form: Form::Static, ..Params::default() };
        let mut flow = start(params);
        run(&mut flow, 50..SECOND, 0);
        flow.expect_window(62.5);
        run(&mut flow, SECOND..2 * SECOND, 8);
        let expected = 62.5 * libm::exp(-0.37 * EIGHT / 0.05);
        assert!((flow.law.window() - expected).abs() < 0.01, "{}", flow.law.window());
    }

    /// (21): a price that jumps by q divides the expected window by e^(alpha q / (M d)) at once; the window
    /// follows by a packet an ACK.
    #[test]
    fn a_jump_of_the_price_is_answered_at_once_but_capped() {
        let shared = super::super::Params { bottlenecks: 2.0, ..Default::default() };
        let mut flow = start(Params { shared, ..Params::default() });
        run(&mut flow, 50..60 * SECOND, 0);
        let before = flow.law.window();
        // 8 marked packets of 31, then a step.
        for at in 0..31 {
            let congested = at >= 23;
            flow.feedback(Feedback::Ecn { congested }).ack_at(60 * SECOND, ms(50));
        }
        flow.ack_at(60 * SECOND + 20, ms(50));
        let price = -libm::log1p(-9.0 / 31.0) / libm::log(1000.0);
        let ratio = flow.law.source.expected / before;
        let expected = libm::exp(-0.37 * price / (2.0 * 0.05));
        assert!((ratio - expected).abs() < 0.01, "{ratio}, {expected}");
        assert!((before - flow.law.window()).abs() < 40.0);
        let now = flow.law.window();
        flow.ack_at(60 * SECOND + 21, ms(50)).expect_window(now - 1.0);
    }

    /// (22) against (20) and (21) as the price rises and falls: within 3 per cent.
    #[test]
    fn the_form_without_exponential_is_near_the_other() {
        let mut flows = [Form::Exponential, Form::Linear]
            .map(|form| start(Params { form, ..Params::default() }));
        let mut from = 50;
        for k in [0, 2, 4, 6, 8, 6, 4, 2] {
            for flow in &mut flows {
                run(flow, from..from + 10 * SECOND, k);
            }
            from += 10 * SECOND;
            let [one, two] = [flows[0].law.window(), flows[1].law.window()];
            assert!((one / two - 1.0).abs() < 0.03, "{one}, {two}");
        }
    }

    #[test]
    fn a_loss_halves_and_a_timeout_sends_one_packet() {
        let mut flow = start(Params::default());
        run(&mut flow, 50..60 * SECOND, 0);
        let (window, xi) = (flow.law.window(), flow.law.source.xi);
        flow.loss(window as u32).expect_window(libm::floor(window) / 2.0);
        assert!((flow.law.source.xi - xi - libm::log(0.5)).abs() < 1e-12);
        flow.timeout().expect_window(1.0);
        run(&mut flow, 60 * SECOND..61 * SECOND, 0); // a packet an ACK, to a quarter and what is added
        let regrown = flow.law.window();
        assert!((window / 4.0..window / 4.0 + 30.0).contains(&regrown), "{regrown} of {window}");
    }

    #[test]
    fn it_is_paced_over_the_rtt() {
        let mut flow = start(Params::default());
        assert!(flow.law.pacing_rate().is_none());
        flow.ack_at(50, ms(50)).expect_window(2.0);
        assert_eq!(flow.law.pacing_rate(), Some(BitRate::from_bps(320_000.0)));
    }
}
