//! The scalable law over queueing delay, which needs nothing of routers.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003, VI. The price q is the RTT less the least RTT d. Windows in packets:
//!   (27) xi <- xi + beta (K / w - q / (d + q)) Ts,  K / w being U'(w / (d + q)) / (d + q) for K log x
//!   (28) w = w_m e^xi (d / (d + q))^(alpha / M),  w_m the initial window
//! (25) has the rate where (28) has the window. With w = x (d + q) the exponent for the window is
//! alpha / M - 1; `exponent` rate takes that. (28) as it stands, the default, makes rates answer the price as
//! with alpha + M, 1.37 for section V's numbers, still below pi/2.
//! The rest is as in [`price`](super).

use super::{Source, source_params};
use crate::choices;
use crate::codecs::Codec;
use crate::quantities::{BitRate, Span};
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};

choices! {
    /// What the power of the RTTs' ratio gives.
    pub enum Exponent {
        /// The window, (28).
        Window = "window",
        /// The rate, (25).
        Rate = "rate",
    }
}

source_params! {
    /// The source's parameters, as in section V.
    pub struct Params {
        /// Is (d / (d + q))^(alpha / M) of the window (28) or of the rate (25)?
        pub exponent: Exponent = Exponent::Window;
    }
}

/// The state of a source.
#[derive(Clone, Debug)]
pub struct ScalableDelay {
    source: Source,
    exponent: Exponent,
    /// The queueing delay, in s.
    price: f64,
}

impl ScalableDelay {
    /// Starts with the initial window.
    pub fn new(params: Params, opening: &Opening) -> Self {
        let source = Source::new(params.gains(), opening);
        Self { source, exponent: params.exponent, price: 0.0 }
    }
}

impl SenderLaw for ScalableDelay {
    fn on_ack(&mut self, ack: &Ack) {
        let (base_s, rtt_s) = (ack.min_rtt.seconds(), ack.rtt.max(ack.min_rtt).seconds());
        let price = rtt_s - base_s;
        self.price = price;
        let exponent = self.exponent;
        self.source.on_ack(ack, |source| {
            let power = match exponent {
                Exponent::Window => source.gains.alpha,
                Exponent::Rate => source.gains.alpha - 1.0,
            };
            source.integrate(price, rtt_s);
            source.expect(source.xi + power * libm::log(base_s / rtt_s));
        });
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

    fn pacing_rate(&self) -> Option<BitRate> {
        self.source.pacing_rate()
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("price", self.price);
        self.source.observe(show);
    }
}

impl SenderSpec for ScalableDelay {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "scalable-delay";
    const TITLE: &'static str = "scalable law: fast by the queueing delay, slowly to a utility";
    const SOURCE: &'static str = "Paganini, Wang, Low, Doyle, INFOCOM 2003, VI";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Bottleneck;
    use crate::script::ms;

    fn law(params: Params) -> ScalableDelay {
        ScalableDelay::new(params, &Opening::new(2.0, 1000))
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
