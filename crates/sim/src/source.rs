//! A traffic source: flows of random size that arrive at random.

use crate::config::{GroupId, SizeDistribution, SourceConfig};
use knee_laws::quantities::{Span, Time};
use knee_laws::registry::Sender;
use knee_path::{Stream, identity};

/// The first hops of a route, forward and backward.
type Ends = (u32, u32);

/// The state of a source.
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
    /// A source before its first flow.
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

    /// The identity of the next flow.
    pub fn next_identity(&mut self) -> u64 {
        self.arrived += 1;
        identity(&self.name, self.arrived - 1)
    }

    /// When the next flow after `now` arrives; `None` after the source's end.
    pub fn next_arrival(&mut self, now: Time) -> Option<Time> {
        let gap = Span::from_seconds(self.stream.exponential(self.mean_gap_s));
        let at = now.max(self.start) + gap;
        (at <= self.stop).then_some(at)
    }

    /// The size of the next flow, in packets.
    pub fn draw_size(&mut self) -> u64 {
        let packets = match self.size {
            SizeDistribution::Fixed(packets) => packets,
            SizeDistribution::Exponential { mean } => self.stream.exponential(mean),
            SizeDistribution::Pareto { mean, shape } => self.stream.pareto(mean, shape),
        };
        libm::ceil(packets).max(1.0) as u64
    }

    /// The route of the next flow.
    pub fn next_route(&mut self) -> Ends {
        let route = self.routes[self.turn];
        self.turn = (self.turn + 1) % self.routes.len();
        route
    }

    /// The law of the next flow.
    pub fn law(&self) -> Sender {
        (self.law)()
    }
}
