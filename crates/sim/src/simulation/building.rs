//! Builds a network.

use super::{END, Simulation};
use crate::agenda::{Agenda, Event, Kind};
use crate::config::{FlowConfig, GroupId, LinkId, NetworkConfig, Route};
use crate::flow::{Flow, MAX_PACKETS, end_of};
use crate::link::{Link, Service};
use crate::medium::Medium;
use crate::medium::station::Station;
use crate::numbering;
use crate::receiver::Receiver;
use crate::report::Series;
use crate::source::Source;
use knee_laws::quantities::Time;
use knee_laws::registry::Sender;
use knee_path::identity;

impl Simulation {
    /// Builds the network. The caller has checked the configuration.
    pub fn new(config: NetworkConfig) -> Self {
        Self::build(config, &|| false).expect("nothing stops it")
    }

    /// Builds the network. `stop` is called for every link and flow; if it returns true, there is none.
    pub fn build(mut config: NetworkConfig, stop: &dyn Fn() -> bool) -> Option<Self> {
        let numbering = numbering::order(&mut config);
        let configured = config.flows.len() + config.aggregates.len();
        let mut network = Self {
            now: Time::ZERO,
            agenda: Agenda::default(),
            links: Vec::with_capacity(config.links.len()),
            telling: Vec::new(),
            hops: Vec::new(),
            flows: Vec::with_capacity(configured),
            receivers: Vec::with_capacity(configured),
            groups: config.groups.iter().map(|group| group.transport).collect(),
            numbering,
            sources: Vec::new(),
            aggregates: Vec::with_capacity(config.aggregates.len()),
            media: config.media.iter().map(Medium::new).collect(),
            stations: Vec::new(),
            entries: Vec::new(),
            carriers: config.flows.len() as u32..configured as u32,
            free: Vec::new(),
            configured,
            joined: Vec::new(),
            members: config.groups.iter().map(|group| (group.name.clone(), 0)).collect(),
            arrived: 0,
            done: Vec::new(),
            probes: config.probes.clone(),
            series: Series::default(),
            probed: vec![0; configured],
            warmup: config.warmup,
            end: config.end,
            seed: config.seed,
            left: 0,
            cut: None,
            packets: 0,
            failure: None,
        };
        network.agenda.schedule(config.warmup, Event::new(Kind::Warmup, 0));
        let mut servers = vec![(Service::Own, 0); config.links.len()];
        for (index, aggregate) in (0..).zip(&config.aggregates) {
            servers[aggregate.link.0 as usize] = (Service::Aggregate, index);
        }
        network.add_stations(&config, &mut servers);
        for ((index, link), (service, server)) in (0..).zip(config.links).zip(servers) {
            let link = match service {
                Service::Own => Link::new(link, config.seed),
                Service::Aggregate => Link::ingress(link, config.seed, server),
                Service::Medium => Link::of_station(link, config.seed, server),
            };
            network.schedule_some(link.tick_at(), Kind::Tick, index);
            network.schedule_some(link.change_at(), Kind::Change, index);
            network.links.push(link);
            if stop() {
                return None;
            }
        }
        for (slot, flow) in (0..).zip(config.flows) {
            network.add_flow(slot, flow);
            if stop() {
                return None;
            }
        }
        for aggregate in config.aggregates {
            network.add_aggregate(aggregate);
        }
        network.number_flows();
        for (index, source) in (0..).zip(config.sources) {
            let routes = source.routes.iter().map(|route| network.add_route(route)).collect();
            let mut source = Source::new(source, routes, config.seed);
            network.schedule_some(source.next_arrival(Time::ZERO), Kind::Arrival, index);
            network.sources.push(source);
        }
        network.find_known_ahead();
        for index in 0..network.probes.len() {
            let at = Time::ZERO + network.probes[index].interval;
            network.agenda.schedule(at, Event::new(Kind::Probe, index as u32));
        }
        Some(network)
    }

