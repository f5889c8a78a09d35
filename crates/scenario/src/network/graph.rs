//! A general graph: links and groups of flows by name, ways found and checked.

use crate::document::choice::{Nodes, PathSpec, Spread};
use crate::document::defaults::{ACCESS_FACTOR, no_delay};
use crate::document::format::{Document, Group};
use crate::document::link::Link;
use crate::network::core::{
    AccessDelay, CoreAccess, CoreGroup, CoreLink, CoreWay, Network, REVERSE, Template,
};
use crate::network::wlan;
use knee_input::interrupt::{Halt, Interrupt};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::FlowSize;
use knee_laws::quantities::{BitRate, Span};
use std::collections::BTreeSet;

/// The links of `[[link]]` and `[[wlan]]`.
pub(crate) fn links(document: &Document) -> Result<Network, Fault> {
    let mut network = Network::default();
    for (index, link) in document.link.iter().enumerate() {
        let at = KeyPath::element("link", index);
        network.links.push(core_link(link, &at)?);
        if link.duplex {
            let mut reverse = core_link(link, &at)?;
            reverse.name.push_str(REVERSE);
            std::mem::swap(&mut reverse.from, &mut reverse.to);
            network.links.push(reverse);
        }
    }
    wlan::channels(document, &mut network)?;
    let mut names = BTreeSet::new();
    for link in &network.links {
        if !names.insert(&link.name) {
            let name = &link.name;
            return Err(link.at.key("name").fault(format!("there are two links `{name}`")));
        }
    }
    network.index_links();
    Ok(network)
}

fn core_link(link: &Link, at: &KeyPath) -> Result<CoreLink, Fault> {
    if link.from == link.to {
        return Err(at.key("to").fault("a link leads from one node to another"));
    }
    let core = CoreLink::new(
        link.name.clone(),
        (&link.from, &link.to),
        (link.rate.0, link.delay.0),
        at.clone(),
    );
    Ok(CoreLink {
        router: link.router.clone(),
        options: link.options(at)?,
        measured: link.measured,
        ..core
    })
}

/// Adds the groups of `[[flows]]`.
pub(crate) fn groups(
    document: &Document,
    network: &mut Network,
    template: Option<&Template>,
    interrupt: Interrupt,
) -> Result<(), Halt> {
    let mut names: BTreeSet<String> =
        network.groups.iter().map(|group| group.name.clone()).collect();
    let mut hops = 0;
    for (index, group) in document.flows.iter().enumerate() {
        let at = KeyPath::element("flows", index);
        if !names.insert(group.name.clone()) {
            let name = &group.name;
            return Err(at.key("name").fault(format!("there are two groups `{name}`")).into());
        }
        let group = core_group(group, Context { network, template, at: &at, interrupt })?;
        for (way, _) in group.shares() {
            hops += network.length(&way.forward) + network.length(&way.backward);
            check_hops(hops, &at)?;
        }
        network.groups.push(group);
    }
    Ok(())
}

/// Most links of all ways together, there and back.
const MOST_HOPS: usize = 10_000_000;

/// Are ways that have so many links together, up to the one at `at`, within reason?
pub(crate) fn check_hops(hops: usize, at: &KeyPath) -> Result<(), Fault> {
    if hops <= MOST_HOPS {
        return Ok(());
    }
    Err(at.fault(format!("with this, all ways have {hops} links together; at most {MOST_HOPS}")))
}

/// A way as it is written.
pub(crate) struct Way<'a> {
    pub path: Option<&'a PathSpec>,
    pub from: Option<&'a String>,
    pub to: Option<&'a String>,
    pub back: Option<&'a PathSpec>,
}

/// What a group is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub network: &'a Network,
    pub template: Option<&'a Template>,
    pub at: &'a KeyPath,
    pub interrupt: Interrupt<'a>,
}

