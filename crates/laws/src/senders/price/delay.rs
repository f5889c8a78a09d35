//! The scalable law over queueing delay, which needs no feedback of routers.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003, VI. The price q is the RTT less the least RTT d. Windows in packets:
//!   (27) xi <- xi + beta (K / w - q / (d + q)) Ts,  K / w being U'(w / (d + q)) / (d + q) for K log x
//!   (28) w = w_m e^xi (d / (d + q))^(alpha / M),  w_m the initial window
//! (25) has the rate in place of the window of (28). With w = x (d + q), the exponent for the window is
//! alpha / M - 1; `exponent = "rate"` takes that. With (28), the default, rates answer the price as with alpha + M in
//! place of alpha: 1.37 for section V's numbers, still below pi/2.
//! The rest is as in [`price`](super).

use super::{PriceSender, Pricing, Source};
use crate::codecs::Codec;
use crate::sender::{Ack, Opening, SenderSpec};
use crate::{choices, params, tunes};

choices! {
    /// What (d / (d + q))^(alpha / M) gives.
    pub enum Exponent {
        /// The window, (28).
        Window = "window",
        /// The rate, (25).
        Rate = "rate",
    }
}

params! {
    /// The source's parameters, as in section V.
    pub struct Params {
        /// Is (d / (d + q))^(alpha / M) of the window (28) or of the rate (25)?
        pub exponent: Exponent = Exponent::Window;
        with shared: super::Params;
    }
}

/// The form over queueing delay.
#[derive(Clone, Debug)]
pub struct ScalableDelay {
    params: Params,
    /// The queueing delay, in s.
    price: f64,
}

impl Pricing for ScalableDelay {
    tunes! {}

    fn price(&self) -> f64 {
        self.price
    }

    fn hear(&mut self, ack: &Ack, _: &mut Source) {
        self.price = ack.rtt.max(ack.min_rtt).seconds() - ack.min_rtt.seconds();
    }

    fn step(&mut self, ack: &Ack, source: &mut Source) {
        let (base_s, rtt_s) = (ack.min_rtt.seconds(), ack.rtt.max(ack.min_rtt).seconds());
        let power = match self.params.exponent {
            Exponent::Window => source.gains.alpha,
            Exponent::Rate => source.gains.alpha - 1.0,
        };
        source.integrate(self.price, rtt_s);
        source.expect(source.xi + power * libm::log(base_s / rtt_s));
    }

    fn shared(&self) -> &super::Params {
        &self.params.shared
    }
}

impl SenderSpec for ScalableDelay {
    type Law = PriceSender<Self>;
    type Params = Params;
    const NAME: &'static str = "scalable-delay";
    const TITLE: &'static str = "scalable law: answers queueing delay at once, a utility slowly";
    const SOURCE: &'static str = "Paganini, Wang, Low, Doyle, INFOCOM 2003, VI";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, opening: &Opening) -> PriceSender<Self> {
        PriceSender::new(Self { params, price: 0.0 }, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Bottleneck;
    use crate::script::ms;

    fn law(params: Params) -> PriceSender<ScalableDelay> {
        <ScalableDelay as SenderSpec>::new(params, &Opening::new(2.0, 1000))
    }

    /// U'(x) = K / x = q: whatever the rate, K packets wait; 50.
    #[test]
    fn alone_it_keeps_k_packets_in_the_queue() {
        for exponent in [Exponent::Window, Exponent::Rate] {
            for (rate, rtt) in [(1000.0, 100), (5000.0, 40)] {
                let mut law = law(Params { exponent, ..Params::default() });
                let mut path = Bottleneck::new(rate, ms(rtt));
                for _ in 0..3000 {
                    path.round(&mut law);
                }
                let queue = path.round(&mut law) - rate * rtt as f64 / 1e3;
                assert!((49.0..=51.5).contains(&queue), "{queue} at {rate}");
            }
        }
    }
}
