//! The order in which a network keeps its components. It does not depend on the order of the description.
//!
//! Simultaneous events of one kind happen in this order. It follows from the components' names. So an idle
//! component, or one that is described earlier or later, changes no result:
//! - links in order of name, then links without a name, in the order in which routes use them;
//! - flows in order of their group's name, then as described;
//! - sources in order of name.

use crate::config::{FlowConfig, LinkId, NetworkConfig, Route, StationPeer};

/// Where each component of a description is kept.
#[derive(Debug, Default)]
pub struct Numbering {
    /// The index of each link.
    pub links: Vec<u32>,
    /// The slot of each flow. Flows that carry aggregates come last.
    pub flows: Vec<u32>,
    /// The index of each shared channel, and of each station in the order of the description.
    pub media: Vec<u32>,
    pub stations: Vec<u32>,
}

impl Numbering {
    /// The number that the description gives to the link with this index.
    pub fn link(&self, place: u32) -> LinkId {
        let number = self.links.iter().position(|other| *other == place);
        LinkId(number.unwrap_or_default() as u32)
    }
}

/// Sorts the components of a description into the network's order.
pub fn order(config: &mut NetworkConfig) -> Numbering {
    let name = |flow: &FlowConfig| config.groups[flow.group.0 as usize].name.as_str();
    let names: Vec<&str> = config.flows.iter().map(name).collect();
    let carriers: Vec<&str> = config.aggregates.iter().map(|carrier| name(&carrier.flow)).collect();
    let mut flows = arrange(&mut config.flows, &names);
    let carriers = arrange(&mut config.aggregates, &carriers);
    let count = flows.len() as u32;
    flows.extend(carriers.into_iter().map(|slot| count + slot));
    let names: Vec<String> = config.sources.iter().map(|source| source.name.clone()).collect();
    arrange(&mut config.sources, &names);
    let links = order_links(config);
    let (media, stations) = order_media(config);
    Numbering { links, flows, media, stations }
}

/// Sorts components by name; those with equal names keep their order. Returns the new index of each.
fn arrange<T>(components: &mut Vec<T>, names: &[impl Ord]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..components.len() as u32).collect();
    order.sort_by(|a, b| names[*a as usize].cmp(&names[*b as usize]));
    permute(components, &order)
}

/// Puts the component at `order[0]` first, and so on. Returns the new index of each.
fn permute<T>(components: &mut Vec<T>, order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, index) in (0..).zip(order) {
        places[*index as usize] = place;
    }
    if !order.is_sorted() {
        let mut from: Vec<Option<T>> = std::mem::take(components).into_iter().map(Some).collect();
        components.extend(order.iter().filter_map(|index| from[*index as usize].take()));
    }
    places
}

/// Orders links and renumbers them in all routes.
fn order_links(config: &mut NetworkConfig) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut order: Vec<u32> = (0..config.links.len() as u32).collect();
    let is_named = |index: &u32| !config.links[*index as usize].name.is_empty();
    order.retain(is_named);
    order.sort_by(|a, b| config.links[*a as usize].name.cmp(&config.links[*b as usize].name));
    let mut places = vec![UNSEEN; config.links.len()];
    for (place, index) in (0..).zip(&order) {
        places[*index as usize] = place;
    }
    let mut see = |link: LinkId| {
        let place = &mut places[link.0 as usize];
        if *place == UNSEEN {
            *place = order.len() as u32;
            order.push(link.0);
        }
    };
    routes(config).flat_map(Route::links).for_each(&mut see);
    (0..config.links.len() as u32).map(LinkId).for_each(see);
    drop(permute(&mut config.links, &order));
    let flows = config.flows.iter_mut().map(|flow| &mut flow.route);
    let carriers = config.aggregates.iter_mut().map(|aggregate| &mut aggregate.flow.route);
    let sources = config.sources.iter_mut().flat_map(|source| &mut source.routes);
    for route in flows.chain(carriers).chain(sources) {
        for link in route.forward.iter_mut().chain(&mut route.backward) {
            link.0 = places[link.0 as usize];
        }
    }
    for aggregate in &mut config.aggregates {
        aggregate.link.0 = places[aggregate.link.0 as usize];
    }
    for station in config.media.iter_mut().flat_map(|medium| &mut medium.stations) {
        let queues = station.queues.iter_mut().map(|queue| &mut queue.link);
        for link in queues.chain(&mut station.entry) {
            link.0 = places[link.0 as usize];
        }
    }
    places
}

/// Orders shared channels by name, and the stations of each.
fn order_media(config: &mut NetworkConfig) -> (Vec<u32>, Vec<u32>) {
    let names: Vec<String> = config.media.iter().map(|medium| medium.name.clone()).collect();
    let counts: Vec<usize> = config.media.iter().map(|medium| medium.stations.len()).collect();
    let media = arrange(&mut config.media, &names);
    let mut firsts = Vec::new();
    let mut places = Vec::new();
    let mut first = 0;
    for medium in &mut config.media {
        let names: Vec<String> = medium.stations.iter().map(|s| s.name.clone()).collect();
        let within = arrange(&mut medium.stations, &names);
        for queue in medium.stations.iter_mut().flat_map(|station| &mut station.queues) {
            if let StationPeer::Station(place) = &mut queue.peer {
                *place = within[*place as usize];
            }
        }
        firsts.push(first);
        first += within.len() as u32;
        places.push(within);
    }
    let stations = media.iter().zip(counts).flat_map(|(medium, count)| {
        let (first, within) = (firsts[*medium as usize], &places[*medium as usize]);
        within[..count].iter().map(move |place| first + place)
    });
    let stations = stations.collect();
    (media, stations)
}

fn routes(config: &NetworkConfig) -> impl Iterator<Item = &Route> {
    let flows = config.flows.iter().map(|flow| &flow.route);
    let carriers = config.aggregates.iter().map(|aggregate| &aggregate.flow.route);
    flows.chain(carriers).chain(config.sources.iter().flat_map(|source| &source.routes))
}
