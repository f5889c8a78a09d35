//! From a plan and a seed to the simulator's network.

use crate::document::choice::LossSpec;
use crate::network::core::{
    AccessDelay, CoreAccess, CoreGroup, CoreStation, CoreWlan, Network, split,
};
use crate::network::flows::{distribution, packets, start_times, stop_times};
use crate::plan::plans::{GroupPlan, LinkPlan, Plan};
use crate::scenario::Scenario;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_laws::quantities::{Span, Time};
use knee_laws::router::Draw;
use knee_sim::Stream;
use knee_sim::config::{
    AggregateConfig, FlowConfig, Group, GroupId, LinkConfig, LinkId, MediumConfig, NetworkConfig,
    Probe, Route, SourceConfig, StationConfig, StationPeer, StationQueue,
};

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
        media: network.wlans.iter().map(|wlan| medium(network, wlan)).collect(),
        sources: build.sources,
        probes: scenario.probes.iter().map(probe).collect(),
        warmup: Time::ZERO + document.warmup.map_or(Span::ZERO, |warmup| warmup.0),
        end: Time::ZERO + document.duration.0,
    })
}

fn core_link(plan: &Plan, network: &Network, link: usize) -> Result<LinkConfig, String> {
    let core = &network.links[link];
    let LinkPlan { router: choice, buffer } = &plan.links[link];
    Ok(core.options.given(LinkConfig {
        buffer: *buffer,
        router: plan.links[link].build(core, plan.data_bytes)?,
        needs: choice.info().needs,
        measured: core.measured,
        ..LinkConfig::plain(&core.name, core.rate, core.delay)
    }))
}

/// A channel with its stations.
fn medium(network: &Network, wlan: &CoreWlan) -> MediumConfig {
    let station = |station: &CoreStation| {
        let estimates = station.queues.iter().filter_map(|(link, _)| {
            let capacity = network.links[*link].options.capacity?;
            capacity.estimate().filter(|estimate| estimate.passive)
        });
        let queue = |(link, peer): &(usize, StationPeer)| StationQueue {
            link: LinkId(*link as u32),
            peer: *peer,
        };
        StationConfig {
            name: station.name.clone(),
            queues: station.queues.iter().map(queue).collect(),
            rate: station.rate,
            errors: station.errors.map(LossSpec::model),
            survey: estimates.map(|estimate| estimate.params().interval).min(),
            entry: station.entry.map(|link| LinkId(link as u32)),
        }
    };
    MediumConfig {
        name: wlan.name.clone(),
        phy: wlan.phy.clone(),
        stations: wlan.stations.iter().map(station).collect(),
    }
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
            laws.build().map_err(Stopped::Failed)?;
            let laws = laws.clone();
            self.sources.push(SourceConfig {
                group: id,
                name: group.name.clone(),
                law: Box::new(move || laws.build().expect("built once before")),
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
                law: laws.build().map_err(Stopped::Failed)?,
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
            let core = group.way(index);
            let core_rtt = self.network.core_rtt(core);
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
                forward: way(&core.forward, out, to),
                backward: way(&core.backward, back, home),
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