fn core_group<'a>(group: &'a Group, context: Context<'a>) -> Result<CoreGroup, Halt> {
    let at = context.at;
    let ways = context.ways(group)?;
    let start = match (&group.start, &group.arrivals, context.template) {
        (Some(Spread::Shape(_)), Some(_), _) => {
            return Err(at
                .key("start")
                .fault("arrivals begin at one time, such as \"0 s\"")
                .into());
        }
        (Some(start), ..) => start.clone(),
        (None, Some(_), _) => Spread::Fixed(no_delay()),
        (None, None, Some(template)) => template.start.clone(),
        (None, None, None) => Spread::first_second(),
    };
    start.check(group.count.0, &at.key("start"))?;
    if let Some(stop) = &group.stop {
        let at = at.key("stop");
        if group.arrivals.is_some() && matches!(stop, Spread::Shape(_)) {
            return Err(at.fault("arrivals end at one time, such as \"60 s\"").into());
        }
        stop.check(group.count.0, &at)?;
        let last = start.range(group.count.0).1;
        if stop.range(group.count.0).0 <= last {
            return Err(at.fault(format!("flows start until {last}; stop comes later")).into());
        }
    }
    if group.size.is_some() && group.arrivals.is_some() {
        return Err(at.key("size").fault("arrivals have their size in `arrivals.size`").into());
    }
    let mut core = CoreGroup {
        name: group.name.clone(),
        count: group.count.0,
        ways,
        access: None,
        start,
        stop: group.stop.clone(),
        size: group.size.unwrap_or(FlowSize::Endless),
        arrivals: group.arrivals.clone(),
        sender: group.sender.clone(),
        mismatch: group.mismatch,
        transport: group.transport.clone(),
        at: at.clone(),
    };
    core.access = context.access(group, &core)?;
    Ok(core)
}

impl<'a> Context<'a> {
    fn access(&self, group: &Group, core: &CoreGroup) -> Result<Option<CoreAccess>, Fault> {
        let given = group.access.as_ref();
        let delay = given.and_then(|access| access.delay.clone());
        if let (Some(delay), Some(_)) = (&delay, &group.rtt) {
            delay.check(core.count, &self.at.key("access").key("delay"))?;
            return Err(self.at.key("rtt").fault("give either `rtt` or `access.delay`"));
        }
        let template = self.template.and_then(|template| template.access.as_ref());
        if given.is_none() && group.rtt.is_none() {
            return Ok(template.cloned());
        }
        let delay = match (&group.rtt, delay, template) {
            (Some(rtt), ..) => {
                let at = self.at.key("rtt");
                rtt.check(core.count, &at)?;
                let least = core.ways.iter().map(|way| self.network.core_rtt(way)).max();
                let least = least.unwrap_or(Span::ZERO);
                if rtt.range(core.count).0 < least {
                    return Err(at.fault(format!(
                        "its links alone take {least} there and back, which is the least RTT"
                    )));
                }
                AccessDelay::Rtt(rtt.clone())
            }
            (None, Some(delay), _) => {
                delay.check(core.count, &self.at.key("access").key("delay"))?;
                AccessDelay::Each(delay)
            }
            (None, None, Some(template)) => template.delay.clone(),
            (None, None, None) => AccessDelay::Each(Spread::Fixed(no_delay())),
        };
        let fastest = self.network.fastest(&self.network.expanded(&core.crossed()));
        let rate = given.and_then(|access| access.rate).map(|rate| rate.0);
        let rate = rate
            .or(template.map(|template| template.rate))
            .unwrap_or(BitRate::from_bps(fastest.bps() * ACCESS_FACTOR));
        Ok(Some(CoreAccess { rate, delay }))
    }

