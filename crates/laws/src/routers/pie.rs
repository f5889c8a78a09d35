//! PIE: drops or marks at random, with a probability that brings the queueing delay to a target.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033, 2017; numbers in brackets are its sections.
//! Every t_update, with D the queueing delay in seconds and D' that of the update before:
//!   (1) step = (alpha (D - target) + beta (D - D')) / scale(p)                              (4.2)
//!       but at most 0.02 where p >= 0.1                                                     (5.5)
//!   (2) p = p + step, times 0.98 if D = D' = 0, within [0, 1]                               (4.2)
//!   (3) burst = burst - t_update, at least 0; max_burst if p = 0 and D, D' < target / 2     (4.4)
//! On each arrival, unless burst > 0, or D < target / 2 and p < 0.2, or at most two packets wait:
//!   (4) with probability p: mark if the packet can be marked and p < mark_limit, else drop  (4.1, 5.1)
//! Differs from the RFC: D is backlog over the link's rate, which is known here and not measured (4.3, 5.2); max_burst is set in (3), not on arrivals. Of its options, marking (5.1) and the
//! largest step (5.5) are here; de-randomisation (5.4) and turning on and off (5.3) are not.

use super::verdicts::{congested, happens};
use crate::codecs::Wire;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// PIE's parameters, with the RFC's defaults except for `ecn`, which is an option there.
    pub struct Params {
        /// Target queueing delay, QDELAY_REF.
        pub target: Span = Span::from_millis(15), in 1e-5, 10.0;
        /// Time between two updates, T_UPDATE.
        pub t_update: Span = Span::from_millis(15), in 1e-4, 10.0;
        /// Gain alpha on the distance to the target, per second of delay.
        pub alpha: f64 = 0.125, in 0.0, 100.0;
        /// Gain beta on the change of the delay, per second of delay.
        pub beta: f64 = 1.25, in 0.0, 100.0;
        /// How long no packet is dropped after the queue has been short, MAX_BURST.
        pub max_burst: Span = Span::from_millis(150), in 0.0, 10.0;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
        /// Probability from which even packets that could be marked are dropped.
        pub mark_limit: f64 = 0.1, in 0.0, 1.0;
    }
}

/// Bounds of p, and what (1) divides its gains by below each.
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
const LARGEST_STEP: f64 = 0.02;
const DECAY: f64 = 0.98;

/// (1) and (2): p after an update, from p, this delay and the one before, in seconds.
pub fn control_step(p: f64, delay: f64, before: f64, params: &Params) -> f64 {
    let scale = SCALES.iter().find(|(bound, _)| p < *bound).map_or(1.0, |(_, scale)| *scale);
    let error = params.alpha * (delay - params.target.seconds());
    let step = (error + params.beta * (delay - before)) / scale;
    let step = if p >= 0.1 { step.min(LARGEST_STEP) } else { step };
    let decay = if delay == 0.0 && before == 0.0 { DECAY } else { 1.0 };
    ((p + step) * decay).clamp(0.0, 1.0)
}

/// The state of a PIE router at one link.
#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    rate: BitRate,
    few_bytes: u64,
    p: f64,
    /// D at the last update, in seconds.
    delay: f64,
    /// How long the allowance for bursts has run, or ran when it ended.
    burst_age: Span,
    updates: Interval,
}

impl RouterLaw for Pie {
    tunes! {}

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let light = self.delay < self.params.target.seconds() / 2.0 && self.p < 0.2;
        let spared = self.burst_age < self.params.max_burst
            || light
            || arrival.queue.bytes <= self.few_bytes;
        if spared || !happens(self.p, draw) {
            return Verdict::Accept;
        }
        congested(self.params.ecn && self.p < self.params.mark_limit, wire)
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.updates.end(self.params.t_update))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        let Some(elapsed) = self.updates.next(self.params.t_update, queue.now) else { return };
        let before = self.delay;
        self.delay = queue.bytes as f64 / self.rate.bytes_per_second();
        self.p = control_step(self.p, self.delay, before, &self.params);
        self.burst_age += elapsed;
        if self.p == 0.0 && self.delay.max(before) < self.params.target.seconds() / 2.0 {
            self.burst_age = Span::ZERO;
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    /// p.
    fn signal(&self) -> f64 {
        self.p
    }
}

