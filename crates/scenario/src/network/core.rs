//! The network that a scenario describes, templates expanded: links, and groups of flows with their way.

use crate::document::choice::{LawSpec, LossSpec, Shape, Spread};
use crate::document::format::{Arrivals, Mismatch};
use crate::document::link::LinkOptions;
use crate::document::transport::Transport;
use crate::network::index::Index;
use knee_input::problem::{Fault, Key, KeyPath};
use knee_input::quantity::FlowSize;
use knee_laws::quantities::{BitRate, Span};
use knee_sim::config::{Phy, StationPeer};

/// A link of the network's core.
#[derive(Clone, Debug)]
pub(crate) struct CoreLink {
    pub name: String,
    pub from: String,
    pub to: String,
    pub rate: BitRate,
    pub delay: Span,
    pub router: Option<LawSpec>,
    pub options: LinkOptions,
    /// Does a station of a wireless LAN transmit it? Its rate is that of frames.
    pub on_air: bool,
    pub measured: bool,
    /// Where the text speaks of it.
    pub at: KeyPath,
}

/// A channel that stations share.
#[derive(Clone, Debug)]
pub(crate) struct CoreWlan {
    pub name: String,
    pub phy: Phy,
    /// Its stations, the base station first.
    pub stations: Vec<CoreStation>,
}

/// A station of a channel.
#[derive(Clone, Debug)]
pub(crate) struct CoreStation {
    /// `WLAN/NODE`.
    pub name: String,
    /// Physical rate of frames from and to it, and their errors.
    pub rate: BitRate,
    pub errors: Option<LossSpec>,
    /// The links that it transmits, and whose rate and errors the frames of each have.
    pub queues: Vec<(usize, StationPeer)>,
    /// The link that packets for it take next, for who sends to several from one queue.
    pub entry: Option<usize>,
}

/// A group of flows.
#[derive(Clone, Debug)]
pub(crate) struct CoreGroup {
    pub name: String,
    pub count: u64,
    /// Ways that its flows take in turn; at least one.
    pub ways: Vec<CoreWay>,
    pub access: Option<CoreAccess>,
    pub start: Spread,
    pub stop: Option<Spread>,
    pub size: FlowSize,
    pub arrivals: Option<Arrivals>,
    pub sender: Option<LawSpec>,
    pub mismatch: Option<Mismatch>,
    pub transport: Transport,
    /// Where the text speaks of it.
    pub at: KeyPath,
}

/// A way through the core and back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CoreWay {
    /// Links of the data, in order.
    pub forward: Vec<usize>,
    /// Links of the ACKs, in order.
    pub backward: Vec<usize>,
}

impl CoreWay {
    /// All its links, there and back.
    pub fn links(&self) -> impl Iterator<Item = usize> {
        self.forward.iter().chain(&self.backward).copied()
    }
}

/// Access links of each flow: one each way at either end.
#[derive(Clone, Debug)]
pub(crate) struct CoreAccess {
    pub rate: BitRate,
    pub delay: AccessDelay,
}

/// How long access links are.
#[derive(Clone, Debug)]
pub(crate) enum AccessDelay {
    /// They make up for what the core lacks of this RTT.
    Rtt(Spread),
    /// Each of the four.
    Each(Spread),
}

/// An aggregate of the network's core.
#[derive(Clone, Debug)]
pub(crate) struct CoreAggregate {
    /// The link that it is to others.
    pub link: usize,
    /// The group of its carrying flow, the group's only one; set once all groups are there.
    pub group: usize,
    /// Its carrying flow's way there and back.
    pub forward: Vec<usize>,
    pub backward: Vec<usize>,
    /// Bytes that carrying adds to a packet.
    pub overhead: u16,
    pub sender: Option<LawSpec>,
    pub transport: Transport,
    pub at: KeyPath,
}

/// All links and groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub links: Vec<CoreLink>,
    pub groups: Vec<CoreGroup>,
    pub aggregates: Vec<CoreAggregate>,
    pub wlans: Vec<CoreWlan>,
    /// Where the links are; made anew by [`Self::index_links`].
    pub index: Index,
    /// What crosses each link; found by [`Self::survey`].
    pub crossings: Vec<Crossing>,
}