    /// Adds the stations of shared channels. Notes in `servers` which links they serve.
    fn add_stations(&mut self, config: &NetworkConfig, servers: &mut [(Service, u32)]) {
        if !config.media.is_empty() {
            self.entries = vec![END; config.links.len()];
        }
        for (medium, of) in (0..).zip(&config.media) {
            let first = self.stations.len() as u32;
            for (place, station) in (first..).zip(&of.stations) {
                for queue in &station.queues {
                    servers[queue.link.0 as usize] = (Service::Medium, place);
                }
                if let Some(entry) = station.entry {
                    self.entries[entry.0 as usize] = place;
                }
                self.stations.push(Station::new(station, (medium, first), config.seed));
            }
        }
    }

    pub(super) fn add_flow(&mut self, slot: u32, flow: FlowConfig) {
        let (forward, backward) = self.add_route(&flow.route);
        self.place(slot, flow.law, flow.group);
        let placed = &mut self.flows[slot as usize];
        placed.first_hop = forward;
        self.receivers[slot as usize].first_hop = backward;
        let first = self.groups[flow.group.0 as usize].first_data();
        placed.limit = flow.packets.map_or(MAX_PACKETS, |packets| end_of(packets, first));
        placed.start = flow.start;
        placed.stop = flow.stop.unwrap_or(Time::NEVER);
        self.agenda.schedule(flow.start, Event::new(Kind::Start, slot));
        self.schedule_some(flow.stop, Kind::Stop, slot);
    }

    /// Gives every flow its number in reports, and the identity that follows from its group's name.
    fn number_flows(&mut self) {
        for (number, slot) in (0..).zip(&self.numbering.flows) {
            self.flows[*slot as usize].number = number;
        }
        self.telling = (0..)
            .zip(&self.links)
            .filter(|(_, link)| link.tells_flows())
            .map(|(index, _)| index)
            .collect();
        for slot in 0..self.flows.len() {
            let identity = self.next_member(self.flows[slot].group);
            self.name_flow(slot as u32, identity);
        }
    }

    /// The identity of the next flow of a group.
    pub(super) fn next_member(&mut self, group: GroupId) -> u64 {
        let (name, members) = &mut self.members[group.0 as usize];
        *members += 1;
        identity(name, *members - 1)
    }

    /// Tells a flow its identity, and also the links whose laws tell flows apart.
    pub(super) fn name_flow(&mut self, slot: u32, identity: u64) {
        self.flows[slot as usize].identity = identity;
        for link in &self.telling {
            self.links[*link as usize].name_flow(slot, identity as u32);
        }
    }

    pub(super) fn add_route(&mut self, route: &Route) -> (u32, u32) {
        let mut add = |links: &[LinkId]| {
            let first = self.hops.len() as u32;
            self.hops.extend(links.iter().map(|link| link.0));
            self.hops.push(END);
            first
        };
        (add(&route.forward), add(&route.backward))
    }

    /// Finds the plain links that are fed by one other link only.
    fn find_known_ahead(&mut self) {
        const NOBODY: u32 = END - 1;
        const SEVERAL: u32 = END - 2;
        let mut feeders = vec![NOBODY; self.links.len()];
        let mut before = END;
        for &hop in &self.hops {
            if hop != END {
                let feeder = &mut feeders[hop as usize];
                *feeder = if *feeder == NOBODY || *feeder == before { before } else { SEVERAL };
            }
            before = hop;
        }
        for (index, feeder) in feeders.into_iter().enumerate() {
            // The first link of a route is fed by an endpoint, for which END stands.
            let keeps_order = |feeder: &Link| feeder.service == Service::Own && !feeder.reorders();
            let fed = self.links.get(feeder as usize).is_some_and(keeps_order);
            let link = &mut self.links[index];
            link.known_ahead = link.is_plain() && fed;
        }
    }

    /// Puts a flow that has not started into a slot.
    pub(super) fn place(&mut self, slot: u32, law: Sender, group: GroupId) {
        let options = &self.groups[group.0 as usize];
        let flow = Flow::new(law, group, options.codec);
        let receiver = Receiver::new(group, options);
        if slot as usize == self.flows.len() {
            self.flows.push(flow);
            self.receivers.push(receiver);
        } else {
            self.flows[slot as usize] = flow;
            self.receivers[slot as usize] = receiver;
        }
    }
}