    /// The ways that a group's flows take in turn.
    fn ways(&self, group: &'a Group) -> Result<Vec<CoreWay>, Halt> {
        if let (Some(PathSpec::Direction(name)), None, None, None, Some(template)) =
            (&group.path, &group.from, &group.to, &group.back, self.template)
        {
            return Ok(self.named(template, name, &self.at.key("path"))?.to_vec());
        }
        let (from, to) = (Nodes::listed(&group.from), Nodes::listed(&group.to));
        if from.len() > 1 && to.len() > 1 && from.len() != to.len() {
            let (from, to) = (from.len(), to.len());
            let said = format!("{from} nodes send to {to}; give one on a side, or as many on both");
            return Err(self.at.key("to").fault(said).into());
        }
        let nth = |nodes: &[&'a String], place: usize| nodes.get(place).or(nodes.last()).copied();
        let mut ways = Vec::new();
        for place in 0..from.len().max(to.len()).max(1) {
            let way = Way {
                path: group.path.as_ref(),
                from: nth(&from, place),
                to: nth(&to, place),
                back: group.back.as_ref(),
            };
            let forward = self.forward(&way)?;
            let backward = self.backward(&way, &forward)?;
            ways.push(CoreWay { forward, backward });
        }
        Ok(ways)
    }

    /// A template's ways of this name.
    fn named<'t>(
        &self,
        template: &'t Template,
        name: &str,
        at: &KeyPath,
    ) -> Result<&'t [CoreWay], Fault> {
        let names = || template.ways.iter().map(|(name, _)| *name);
        let found = template.ways.iter().find(|(known, _)| *known == name);
        let said = || {
            let fault = at.fault("there is no such path");
            fault.among("a path is a list of links, or of", name, names())
        };
        found.map(|(_, ways)| &ways[..]).ok_or_else(said)
    }

    /// The way there.
    pub fn forward(&self, way: &Way) -> Result<Vec<usize>, Halt> {
        let said = match (way.path, way.from, way.to) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                self.at.key("path").fault("give either `path`, or `from` and `to`")
            }
            (Some(path), None, None) => return Ok(self.links(path, &self.at.key("path"))?),
            (None, Some(from), Some(to)) => {
                for (key, node) in [("from", from), ("to", to)] {
                    self.node(node, &self.at.key(key))?;
                }
                if from == to {
                    let message = "flows lead from one node to another";
                    return Err(self.at.key("to").fault(message).into());
                }
                match self.network.index.shortest(from, to, self.interrupt)? {
                    Some(way) => return Ok(way),
                    None => {
                        self.at.key("to").fault(format!("no links lead from `{from}` to `{to}`"))
                    }
                }
            }
            (None, Some(_), None) => self.at.fault("missing key `to`"),
            (None, None, Some(_)) => self.at.fault("missing key `from`"),
            (None, None, None) => self.at.fault("missing its way: give `from` and `to`, or `path`"),
        };
        Err(said.into())
    }

    /// The way back.
    pub fn backward(&self, way: &Way, forward: &[usize]) -> Result<Vec<usize>, Halt> {
        let (Some(first), Some(last)) = (forward.first(), forward.last()) else {
            return Err(self.at.key("path").fault("a way has at least one link").into());
        };
        let (start, end) = (&self.network.links[*first].from, &self.network.links[*last].to);
        if let Some(back) = way.back {
            let at = self.at.key("back");
            let links = self.links(back, &at)?;
            let ends = links.first().zip(links.last());
            let fits = ends.is_some_and(|(first, last)| {
                self.network.links[*first].from == *end && self.network.links[*last].to == *start
            });
            if !fits {
                return Err(at
                    .fault(format!("the way back leads from `{end}` to `{start}`"))
                    .into());
            }
            return Ok(links);
        }
        let twins: Option<Vec<usize>> =
            forward.iter().rev().map(|link| self.network.reverse_of(*link)).collect();
        if let Some(way) = twins {
            return Ok(way);
        }
        self.network.index.shortest(end, start, self.interrupt)?.ok_or_else(|| {
            let message = format!(
                "no links lead back from `{end}` to `{start}` for its ACKs; \
                 add them (or `duplex = true`)"
            );
            self.at.fault(message).into()
        })
    }

    fn node(&self, name: &str, at: &KeyPath) -> Result<(), Fault> {
        let index = &self.network.index;
        if index.has_node(name) {
            return Ok(());
        }
        Err(at.fault("no such node").among("there are", name, index.nodes()))
    }

    /// Links of a path, checked to exist and to connect.
    fn links(&self, path: &PathSpec, at: &KeyPath) -> Result<Vec<usize>, Fault> {
        let names = match (path, self.template) {
            (PathSpec::Links(names), _) => names,
            (PathSpec::Direction(direction), Some(template)) => {
                return match self.named(template, direction, at)? {
                    [way] => Ok(way.forward.clone()),
                    _ => {
                        Err(at
                            .fault(format!("`{direction}` is several ways; name the links of one")))
                    }
                };
            }
            (PathSpec::Direction(_), None) => {
                return Err(at.fault("in a graph a path is a list of links"));
            }
        };
        if names.is_empty() {
            return Err(at.fault("a path has at least one link"));
        }
        let mut links: Vec<usize> = Vec::with_capacity(names.len());
        let mut taken = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            let at = at.index(index);
            let Some(link) = self.network.find(name) else {
                let known = || self.network.links.iter().map(|link| link.name.as_str());
                return Err(at.fault("no such link").among("there are", name, known()));
            };
            if !taken.insert(link) {
                return Err(at.fault("a path takes a link once"));
            }
            if let Some(last) = links.last() {
                let (end, start) = (&self.network.links[*last].to, &self.network.links[link].from);
                if end != start {
                    return Err(at.fault(format!(
                        "it leaves `{start}`, but the link before it ends at `{end}`"
                    )));
                }
            }
            links.push(link);
        }
        Ok(links)
    }
}
