//! VCP's router: measures its load factor and tags every departing data packet with its region.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions
//! on Networking 16(6), 2008, III-E.1 and Table I:
//!   R.1 on each arrival     lambda += size
//!   R.2 every t_q           q~ = a q~ + (1 - a) q(t)
//!   R.3 every t_rho         rho = (lambda + kappa_q q~) / (gamma C t_rho)  (1);  lambda = 0
//!   R.4 on each departure   code = max(code of rho, the packet's code)
//! ACKs are served before data, in a queue of their own. q(t) in bytes, both queues together.
//! Before the first measurement the link says low load.

use crate::codecs::{Codec, Load, Wire, load2};
use crate::filters::Ewma;
use crate::params;
use crate::quantities::{BitRate, Span, Time};
use crate::registry::RouterSpec;
use crate::router::{Arrival, Departure, Draw, LinkView, QueueView, RouterLaw, Verdict};

params! {
    /// Upper part of Table I.
    pub struct Params {
        /// Load-factor measurement interval t_rho.
        pub t_rho: Span = Span::from_millis(200), in 0.001, 100.0;
        /// Queue sampling interval t_q.
        pub t_q: Span = Span::from_millis(10), in 0.0001, 10.0;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.98, in 0.1, 1.0;
        /// How fast the steady queue drains, kappa_q.
        pub kappa_q: f64 = 0.5, in 0.0, 100.0;
        /// Weight a of the past in the queue average.
        pub queue_weight: f64 = 0.875, in 0.0, 0.9999;
        /// Load factor at which low load ends.
        pub transition: f64 = 0.8, in 0.01, 1.0;
    }
}

/// (1): traffic and steady queue in bytes over what the link should carry in the interval.
pub fn load_factor(traffic: f64, queue: f64, params: &Params, rate: BitRate) -> f64 {
    (traffic + params.kappa_q * queue) / (params.gamma * rate.bytes_in(params.t_rho))
}

/// The state of a VCP router at one link.
#[derive(Clone, Debug)]
pub struct Vcp {
    params: Params,
    rate: BitRate,
    traffic: u64,
    queue: Ewma,
    sample_at: Time,
    measure_at: Time,
    load_factor: f64,
    load: Load,
}

impl RouterLaw for Vcp {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.traffic += u64::from(arrival.size);
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if departure.data {
            load2::mark(wire, self.load);
        }
        Verdict::Accept
    }

    /// ACKs go first.
    #[inline]
    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        usize::from(arrival.data)
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.sample_at.min(self.measure_at))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if queue.now >= self.sample_at {
            self.queue.update(queue.bytes as f64);
            self.sample_at += self.params.t_q;
        }
        if queue.now >= self.measure_at {
            self.load_factor =
                load_factor(self.traffic as f64, self.queue.value(), &self.params, self.rate);
            self.load = Load::encode(self.load_factor, self.params.transition);
            self.traffic = 0;
            self.measure_at += self.params.t_rho;
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    fn signal(&self) -> f64 {
        self.load_factor
    }
}

impl RouterSpec for Vcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vcp";
    const TITLE: &'static str = "VCP: load factor every 200 ms, in two ECN bits; ACKs first";
    const SOURCE: &'static str = "Xia et al., IEEE/ACM ToN 16(6), 2008, III-E.1";
    const CODEC: Codec = Codec::Load2;
    const ON_DEPARTURE: bool = true;
    const QUEUES: usize = 2;
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            rate: link.rate,
            traffic: 0,
            queue: Ewma::new(params.queue_weight),
            sample_at: Time::ZERO + params.t_q,
            measure_at: Time::ZERO + params.t_rho,
            load_factor: 0.0,
            load: Load::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_factor_of_a_full_link_is_one_over_gamma() {
        // 10 Mbps carry 250 kB in 200 ms.
        let rho = |traffic, queue| {
            load_factor(traffic, queue, &Params::default(), BitRate::from_mbps(10.0))
        };
        assert!((rho(250e3, 0.0) - 1.0 / 0.98).abs() < 1e-12);
        assert!((rho(245e3, 0.0) - 1.0).abs() < 1e-12);
        assert!((rho(195e3, 100e3) - 1.0).abs() < 1e-12); // half of the steady queue counts
    }

    fn router() -> Vcp {
        let link = LinkView {
            rate: BitRate::from_mbps(10.0),
            delay_s: 0.04,
            buffer: crate::quantities::Bytes(100_000),
            packet_bytes: 1000,
        };
        <Vcp as RouterSpec>::new(Params::default(), &link)
    }

    struct NoDraw;
    impl Draw for NoDraw {
        fn uniform(&mut self) -> f64 {
            unreachable!("VCP draws nothing")
        }
    }

    /// Offers so many kilobytes, then runs the clock to the next measurement.
    fn after_interval(router: &mut Vcp, kilobytes: u64) -> Load {
        let queue = QueueView { now: Time::ZERO, packets: 0, bytes: 0 };
        let (mut marks, mut header) = (Codec::Load2.initial(), [0; 4]);
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        for _ in 0..kilobytes {
            let arrival =
                Arrival { queue, idle_since: Some(Time::ZERO), flow: 0, size: 1000, data: true };
            router.on_arrival(&arrival, &mut wire, &mut NoDraw);
        }
        let measured = router.measure_at;
        while let Some(now) = router.tick_at().filter(|now| *now <= measured) {
            router.on_tick(&QueueView { now, packets: 0, bytes: 0 });
        }
        router.on_departure(
            &Departure { queue, from: 0, waited: Span::ZERO, size: 1000, data: true },
            &mut wire,
        );
        Load::from_bits(marks.ecn())
    }

    #[test]
    fn codes_follow_the_measured_load() {
        let mut router = router();
        assert_eq!(after_interval(&mut router, 195), Load::Low); // 195 / 245 = 0.796
        assert_eq!(after_interval(&mut router, 196), Load::High); // 0.8
        assert_eq!(after_interval(&mut router, 244), Load::High);
        assert_eq!(after_interval(&mut router, 245), Load::Over); // 1.0
        assert_eq!(after_interval(&mut router, 0), Load::Low); // counted afresh each interval
        assert_eq!(router.measure_at, Time::ZERO + Span::from_millis(1200));
    }
}
