//! From a plan and a seed to the simulator's network.

use crate::document::choice::{LossSpec, Spread};
use crate::document::format::ArrivalSize;
use crate::network::core::{AccessDelay, CoreAccess, CoreGroup, Network, split};
use crate::plan::plans::{GroupPlan, LinkPlan, Plan};
use crate::scenario::Scenario;
use knee_input::interrupt::{Halt, Interrupt, Stopped};
use knee_input::problem::KeyPath;
use knee_input::quantity::FlowSize;
use knee_laws::params::Refusal;
use knee_laws::quantities::{Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{Draw, LinkView};
use knee_laws::sender::Opening;
use knee_sim::Stream;
use knee_sim::config::{
    AggregateConfig, FlowConfig, Group, GroupId, LinkChange, LinkConfig, LinkId, NetworkConfig,
    Probe, Route, SizeDistribution, SourceConfig,
};

/// Why a law could not be built, though its parameters were checked.
fn refused(refusal: Refusal) -> String {
    format!("a law refused its parameter {}: {:?}", refusal.name, refusal.error)
}

/// Builds every law once, so that nothing is left to go wrong later.
pub(crate) fn check_laws(plan: &Plan, network: &Network, interrupt: Interrupt) -> Result<(), Halt> {
    let fault = |message: String| KeyPath::root().fault(message);
    for index in 0..network.links.len() {
        interrupt.check()?;
        router(plan, network, index).map_err(fault)?;
    }
    for group in &plan.groups {
        interrupt.check()?;
        sender(group).map_err(fault)?;
    }
    Ok(())
}

fn router(plan: &Plan, network: &Network, link: usize) -> Result<Router, String> {
    let core = &network.links[link];
    let LinkPlan { router, buffer } = &plan.links[link];
    let view = LinkView {
        rate: core.rate,
        delay_s: core.delay.seconds(),
        buffer: buffer.room(u64::from(plan.data_bytes)),
        packet_bytes: u32::from(plan.data_bytes),
    };
    router.build(&view).map_err(refused)
}

fn opening(group: &GroupPlan) -> Opening {
    Opening {
        initial_window: group.transport.initial_window,
        packet_bytes: u32::from(group.transport.data_bytes),
        slow_start: group.slow_start.clone(),
    }
}

/// Starts a flow of a group.
pub(crate) fn sender(group: &GroupPlan) -> Result<Sender, String> {
    group.sender.build(&opening(group)).map_err(refused)
}

/// The network of a variant with a seed.
pub(crate) fn network(
    scenario: &Scenario,
    (plan, seed): (&Plan, u64),
    interrupt: Interrupt,
) -> Result<NetworkConfig, Stopped> {
    let network = scenario.network_of(plan);
    let flows: u64 = network.groups.iter().map(|group| group.count).sum();
    let owned = network.groups.iter().filter(|group| group.access.is_some());
    let access = owned.map(|group| 4 * group.count as usize).sum::<usize>();
    let mut links = Vec::with_capacity(network.links.len() + access);
    for link in 0..network.links.len() {
        interrupt.check()?;
        links.push(core_link(plan, network, link).map_err(Stopped::Failed)?);
    }
    let mut build = Build {
        network,
        seed,
        interrupt,
        links,
        flows: Vec::with_capacity(flows as usize),
        aggregates: Vec::new(),
        sources: Vec::new(),
    };
    for (index, (group, laws)) in network.groups.iter().zip(&plan.groups).enumerate() {
        build.group(GroupId(index as u32), group, laws)?;
    }
    let document = &scenario.document;
    let probe = |probe: &crate::document::format::ProbeSpec| Probe {
        quantity: probe.quantity.0,
        interval: probe.interval.0,
    };
    Ok(NetworkConfig {
        seed,
        links: build.links,
        groups: (network.groups.iter().zip(&plan.groups))
            .map(|(core, laws)| Group { name: core.name.clone(), transport: laws.transport })
            .collect(),
        flows: build.flows,
        aggregates: build.aggregates,
        media: Vec::new(),
        sources: build.sources,
        probes: scenario.probes.iter().map(probe).collect(),
        warmup: Time::ZERO + document.warmup.map_or(Span::ZERO, |warmup| warmup.0),
        end: Time::ZERO + document.duration.0,
    })
}

fn core_link(plan: &Plan, network: &Network, link: usize) -> Result<LinkConfig, String> {
    let core = &network.links[link];
    let LinkPlan { router: choice, buffer } = &plan.links[link];
    Ok(LinkConfig {
        name: core.name.clone(),
        rate: core.rate,
        delay: core.delay,
        buffer: *buffer,
        router: router(plan, network, link)?,
        needs: choice.info().needs,
        estimate: None,
        changes: (core.rate_changes.iter())
            .map(|(at, rate)| (*at, LinkChange::Rate(*rate)))
            .collect(),
        changeable: false,
        loss: core.loss.map(LossSpec::model),
        reorder: core.reorder.map(|reorder| knee_sim::config::Reorder {
            probability: reorder.probability.0,
            delay: reorder.delay.0,
        }),
        measured: core.measured,
    })
}

/// A network in the making.
struct Build<'a> {
    network: &'a Network,
    seed: u64,
    interrupt: Interrupt<'a>,
    links: Vec<LinkConfig>,
    flows: Vec<FlowConfig>,
    aggregates: Vec<AggregateConfig>,
    sources: Vec<SourceConfig>,
}

