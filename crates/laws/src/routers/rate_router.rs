//! What the routers of the RCP family share. They measure traffic over control intervals, compute a rate at the end of
//! each, and lower the rates in headers of departing packets to it.
//!
//! The control itself is a [`Control`]: [`rcp`](super::rcp), [`qi_rcp`](super::qi_rcp) and
//! [`piqi_rcp`](super::piqi_rcp). Where the papers are silent, this follows the RCP authors' ns-2
//! code: a link starts with a share of its capacity, the rate is between a hundredth of a packet an RTT and the
//! capacity, and every packet counts as traffic, also ACKs.

use crate::codecs::{Codec, Wire, rate};
use crate::interval::Interval;
use crate::params;
use crate::params::{ParamError, Value};
use crate::quantities::{BitRate, Span, Time};
use crate::router::{Arrival, Departure, Draw, LinkView, QueueView, RouterLaw, Verdict};

/// A law that computes a link's rate at the end of each control interval.
pub trait Control {
    /// A data packet brings its sender's RTT in seconds.
    fn sample(&mut self, rtt: f64, packet: &Stamp);
    /// The rate after an interval, in bytes a second, before it is bounded.
    fn step(&mut self, measured: &Measurement) -> f64;
    /// The RTT that it uses, in seconds.
    fn rtt(&self) -> f64;
    /// Interval and bounds of the rate.
    fn bounds(&self) -> &RateBounds;
    /// Changes a parameter, as [`RouterLaw::tune`].
    ///
    /// # Errors
    /// If there is no such parameter, the value does not fit it, or it is fixed.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
}

/// What else a packet with an RTT brings.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: f64,
    /// Its sender's rate in bytes a second, if known.
    pub sending: Option<f64>,
}

/// The measurement of a control interval T, in bytes and seconds.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// The rate R(t - T) so far.
    pub rate: f64,
    /// Input rate y(t).
    pub input: f64,
    /// Queue q(t).
    pub queue: f64,
    /// Capacity C.
    pub capacity: f64,
}

params! {
    /// The bounds of a link's rate, and its value at the start.
    pub struct RateBounds {
        /// Control interval T.
        pub interval: Span = Span::from_millis(10), in 0.0001, 10.0;
        /// The RTT d or D before any RTT is known.
        pub initial_rtt: Span = Span::from_millis(200), in 0.001, 10.0 => fixed;
        /// The rate at the start, as a share of the capacity.
        pub initial_rate: f64 = 0.05, in 0.0001, 1.0 => fixed;
        /// The least rate, in packets each RTT d or D.
        pub min_packets: f64 = 0.01, in 0.0001, 100.0;
    }
}

/// The state of such a router at a link.
#[derive(Clone, Debug)]
pub struct RateRouter<C> {
    control: C,
    capacity: f64,
    packet_bytes: f64,
    rate: f64,
    traffic: u64,
    /// Control intervals that have ended.
    ended: u64,
    interval: Interval,
}

impl<C: Control> RateRouter<C> {
    /// A link before its first measurement.
    pub fn new(control: C, link: &LinkView) -> Self {
        let capacity = link.rate.bytes_per_second();
        Self {
            rate: control.bounds().initial_rate * capacity,
            control,
            capacity,
            packet_bytes: f64::from(link.packet_bytes),
            traffic: 0,
            ended: 0,
            interval: Interval::default(),
        }
    }

    /// The rate that it writes, in bytes a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Its control.
    pub fn control(&self) -> &C {
        &self.control
    }
}

impl<C: Control> RouterLaw for RateRouter<C> {
    fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.traffic += u64::from(arrival.size);
        if arrival.data
            && wire.marks.codec() == Codec::Rate
            && let Some(rtt) = rate::rtt_s(wire.header)
        {
            let size = f64::from(arrival.size);
            self.control.sample(rtt, &Stamp { size, sending: rate::sending(wire.header) });
        }
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if departure.data && wire.marks.codec() == Codec::Rate {
            rate::mark(wire.header, self.rate, self.ended);
        }
        Verdict::Accept
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.interval.end(self.control.bounds().interval))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        let length = self.control.bounds().interval;
        let Some(elapsed) = self.interval.next(length, queue.now) else { return };
        let next = self.control.step(&Measurement {
            rate: self.rate,
            input: self.traffic as f64 / elapsed.seconds(),
            queue: queue.bytes as f64,
            capacity: self.capacity,
        });
        let least = self.control.bounds().min_packets * self.packet_bytes / self.control.rtt();
        self.rate = next.max(least).min(self.capacity);
        self.traffic = 0;
        self.ended += 1;
    }

    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.control.tune(name, value)
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.capacity = rate.bytes_per_second();
        self.rate = self.rate.min(self.capacity);
    }

    /// The rate over the link's.
    fn signal(&self) -> f64 {
        self.rate / self.capacity
    }
}
