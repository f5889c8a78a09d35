//! Adaptive RED: RED that adapts max_p until the average queue is half-way between its thresholds.
//!
//! S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", ICSI, 2001; [`super::red`] does the rest. Every interval, the
//! average avg in the unit of the thresholds:
//!   (1) avg > min + 0.6 (max - min):  max_p = max_p + min(alpha, max_p / 4)
//!   (2) avg < min + 0.4 (max - min):  max_p = beta max_p
//!   (3) max_p within [bottom, top]
//! The paper's automatic parameters are red's: thresholds from a target delay, max = 3 min, the queue
//! weight 1 - exp(-1 / packets a second). Gentle and `wait` as red's defaults.
//! From ns-2, where the paper is silent: max_p starts at 0.1. Differs from ns-2: updates happen at the end of the
//! interval, not at the first arrival after it, and only if packets have arrived since the last update, since
//! RED's average does not change without arrivals; max_p is clamped to its range.

use super::red;
use crate::codecs::Wire;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// Adaptive RED's parameters: the paper's, and those of RED that it uses.
    pub struct Params {
        /// Time between two updates of max_p.
        pub interval: Span = Span::from_millis(500), in 0.001, 100.0;
        /// Largest step alpha of max_p up.
        pub increment: f64 = 0.01, in 0.0, 1.0;
        /// Factor beta of max_p down.
        pub decrease: f64 = 0.9, in 0.01, 1.0;
        /// Least max_p.
        pub bottom: f64 = 0.01, in 0.0001, 0.1;
        /// Largest max_p.
        pub top: f64 = 0.5, in 0.1, 1.0;
        /// max_p at the start.
        pub max_p: f64 = 0.1, in 0.0001, 1.0 => fixed;
        /// Weight of a new sample in the average; 0: 1 - exp(-1 / packets a second).
        pub queue_weight: f64 = 0.0, in 0.0, 1.0;
        with thresholds: red::Thresholds;
        with queue: red::Queue;
    }
}

impl Params {
    /// RED's parameters, with this max_p.
    fn red(&self, max_p: f64) -> red::Params {
        let Self { thresholds, queue, queue_weight, .. } = *self;
        let spread = red::Spread { queue_weight, ..red::Spread::default() };
        red::Params { max_p, thresholds, spread, queue, ..red::Params::default() }
    }
}

/// (1) to (3): max_p after an update at this average queue.
pub fn control_step(max_p: f64, average: f64, settings: &red::Settings, params: &Params) -> f64 {
    let place = (average - settings.min) / (settings.max - settings.min);
    let adapted = if place > 0.6 {
        max_p + params.increment.min(max_p / 4.0)
    } else if place < 0.4 {
        max_p * params.decrease
    } else {
        max_p
    };
    adapted.clamp(params.bottom, params.top)
}

/// The state of an Adaptive RED router at one link.
#[derive(Clone, Debug)]
pub struct Ared {
    params: Params,
    red: red::Red,
    arrivals: bool,
    updates: Interval,
}

impl Ared {
    /// Changes the parameters.
    pub fn set(&mut self, params: Params) {
        self.params = params;
        self.derive();
    }

    fn derive(&mut self) {
        let max_p = *self.red.max_p_mut();
        self.red.set(self.params.red(max_p));
    }
}

impl RouterLaw for Ared {
    tunes! { derive }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.arrivals = true;
        self.red.on_arrival(arrival, wire, draw)
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.updates.end(self.params.interval))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if self.updates.next(self.params.interval, queue.now).is_none() {
            return;
        }
        if self.arrivals {
            let (average, settings) = (self.red.average(), self.red.settings());
            let max_p = self.red.max_p_mut();
            *max_p = control_step(*max_p, average, &settings, &self.params);
        }
        self.arrivals = false;
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.red.on_rate(rate);
    }

    /// p_b.
    fn signal(&self) -> f64 {
        self.red.signal()
    }
}