/// What crosses a link. Of flows that come and go it counts if no others are there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
    /// Flows whose data crosses it, and the sum of their propagation RTTs, seconds.
    data: (u64, f64),
    /// The same of flows whose data or ACKs cross it.
    all: (u64, f64),
}

/// What a template offers to further `[[flows]]`.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Ways by the name that a path gives them.
    pub ways: Vec<(&'static str, Vec<CoreWay>)>,
    /// Access links of flows that say nothing of theirs.
    pub access: Option<CoreAccess>,
    pub start: Spread,
}

impl Spread {
    /// Least and largest value among `count` flows.
    pub fn range(&self, count: u64) -> (Span, Span) {
        match self {
            Self::Fixed(time) => (time.0, time.0),
            Self::Shape(Shape::Uniform([a, b])) => (a.0, b.0),
            Self::Shape(Shape::Step(step)) => {
                (step.from.0, step.from.0 + step.by.0 * count.saturating_sub(1))
            }
        }
    }
    /// Mean over `count` flows.
    pub fn mean(&self, count: u64) -> Span {
        let (least, largest) = self.range(count);
        (least + largest) / 2
    }
    /// The value of flow `index`; `uniform` is drawn from [0, 1].
    pub fn value(&self, index: u64, uniform: &mut dyn FnMut() -> f64) -> Span {
        match self {
            Self::Fixed(time) => time.0,
            Self::Shape(Shape::Uniform([a, b])) => a.0 + (b.0 - a.0).scale(uniform()),
            Self::Shape(Shape::Step(step)) => step.from.0 + step.by.0 * index,
        }
    }
    /// Are its values in order and below a day?
    pub fn check(&self, count: u64, at: &KeyPath) -> Result<(), Fault> {
        if let Self::Shape(Shape::Uniform([a, b])) = self
            && a.0 > b.0
        {
            return Err(at.key("uniform").fault("the lower end comes first"));
        }
        let (_, largest) = self.range(count);
        if largest > Span::from_secs(86_400) {
            return Err(at.fault(format!("the last flow's would be {largest}; at most 24 h")));
        }
        Ok(())
    }
}

/// The four access delays of a flow: out of the source, into the sink, out of the sink, into the source.
pub(crate) fn split(rest: Span) -> [Span; 4] {
    let there = rest / 2;
    let back = rest - there;
    [there / 2, there - there / 2, back / 2, back - back / 2]
}

impl Network {
    /// Propagation delay of the core, there and back.
    pub fn core_rtt(&self, way: &CoreWay) -> Span {
        way.links().fold(Span::ZERO, |sum, link| sum + self.links[link].delay)
    }

    /// Mean propagation RTT of a group's flows on one of its ways.
    pub fn mean_rtt(&self, group: &CoreGroup, way: &CoreWay) -> Span {
        match group.access.as_ref().map(|access| &access.delay) {
            None => self.core_rtt(way),
            Some(AccessDelay::Rtt(rtt)) => rtt.mean(group.count),
            Some(AccessDelay::Each(delay)) => self.core_rtt(way) + delay.mean(group.count) * 4,
        }
    }

    /// The shortest propagation RTT of a group's flows.
    pub fn shortest_rtt(&self, group: &CoreGroup) -> Span {
        let core = group.ways.iter().map(|way| self.core_rtt(way)).min().unwrap_or(Span::ZERO);
        match group.access.as_ref().map(|access| &access.delay) {
            None => core,
            Some(AccessDelay::Rtt(rtt)) => rtt.range(group.count).0,
            Some(AccessDelay::Each(delay)) => core + delay.range(group.count).0 * 4,
        }
    }

    /// Notes where the links are, once they are all there.
    pub fn index_links(&mut self) {
        self.index = Index::new(
            self.links.iter().map(|link| (&*link.name, [&*link.from, &*link.to], link.delay)),
            self.aggregates.iter().map(|aggregate| aggregate.link),
        );
    }

