//! Aggregates: links that are flows inside, and the same network without them.

use crate::document::choice::{LawSpec, Spread};
use crate::document::defaults::no_delay;
use crate::document::format::{Aggregate, Document, Mismatch};
use crate::document::link::LinkOptions;
use crate::document::transport::Transport;
use crate::network::core::{
    CoreAggregate, CoreGroup, CoreLink, CoreWay, Network, REVERSE, Template,
};
use crate::network::graph::{Context, Way, check_hops};
use knee_input::interrupt::{Halt, Interrupt};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::FlowSize;
use knee_laws::quantities::Span;
use std::collections::BTreeSet;

/// The ingress law of an aggregate that names none.
const INGRESS_LAW: &str = "droptail";
/// Largest packet on the wire, bytes.
pub(crate) const MOST_BYTES: u64 = 65_535;

/// Adds the links of `[[aggregate]]`, which lead over links that are there.
pub(crate) fn links(
    document: &Document,
    network: &mut Network,
    template: Option<&Template>,
    interrupt: Interrupt,
) -> Result<(), Halt> {
    if document.aggregate.is_empty() {
        return Ok(());
    }
    let mut links = Vec::new();
    let mut hops = 0;
    for (index, aggregate) in document.aggregate.iter().enumerate() {
        let at = KeyPath::element("aggregate", index);
        let way = Way {
            path: aggregate.path.as_ref(),
            from: aggregate.from.as_ref(),
            to: aggregate.to.as_ref(),
            back: aggregate.back.as_ref(),
        };
        let context = Context { network, template, at: &at, interrupt };
        let forward = context.forward(&way)?;
        let backward = context.backward(&way, &forward)?;
        hops += 2 * (forward.len() + backward.len());
        check_hops(hops, &at)?;
        let overhead = aggregate.overhead.map_or(0, |size| size.0);
        if overhead >= MOST_BYTES {
            return Err(at.key("overhead").fault("a packet must be at most 65535 B").into());
        }
        let mut add = |name: String, forward: &[usize], backward: &[usize]| {
            links.push((
                link(network, aggregate, (name, forward), &at),
                CoreAggregate {
                    link: 0,
                    group: 0,
                    forward: forward.to_vec(),
                    backward: backward.to_vec(),
                    overhead: overhead as u16,
                    sender: aggregate.sender.clone(),
                    transport: aggregate.transport.clone(),
                    at: at.clone(),
                },
            ));
        };
        add(aggregate.name.clone(), &forward, &backward);
        if aggregate.duplex {
            add(format!("{}{REVERSE}", aggregate.name), &backward, &forward);
        }
    }
    let mut names = BTreeSet::new();
    for (link, aggregate) in links {
        let name = &link.name;
        if network.find(name).is_some() || !names.insert(name.clone()) {
            let message = format!("there are two links or aggregates `{name}`");
            return Err(link.at.key("name").fault(message).into());
        }
        network.aggregates.push(CoreAggregate { link: network.links.len(), ..aggregate });
        network.links.push(link);
    }
    network.index_links();
    Ok(())
}

/// What an aggregate is to others: as long as its way, and as fast as the slowest link of that.
fn link(
    network: &Network,
    aggregate: &Aggregate,
    (name, way): (String, &[usize]),
    at: &KeyPath,
) -> CoreLink {
    let links = || way.iter().map(|link| &network.links[*link]);
    let slowest = links().map(|link| link.rate).reduce(|a, b| if b < a { b } else { a });
    let end = |link: Option<&CoreLink>, of: fn(&CoreLink) -> &String| {
        link.map(of).cloned().unwrap_or_default()
    };
    let ends = (end(links().next(), |link| &link.from), end(links().next_back(), |link| &link.to));
    let rate = slowest.unwrap_or(knee_laws::quantities::BitRate::from_bps(1.0));
    let delay = links().fold(Span::ZERO, |sum, link| sum + link.delay);
    CoreLink {
        options: LinkOptions { buffer: aggregate.buffer, ..LinkOptions::default() },
        router: Some(aggregate.router.clone().unwrap_or(LawSpec::Name(INGRESS_LAW.to_owned()))),
        measured: aggregate.measured,
        ..CoreLink::new(name, (&ends.0, &ends.1), (rate, delay), at.clone())
    }
}

/// Adds the groups of the carrying flows, behind all others.
pub(crate) fn groups(network: &mut Network) -> Result<(), Fault> {
    if network.aggregates.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<String> = network.groups.iter().map(|group| group.name.clone()).collect();
    for index in 0..network.aggregates.len() {
        let aggregate = &network.aggregates[index];
        let name = network.links[aggregate.link].name.clone();
        if names.contains(&name) {
            let message = format!("there are flows `{name}`; an aggregate's flow has its name");
            return Err(aggregate.at.key("name").fault(message));
        }
        if aggregate.transport.handshake == Some(true) {
            let message = "an aggregate carries from the start; it opens with no handshake";
            return Err(aggregate.at.key("transport").key("handshake").fault(message));
        }
        let group = CoreGroup {
            name,
            count: 1,
            ways: vec![CoreWay {
                forward: aggregate.forward.clone(),
                backward: aggregate.backward.clone(),
            }],
            access: None,
            start: Spread::Fixed(no_delay()),
            stop: None,
            size: FlowSize::Endless,
            arrivals: None,
            sender: aggregate.sender.clone(),
            mismatch: None,
            transport: Transport { handshake: Some(false), ..aggregate.transport.clone() },
            at: aggregate.at.clone(),
        };
        network.aggregates[index].group = network.groups.len();
        network.groups.push(group);
    }
    Ok(())
}

impl Network {
    /// A way with the links of its aggregates in their place.
    pub fn expanded(&self, way: &[usize]) -> Vec<usize> {
        let inside = |link: &'_ usize| match self.index.aggregate(*link) {
            None => vec![*link],
            Some(place) => self.aggregates[place].forward.clone(),
        };
        way.iter().flat_map(inside).collect()
    }

    /// Links of a way, those of its aggregates in their place.
    pub fn length(&self, way: &[usize]) -> usize {
        let inside = |link: &usize| {
            self.index.aggregate(*link).map_or(1, |place| self.aggregates[place].forward.len())
        };
        way.iter().map(inside).sum()
    }

    /// The same network without its aggregates: flows cross it as they are. Links and groups keep their
    /// numbers.
    pub fn without_aggregates(&self) -> Self {
        let mut plain = self.clone();
        for group in &mut plain.groups {
            for way in &mut group.ways {
                way.forward = self.expanded(&way.forward);
                way.backward = self.expanded(&way.backward);
            }
        }
        for aggregate in std::mem::take(&mut plain.aggregates) {
            plain.links[aggregate.link].measured = false;
            let group = &mut plain.groups[aggregate.group];
            group.count = 0;
            group.mismatch = Some(Mismatch::Allow);
        }
        plain.index_links();
        plain
    }
}