impl RouterSpec for Ared {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "ared";
    const TITLE: &'static str = "Adaptive RED: RED that adapts max_p to hold its target queue";
    const SOURCE: &'static str = "Floyd, Gummadi, Shenker, ICSI 2001; ns-2";
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            red: <red::Red as RouterSpec>::new(params.red(params.max_p), link),
            arrivals: false,
            updates: Interval::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{link, offer, queue, tick_until};
    use super::*;
    use crate::codecs::Codec;
    use crate::params::{ParamError, Value};
    use crate::quantities::Bytes;
    use crate::script::Random;

    /// Thresholds 5 and 15 packets of 1000 bytes: the band is 9 to 11.
    fn params() -> Params {
        Params {
            queue_weight: 1.0,
            thresholds: red::Thresholds { min_threshold: 5.0, max_threshold: 15.0 },
            queue: red::Queue { mean_packet_size: Bytes(1000), ..red::Queue::default() },
            ..Params::default()
        }
    }

    #[test]
    fn max_p_is_raised_above_the_band_and_lowered_below() {
        let settings = red::Settings::new(&params().red(0.1), BitRate::from_mbps(8.0), 0.02);
        let step = |max_p, average| control_step(max_p, average, &settings, &params());
        assert_eq!([9_000.0, 11_000.0].map(|average| step(0.1, average)), [0.1, 0.1]);
        assert!((step(0.1, 8_999.0) - 0.09).abs() < 1e-12);
        assert!((step(0.1, 11_001.0) - 0.11).abs() < 1e-12);
        assert!((step(0.02, 11_001.0) - 0.025).abs() < 1e-12); // a quarter of it
        assert_eq!([step(0.495, 2e4), step(0.0105, 0.0)], [0.5, 0.01]);
    }

    #[test]
    fn the_paper_s_automatic_parameters() {
        // 37,500 packets of 500 bytes a second: 5 ms are 187.5, half of them is min.
        let settings =
            red::Settings::new(&Params::default().red(0.1), BitRate::from_mbps(150.0), 0.0);
        assert_eq!((settings.min, settings.max), (46_875.0, 140_625.0));
        assert!((settings.weight - (1.0 - libm::exp(-1.0 / 37_500.0))).abs() < 1e-12);
        let mut law = <Ared as RouterSpec>::new(Params::default(), &link());
        assert_eq!(law.red.settings().min, 2_500.0); // five packets
        law.on_rate(BitRate::from_mbps(150.0));
        assert_eq!(law.red.settings().min, 46_875.0);
    }

    #[test]
    fn red_s_parameters_are_passed_on() {
        let red = params().red(0.3);
        assert_eq!((red.max_p, red.spread.queue_weight), (0.3, 1.0));
        assert_eq!((red.thresholds, red.queue), (params().thresholds, params().queue));
    }

    #[test]
    fn max_p_stays_where_it_is_when_a_parameter_changes() {
        let mut law = <Ared as RouterSpec>::new(params(), &link());
        *law.red.max_p_mut() = 0.2;
        law.tune("max_threshold", &Value::Number(25.0)).expect("a parameter");
        assert_eq!((*law.red.max_p_mut(), law.red.settings().max), (0.2, 25_000.0));
        assert_eq!(law.tune("max_p", &Value::Number(0.5)), Err(ParamError::Fixed));
    }

    #[test]
    fn max_p_follows_the_queue_while_packets_arrive() {
        let mut law = <Ared as RouterSpec>::new(params(), &link());
        let after = |law: &mut Ared, ms, packets| {
            offer(law, queue(ms, packets), Codec::Ecn, &mut Random(1));
            tick_until(law, queue(ms + 500, packets));
            *law.red.max_p_mut()
        };
        assert!((after(&mut law, 0, 14) - 0.11).abs() < 1e-12);
        assert!((after(&mut law, 500, 14) - 0.12).abs() < 1e-12);
        assert!((after(&mut law, 1000, 10) - 0.12).abs() < 1e-12);
        assert!((after(&mut law, 1500, 2) - 0.108).abs() < 1e-12);
        tick_until(&mut law, queue(60_000, 0)); // no packet arrives
        assert!((*law.red.max_p_mut() - 0.108).abs() < 1e-12);
    }
}
