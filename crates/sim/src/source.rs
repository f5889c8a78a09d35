//! A traffic source: flows of random size that arrive at random.

use crate::config::{GroupId, SizeDistribution, SourceConfig};
use knee_laws::quantities::{Span, Time};
use knee_laws::registry::Sender;
use knee_path::{Stream, identity};

/// The first hops of a route, there and back.
type Ends = (u32, u32);

/// A source in motion.
pub struct Source {
    pub group: GroupId,
    law: Box<dyn Fn() -> Sender + Send>,
    routes: Vec<Ends>,
    turn: usize,
    mean_gap_s: f64,
    size: SizeDistribution,
    start: Time,
    stop: Time,
    stream: Stream,
    name: String,
    arrived: u64,
}

impl Source {
    /// A source that has not spoken yet.
    pub fn new(config: SourceConfig, routes: Vec<Ends>, seed: u64) -> Self {
        Self {
            group: config.group,
            stream: Stream::new(seed, &config.name),
            law: config.law,
            routes,
            turn: 0,
            mean_gap_s: 1.0 / config.arrivals_per_second,
            size: config.size,
            start: config.start,
            stop: config.stop,
            name: config.name,
            arrived: 0,
        }
    }

    /// The identity of the flow that arrives.
    pub fn next_identity(&mut self) -> u64 {
        self.arrived += 1;
        identity(&self.name, self.arrived - 1)
    }

    /// When the next flow arrives after `now`; none after the source's end.
    pub fn next_arrival(&mut self, now: Time) -> Option<Time> {
        let gap = Span::from_seconds(self.stream.exponential(self.mean_gap_s));
        let at = now.max(self.start) + gap;
        (at <= self.stop).then_some(at)
    }

    /// The size of the flow that arrives, in packets.
    pub fn draw_size(&mut self) -> u64 {
        let packets = match self.size {
            SizeDistribution::Fixed(packets) => packets,
            SizeDistribution::Exponential { mean } => self.stream.exponential(mean),
            SizeDistribution::Pareto { mean, shape } => self.stream.pareto(mean, shape),
        };
        libm::ceil(packets).max(1.0) as u64
    }

    /// The way that it takes.
    pub fn next_route(&mut self) -> Ends {
        let route = self.routes[self.turn];
        self.turn = (self.turn + 1) % self.routes.len();
        route
    }

    /// Its law.
    pub fn law(&self) -> Sender {
        (self.law)()
    }
}