impl RouterSpec for Pie {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "pie";
    const TITLE: &'static str = "PIE: marks or drops at random, holding a target delay";
    const SOURCE: &'static str = "RFC 8033";
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            rate: link.rate,
            few_bytes: 2 * u64::from(link.packet_bytes),
            p: 0.0,
            delay: 0.0,
            burst_age: Span::ZERO,
            updates: Interval::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{Drawn, NoDraw, expect_marked, link, offer, queue, tick_until};
    use super::*;
    use crate::codecs::Codec;

    fn pie() -> Pie {
        <Pie as RouterSpec>::new(Params::default(), &link())
    }

    #[test]
    fn the_probability_rests_at_the_target() {
        let step = |p| control_step(p, 0.015, 0.015, &Params::default());
        for p in [0.0, 1e-7, 0.003, 0.5, 1.0] {
            assert_eq!(step(p), p);
        }
    }

    /// 1 s of delay too much, 0.2 s more than before: 0.125 + 0.25, scaled by the table of 4.2.
    #[test]
    fn the_gains_follow_the_table() {
        let params = Params::default();
        let scaled =
            [(0.0, 2048.0), (2e-6, 512.0), (2e-5, 128.0), (2e-4, 32.0), (2e-3, 8.0), (0.02, 2.0)];
        for (p, scale) in scaled {
            let step = control_step(p, 1.015, 0.815, &params) - p;
            assert!((step - 0.375 / scale).abs() < 1e-15, "{step} at {p}");
        }
        assert_eq!(control_step(0.5, 1.015, 0.815, &params), 0.52); // 5.5
        assert_eq!(control_step(1.0, 1.015, 0.815, &params), 1.0);
        let idle = control_step(0.5, 0.0, 0.0, &params);
        assert!((idle - 0.98 * (0.5 - 0.125 * 0.015)).abs() < 1e-15);
        assert_eq!(control_step(1e-9, 0.0, 0.0, &params), 0.0);
    }

    #[test]
    fn bursts_are_allowed_for_150_ms() {
        let mut pie = pie();
        tick_until(&mut pie, queue(135, 50));
        assert_eq!(pie.burst_age, Span::from_millis(135));
        pie.p = 1.0;
        assert_eq!(offer(&mut pie, queue(140, 50), Codec::Ecn, &mut NoDraw), Verdict::Accept);
        tick_until(&mut pie, queue(150, 50));
        assert_eq!(offer(&mut pie, queue(150, 50), Codec::Ecn, &mut NoDraw), Verdict::Drop);
        pie.p = 0.0;
        tick_until(&mut pie, queue(165, 7)); // 7 ms, below half of the target, after 50 ms
        assert_eq!((pie.p, pie.burst_age), (0.0, Span::from_millis(165)));
        tick_until(&mut pie, queue(180, 7)); // twice
        assert_eq!(pie.burst_age, Span::ZERO);
    }

    #[test]
    fn the_delay_follows_the_rate() {
        let mut pie = pie();
        pie.on_rate(BitRate::from_mbps(80.0));
        tick_until(&mut pie, queue(15, 50));
        assert_eq!(pie.delay, 0.005);
    }

    #[test]
    fn decisions_at_and_below_their_thresholds() {
        let decide = |p, delay, packets| {
            let mut pie = Pie { p, delay, burst_age: Span::MAX, ..pie() };
            offer(&mut pie, queue(0, packets), Codec::Ecn, &mut Drawn(0.0))
        };
        assert_eq!(decide(0.05, 0.0075, 3), Verdict::Mark);
        assert_eq!(decide(0.05, 0.0075, 2), Verdict::Accept); // two packets
        assert_eq!(decide(0.05, 0.0074, 3), Verdict::Accept); // half of the target
        assert_eq!(decide(0.199, 0.0074, 3), Verdict::Accept);
        assert_eq!(decide(0.2, 0.0074, 3), Verdict::Drop);
        assert_eq!(decide(0.099, 0.02, 3), Verdict::Mark); // mark_limit
        assert_eq!(decide(0.1, 0.02, 3), Verdict::Drop);
        assert_eq!(decide(0.0, 0.02, 3), Verdict::Accept);
    }

    #[test]
    fn marks_come_with_probability_p() {
        let mut pie = Pie { p: 0.07, delay: 0.02, burst_age: Span::MAX, ..pie() };
        expect_marked(&mut pie, queue(0, 20), 0.07);
    }
}