    /// Finds what crosses each link, once all groups are there.
    pub fn survey(&mut self) {
        let lasting = self.groups.iter().any(|group| group.arrivals.is_none() && group.count > 0);
        let mut crossings = vec![Crossing::default(); self.links.len()];
        let mut last = vec![usize::MAX; self.links.len()];
        let mut number = 0;
        for group in &self.groups {
            if lasting && group.arrivals.is_some() {
                continue;
            }
            for (way, flows) in group.shares() {
                number += 1;
                let rtts = self.mean_rtt(group, way).seconds() * flows as f64;
                let count =
                    |(all, sum): &mut (u64, f64)| (*all, *sum) = (*all + flows, *sum + rtts);
                let links = way.forward.iter().map(|link| (link, true));
                for (&link, is_data) in links.chain(way.backward.iter().map(|link| (link, false))) {
                    if std::mem::replace(&mut last[link], number) == number {
                        continue;
                    }
                    if is_data {
                        count(&mut crossings[link].data);
                    }
                    count(&mut crossings[link].all);
                }
            }
        }
        self.crossings = crossings;
    }

    /// Mean propagation RTT of the flows whose data crosses a link; of ACKs if there is no data;
    /// twice the link's delay if nothing crosses it.
    pub fn rtt_over(&self, link: usize) -> Span {
        let Crossing { data, all } = self.crossings[link];
        let mean =
            |(flows, sum): (u64, f64)| (flows > 0).then(|| Span::from_seconds(sum / flows as f64));
        mean(data).or_else(|| mean(all)).unwrap_or(self.links[link].delay * 2)
    }

    /// Flows whose data or ACKs cross a link.
    pub fn flows_over(&self, link: usize) -> u64 {
        self.crossings[link].all.0
    }

    /// The place of a link.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.index.link(name)
    }

    /// The link's like in the other direction, by name.
    pub fn reverse_of(&self, link: usize) -> Option<usize> {
        let name = &self.links[link].name;
        match name.strip_suffix(REVERSE) {
            Some(forward) => self.find(forward),
            None => self.find(&format!("{name}{REVERSE}")),
        }
    }

    /// The fastest rate that a link of these ever has.
    pub fn fastest(&self, links: &[usize]) -> BitRate {
        let rates = links.iter().flat_map(|link| {
            let link = &self.links[*link];
            link.options.rate_changes.iter().map(|(_, rate)| *rate).chain([link.rate])
        });
        rates.fold(BitRate::from_bps(1.0), |a, b| if b > a { b } else { a })
    }
}

/// What the name of a link in the other direction ends with.
pub(crate) const REVERSE: &str = "-reverse";

impl CoreLink {
    /// A link between two nodes, with rate and delay, that is not measured and has the defaults of all else.
    pub fn new(
        name: String,
        (from, to): (&str, &str),
        (rate, delay): (BitRate, Span),
        at: KeyPath,
    ) -> Self {
        Self {
            name,
            from: from.to_owned(),
            to: to.to_owned(),
            rate,
            delay,
            router: None,
            options: LinkOptions::default(),
            on_air: false,
            measured: false,
            at,
        }
    }

    /// A key of it, as messages show it.
    pub fn shown(&self, key: &str) -> String {
        self.at.key(key).shown(&self.name)
    }
}

impl CoreGroup {
    /// The way of one of its flows.
    pub fn way(&self, flow: u64) -> &CoreWay {
        &self.ways[(flow % self.ways.len() as u64) as usize]
    }

    /// Its ways, and how many flows take each.
    pub fn shares(&self) -> impl Iterator<Item = (&CoreWay, u64)> {
        let ways = self.ways.len() as u64;
        let taken = move |place| (self.count + ways - 1 - place as u64) / ways;
        self.ways.iter().enumerate().map(move |(place, way)| (way, taken(place)))
    }

    /// Links that its data crosses, each once, in order of their place.
    pub fn crossed(&self) -> Vec<usize> {
        let mut links: Vec<usize> =
            self.ways.iter().flat_map(|way| way.forward.iter().copied()).collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    /// A key of it, or the key that it comes from, as messages show it.
    pub fn shown(&self, key: &str) -> String {
        let is_template = !self.at.0.iter().any(|step| matches!(step, Key::Index(_)));
        if is_template { self.at.shown(&self.name) } else { self.at.key(key).shown(&self.name) }
    }

    /// Where it is said when its flows start.
    pub fn start_at(&self) -> KeyPath {
        let is_element = self.at.0.iter().any(|step| matches!(step, Key::Index(_)));
        let table = if is_element { self.at.clone() } else { KeyPath(self.at.0[..1].to_vec()) };
        table.key("start")
    }

    /// Do its flows never run out of data?
    pub fn is_endless(&self) -> bool {
        self.arrivals.is_none() && self.size == FlowSize::Endless
    }
}
