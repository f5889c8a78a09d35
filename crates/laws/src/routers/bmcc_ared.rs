//! BMCC's router for mixed traffic: ADPM as in BMCC, but Adaptive RED decides which packets get (11) or are dropped.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 5.4.2: [`super::bmcc`]'s load factor and (01) marks,
//! [`super::ared`]'s marks and drops, so that TCP and BMCC flows are told of congestion equally often.
//! BMCC senders need `marked_cuts`. Adaptive RED's other parameters are at their defaults.

use super::ared::{self, Ared};
use super::bmcc::{self, Meter};
use super::red;
use crate::codecs::adpm::Marker;
use crate::codecs::{Codec, Wire};
use crate::quantities::{BitRate, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};

params! {
    /// BMCC's parameters, and those of Adaptive RED that it uses.
    pub struct Params {
        with load: bmcc::Params;
        with queue: red::Queue;
    }
}

impl Params {
    /// Adaptive RED's parameters.
    fn ared(&self) -> ared::Params {
        ared::Params { queue: self.queue, ..ared::Params::default() }
    }
}

/// The state of the router at one link.
#[derive(Clone, Debug)]
pub struct BmccAred {
    params: Params,
    meter: Meter,
    marker: Marker,
    red: Ared,
}

impl BmccAred {
    fn derive(&mut self) {
        self.meter.set(self.params.load);
        self.red.set(self.params.ared());
    }
}

impl RouterLaw for BmccAred {
    tunes! { derive }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.meter.count(arrival.size);
        self.red.on_arrival(arrival, wire, draw)
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if departure.data {
            self.marker.mark(wire);
        }
        Verdict::Accept
    }

    #[inline]
    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        usize::from(arrival.data || !self.params.load.acks_first)
    }

    fn tick_at(&self) -> Option<Time> {
        let red = self.red.tick_at().unwrap_or(Time::NEVER);
        Some(self.meter.tick_at().min(red))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        self.red.on_tick(queue);
        if let Some(load) = self.meter.tick(queue) {
            self.marker.measure(load);
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.meter.set_rate(rate);
        self.red.on_rate(rate);
    }

    fn signal(&self) -> f64 {
        self.marker.load()
    }
}

impl RouterSpec for BmccAred {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "bmcc-ared";
    const TITLE: &'static str = "BMCC for mixed traffic: ADPM's load factor, Adaptive RED's marks";
    const SOURCE: &'static str = "Qazi, PhD dissertation, 2010, 5.4.2";
    const CODEC: Codec = Codec::Adpm;
    const NEEDS: Needs = Needs { queues: 2, ..Needs::DEPARTURES };
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            meter: Meter::new(params.load, link.rate),
            marker: Marker::default(),
            red: <Ared as RouterSpec>::new(params.ared(), link),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{link, offer, queue};
    use super::*;
    use crate::codecs::adpm::{Map, Overload, write};
    use crate::codecs::ecn;
    use crate::quantities::Span;
    use crate::script::Random;

    fn law(params: Params) -> BmccAred {
        <BmccAred as RouterSpec>::new(params, &link())
    }

    /// The same queue gives the same share of marks to BMCC and to RFC 3168.
    #[test]
    fn who_sees_congestion_is_red_s_affair() {
        let marked = |codec| {
            let mut random = Random(1);
            let queue_params = red::Queue { mark_limit: 1.0, ..red::Queue::default() };
            let mut law = law(Params { queue: queue_params, ..Params::default() });
            let seen = (0..20_000).map(|_| offer(&mut law, queue(0, 6), codec, &mut random));
            seen.filter(|verdict| *verdict == Verdict::Mark).count()
        };
        assert!(marked(Codec::Ecn) > 100);
        assert_eq!(marked(Codec::Adpm), marked(Codec::Ecn));
    }

    #[test]
    fn overload_without_red_s_mark_stays_adpm_s() {
        let mut law = law(Params::default());
        for _ in 0..500 {
            offer(&mut law, queue(0, 0), Codec::Adpm, &mut Random(1));
        }
        while let Some(now) = law.tick_at().filter(|at| *at <= queue(200, 0).now) {
            law.on_tick(&QueueView { now, ..queue(0, 0) });
        }
        assert!(law.signal() > 2.0);
        let mut depart = |before: u8| {
            let mut header = write(65_535, Map::default(), Overload::Apart);
            let mut marks = Codec::Adpm.initial();
            marks.set_ecn(before);
            let queue = queue(200, 0);
            let departure =
                Departure { queue, from: 1, waited: Span::ZERO, size: 1000, data: true };
            law.on_departure(&departure, &mut Wire { marks: &mut marks, header: &mut header });
            marks.ecn()
        };
        assert_eq!([depart(ecn::CAPABLE), depart(ecn::CONGESTED)], [0b01, ecn::CONGESTED]);
    }
}