impl Build<'_> {
    /// Adds a group's flows, or the source of its arrivals.
    fn group(&mut self, id: GroupId, group: &CoreGroup, laws: &GroupPlan) -> Result<(), Stopped> {
        let routes = self.routes(group)?;
        let bytes = f64::from(laws.transport.data_bytes);
        if let Some(arrivals) = &group.arrivals {
            if routes.is_empty() {
                return Ok(());
            }
            sender(laws).map_err(Stopped::Failed)?;
            let laws = laws.clone();
            self.sources.push(SourceConfig {
                group: id,
                name: group.name.clone(),
                law: Box::new(move || sender(&laws).expect("built once before")),
                routes,
                arrivals_per_second: arrivals.per_second.0,
                size: distribution(&arrivals.size, bytes),
                start: Time::ZERO + group.start.range(1).0,
                stop: group.stop.as_ref().map_or(Time::NEVER, |stop| Time::ZERO + stop.range(1).0),
            });
            return Ok(());
        }
        let starts = start_times(group, self.seed);
        let stops = stop_times(group, self.seed);
        let aggregates = &self.network.aggregates;
        let carries = aggregates.iter().find(|aggregate| aggregate.group == id.0 as usize);
        for ((route, start), stop) in routes.into_iter().zip(starts).zip(stops) {
            self.interrupt.check()?;
            let flow = FlowConfig {
                group: id,
                law: sender(laws).map_err(Stopped::Failed)?,
                route,
                start,
                stop,
                packets: packets(group.size, bytes).map(|packets| packets as u64),
            };
            match carries {
                None => self.flows.push(flow),
                Some(aggregate) => self.aggregates.push(AggregateConfig {
                    link: LinkId(aggregate.link as u32),
                    flow,
                    overhead: aggregate.overhead,
                }),
            }
        }
        Ok(())
    }

    /// A way for each flow of the group, access links included.
    fn routes(&mut self, group: &CoreGroup) -> Result<Vec<Route>, Stopped> {
        let mut stream = Stream::new(self.seed, &format!("rtt of {}", group.name));
        let core_rtt = self.network.core_rtt(group);
        let way = |core: &[usize], first: Option<LinkId>, last: Option<LinkId>| {
            let mut way = Vec::with_capacity(core.len() + 2);
            way.extend(first);
            way.extend(core.iter().map(|link| LinkId(*link as u32)));
            way.extend(last);
            way
        };
        let mut routes = Vec::with_capacity(group.count as usize);
        for index in 0..group.count {
            self.interrupt.check()?;
            let mut ends = [None; 4];
            if let Some(access) = &group.access {
                let mut uniform = || stream.uniform();
                let delays = match &access.delay {
                    AccessDelay::Rtt(rtt) => split(rtt.value(index, &mut uniform) - core_rtt),
                    AccessDelay::Each(delay) => [delay.value(index, &mut uniform); 4],
                };
                for (end, delay) in ends.iter_mut().zip(delays) {
                    *end = Some(self.access(access, delay));
                }
            }
            let [out, to, back, home] = ends;
            routes.push(Route {
                forward: way(&group.forward, out, to),
                backward: way(&group.backward, back, home),
            });
        }
        Ok(routes)
    }

    /// Adds an access link: it only carries, and has no name.
    fn access(&mut self, access: &CoreAccess, delay: Span) -> LinkId {
        let id = LinkId(self.links.len() as u32);
        self.links.push(LinkConfig::plain("", access.rate, delay));
        id
    }
}

/// When a group's flows start: drawn from the group's own stream, so that no other group matters.
pub(crate) fn start_times(group: &CoreGroup, seed: u64) -> Vec<Time> {
    times(&group.start, group.count, Stream::new(seed, &format!("start of {}", group.name)))
}

/// When they stop, if ever: drawn from another stream of the group.
pub(crate) fn stop_times(group: &CoreGroup, seed: u64) -> Vec<Option<Time>> {
    let Some(stop) = &group.stop else { return vec![None; group.count as usize] };
    let stream = Stream::new(seed, &format!("stop of {}", group.name));
    times(stop, group.count, stream).into_iter().map(Some).collect()
}

fn times(spread: &Spread, count: u64, mut stream: Stream) -> Vec<Time> {
    (0..count).map(|index| Time::ZERO + spread.value(index, &mut || stream.uniform())).collect()
}

/// A size in packets; `None`: endless.
pub(crate) fn packets(size: FlowSize, packet_bytes: f64) -> Option<f64> {
    match size {
        FlowSize::Endless => None,
        FlowSize::Packets(packets) => Some(libm::ceil(packets)),
        FlowSize::Bytes(bytes) => Some(libm::ceil(bytes / packet_bytes)),
    }
}

fn distribution(size: &ArrivalSize, packet_bytes: f64) -> SizeDistribution {
    let mean = |size: &FlowSize| match size {
        FlowSize::Endless => 1.0,
        FlowSize::Packets(packets) => *packets,
        FlowSize::Bytes(bytes) => bytes / packet_bytes,
    };
    match size {
        ArrivalSize::Fixed(size) => SizeDistribution::Fixed(mean(size)),
        ArrivalSize::Exponential(size) => SizeDistribution::Exponential { mean: mean(size) },
        ArrivalSize::Pareto(pareto) => {
            SizeDistribution::Pareto { mean: mean(&pareto.mean), shape: pareto.shape.0 }
        }
    }
}

/// Mean size of an arriving flow in packets.
pub(crate) fn mean_packets(size: &ArrivalSize, packet_bytes: f64) -> f64 {
    match distribution(size, packet_bytes) {
        SizeDistribution::Fixed(mean)
        | SizeDistribution::Exponential { mean }
        | SizeDistribution::Pareto { mean, .. } => mean,
    }
}
