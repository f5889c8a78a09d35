//! Wireless LANs: links and stations of a channel, and the template of one.
//!
//! A station sends over its link `NAME/STATION`. The base station sends to all over `NAME/BASE`, which ends at a node called
//! as the channel; links without delay lead on from there, one a station. With a queue a station it has links
//! `NAME/BASE/STATION` instead.

use crate::document::choice::{LawSpec, LossSpec};
use crate::document::format::Document;
use crate::document::link::{LinkOptions, rate_changes};
use crate::document::wlan::{CapacitySpec, Mac, Preamble, Queues, Wlan, WlanTemplate};
use crate::network::core::{
    CoreGroup, CoreLink, CoreStation, CoreWay, CoreWlan, Network, REVERSE, Template,
};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{BufferSize, FlowSize, Rate};
use knee_laws::quantities::{BitRate, Span, Time};
use knee_sim::config::{Phy, STANDARDS, Standard, StationPeer};
use std::collections::BTreeSet;

/// Room in a station's queue: the dissertation's (6.2.1).
const BUFFER: BufferSize = BufferSize::Packets(64);
/// Of 802.11b.
const SHORT_PREAMBLE: Span = Span::from_micros(96);

/// That frames of a standard can have this rate.
fn check(standard: Standard, rate: Rate, at: &KeyPath) -> Result<BitRate, Fault> {
    if standard.has_rate(rate.0) { Ok(rate.0) } else { Err(at.fault(standard.rates())) }
}

/// The standard's constants, with those that are set.
fn phy(standard: Standard, mac: &Mac, at: &KeyPath) -> Result<Phy, Fault> {
    let mut phy = (standard.phy)();
    fn set<T, U>(value: &mut T, given: Option<U>, to: impl Fn(U) -> T) {
        if let Some(given) = given {
            *value = to(given);
        }
    }
    match mac.preamble {
        Some(_) if standard != STANDARDS[0] => {
            let said = format!("{} has one preamble; `preamble_time` sets it", standard.name);
            return Err(at.key("preamble").fault(said));
        }
        Some(Preamble::Short) => phy.preamble = SHORT_PREAMBLE,
        Some(Preamble::Long) | None => {}
    }
    set(&mut phy.preamble, mac.preamble_time, |time| time.0);
    set(&mut phy.slot, mac.slot, |time| time.0);
    set(&mut phy.sifs, mac.sifs, |time| time.0);
    set(&mut phy.basic_rate, mac.basic_rate, |rate| rate.0);
    set(&mut phy.overhead_bytes, mac.overhead, |size| size.0.min(u64::from(u16::MAX)) as u32);
    set(&mut phy.cw_min, mac.cw_min, |slots| slots.0);
    set(&mut phy.cw_max, mac.cw_max, |slots| slots.0);
    set(&mut phy.short_retry_limit, mac.short_retry_limit, |limit| limit.0);
    set(&mut phy.long_retry_limit, mac.long_retry_limit, |limit| limit.0);
    set(&mut phy.rts_threshold, mac.rts_threshold, |size| size.0.min(u64::from(u32::MAX)) as u32);
    set(&mut phy.aggregate_packets, mac.aggregate_packets, |packets| packets.0);
    set(&mut phy.aggregate_bytes, mac.aggregate_size, |size| {
        size.0.min(u64::from(u32::MAX)) as u32
    });
    set(&mut phy.open_window, mac.open_window, |set| set);
    set(&mut phy.after_collision, mac.after_collision, |time| time.0);
    set(&mut phy.immediate_access, mac.immediate_access, |set| set);
    if phy.cw_min > phy.cw_max {
        let said = format!("CWmin is {}, more than CWmax, which is {}", phy.cw_min, phy.cw_max);
        let key = if mac.cw_min.is_some() { "cw_min" } else { "cw_max" };
        return Err(at.key(key).fault(said));
    }
    Ok(phy)
}

/// A channel as both ways to write one describe it.
struct Channel<'a> {
    name: &'a str,
    base: &'a str,
    phy: Phy,
    queues: Queues,
    /// What the base station's frames have whose receiver is nobody in particular.
    rate: BitRate,
    queue: Queue<'a>,
    stations: Vec<Member<'a>>,
    measured: bool,
    at: KeyPath,
}

/// A queue of a station.
#[derive(Clone)]
struct Queue<'a> {
    buffer: Option<BufferSize>,
    router: Option<&'a LawSpec>,
    capacity: Option<CapacitySpec>,
    at: KeyPath,
}

/// A station besides the base station.
struct Member<'a> {
    name: String,
    rate: BitRate,
    errors: Option<LossSpec>,
    rate_changes: Vec<(Time, BitRate)>,
    queue: Queue<'a>,
}

impl Channel<'_> {
    /// Adds its links and stations.
    fn add(self, network: &mut Network) {
        let Self { name, base, .. } = &self;
        let mut base_station = CoreStation {
            name: format!("{name}/{base}"),
            rate: self.rate,
            errors: None,
            queues: Vec::new(),
            entry: None,
        };
        if self.queues == Queues::Shared {
            let link = self.link(format!("{name}/{base}"), (base, name), self.rate, &self.queue);
            base_station.queues.push((network.links.len(), StationPeer::ByPacket));
            network.links.push(link);
        }
        let mut stations = Vec::new();
        for (number, member) in self.stations.iter().enumerate() {
            let entry = match self.queues {
                Queues::Shared => {
                    let entry = self.entry(&member.name);
                    network.links.push(entry);
                    Some(network.links.len() - 1)
                }
                Queues::PerStation => {
                    let named = format!("{name}/{base}/{}", member.name);
                    let link = self.link(named, (base, &member.name), member.rate, &self.queue);
                    let peer = StationPeer::Station(number as u32 + 1);
                    base_station.queues.push((network.links.len(), peer));
                    network.links.push(link);
                    None
                }
            };
            let named = format!("{name}/{}", member.name);
            let up = self.link(named.clone(), (&member.name, base), member.rate, &member.queue);
            stations.push(CoreStation {
                name: named,
                rate: member.rate,
                errors: member.errors,
                queues: vec![(network.links.len(), StationPeer::Own)],
                entry,
            });
            let options = LinkOptions { rate_changes: member.rate_changes.clone(), ..up.options };
            network.links.push(CoreLink { options, ..up });
        }
        stations.insert(0, base_station);
        let (name, phy) = ((*name).to_owned(), self.phy);
        network.wlans.push(CoreWlan { name, phy, stations });
    }

    fn link(&self, name: String, ends: (&str, &str), rate: BitRate, queue: &Queue) -> CoreLink {
        CoreLink {
            router: queue.router.cloned(),
            options: LinkOptions {
                buffer: Some(queue.buffer.unwrap_or(BUFFER)),
                capacity: queue.capacity,
                ..LinkOptions::default()
            },
            measured: self.measured,
            on_air: true,
            ..CoreLink::new(name, ends, (rate, Span::ZERO), queue.at.clone())
        }
    }

    /// The link that leads from the channel to a station: it takes no time.
    fn entry(&self, station: &str) -> CoreLink {
        let rate = BitRate::from_bps(1e14);
        let name = format!("{}/{}/{station}", self.name, self.base);
        CoreLink {
            options: LinkOptions { buffer: Some(BufferSize::Unlimited), ..LinkOptions::default() },
            router: Some(LawSpec::Name("droptail".to_owned())),
            ..CoreLink::new(name, (self.name, station), (rate, Span::ZERO), self.at.clone())
        }
    }
}

/// Adds the channels of `[[wlan]]`.
pub(crate) fn channels(document: &Document, network: &mut Network) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for (index, wlan) in document.wlan.list().iter().enumerate() {
        let at = KeyPath::element("wlan", index);
        if !names.insert(&wlan.name) {
            return Err(at.key("name").fault(format!("there are two wlans `{}`", wlan.name)));
        }
        let is_node = |link: &CoreLink| link.from == wlan.name || link.to == wlan.name;
        if network.links.iter().any(is_node) {
            let said = format!("there is a node `{}`; a wlan has a name of its own", wlan.name);
            return Err(at.key("name").fault(said));
        }
        channel(wlan, &at)?.add(network);
    }
    Ok(())
}

fn channel<'a>(wlan: &'a Wlan, at: &KeyPath) -> Result<Channel<'a>, Fault> {
    let standard = wlan.standard.0;
    let rate = match wlan.rate {
        Some(rate) => check(standard, rate, &at.key("rate"))?,
        None => standard.highest(),
    };
    if wlan.station.is_empty() {
        return Err(at.fault("a wlan has a station besides its base station: [[wlan.station]]"));
    }
    let mut names = BTreeSet::new();
    let mut stations = Vec::new();
    for (index, station) in wlan.station.iter().enumerate() {
        let at = at.key("station").index(index);
        let name = &station.name;
        if *name == wlan.base || *name == wlan.name {
            let what = if *name == wlan.base { "the base station" } else { "the wlan" };
            return Err(at.key("name").fault(format!("`{name}` is {what}; there is one")));
        }
        if !names.insert(name) {
            return Err(at.key("name").fault(format!("there are two stations `{name}`")));
        }
        stations.push(Member {
            name: name.clone(),
            rate: match station.rate {
                Some(rate) => check(standard, rate, &at.key("rate"))?,
                None => rate,
            },
            errors: station.errors.or(wlan.errors),
            rate_changes: {
                for (index, change) in station.rate_changes.iter().enumerate() {
                    check(standard, change.rate, &at.key("rate_changes").index(index).key("rate"))?;
                }
                rate_changes(&station.rate_changes, &at)?
            },
            queue: Queue {
                buffer: station.buffer.or(wlan.buffer),
                router: station.router.as_ref().or(wlan.router.as_ref()),
                capacity: station.capacity.or(wlan.capacity),
                at,
            },
        });
    }
    if wlan.base == wlan.name {
        return Err(at.key("base").fault("a wlan and its base station have names of their own"));
    }
    Ok(Channel {
        name: &wlan.name,
        base: &wlan.base,
        phy: phy(standard, &wlan.mac, &at.key("mac"))?,
        queues: wlan.queues,
        rate,
        queue: Queue {
            buffer: wlan.buffer,
            router: wlan.router.as_ref(),
            capacity: wlan.capacity,
            at: at.clone(),
        },
        stations,
        measured: wlan.measured,
        at: at.clone(),
    })
}

/// A server, a base station and its clients; groups `download` and `upload`.
pub(crate) fn expand(template: &WlanTemplate) -> Result<(Network, Template), Fault> {
    let at = KeyPath::root().key("wlan");
    let standard = template.standard.0;
    let flows = template.download.0.max(template.upload.0);
    let clients = template.clients.map_or(flows, |clients| clients.0);
    if clients == 0 {
        let said = "there are no clients: give `download` or `upload` flows, or `clients`";
        return Err(at.fault(said));
    }
    if clients > MOST_CLIENTS {
        return Err(at.fault(format!("{clients} clients; at most {MOST_CLIENTS}")));
    }
    let all = match template.rate {
        Some(rate) => check(standard, rate, &at.key("rate"))?,
        None => standard.highest(),
    };
    if let Some(rates) = &template.rates
        && rates.len() as u64 != clients
    {
        let said = format!("{} rates for {clients} clients", rates.len());
        return Err(at.key("rates").fault(said));
    }
    let queue = Queue {
        buffer: template.buffer,
        router: None,
        capacity: template.capacity,
        at: at.clone(),
    };
    let mut stations = Vec::new();
    for client in 0..clients as usize {
        let rate = match &template.rates {
            Some(rates) => check(standard, rates[client], &at.key("rates").index(client))?,
            None => all,
        };
        stations.push(Member {
            name: format!("client{}", client + 1),
            rate,
            errors: template.errors,
            rate_changes: Vec::new(),
            queue: queue.clone(),
        });
    }
    let mut network = Network::default();
    let wire = (template.wired_rate.0, template.wired_delay.0);
    for (name, ends) in
        [("wired".to_owned(), ("server", "base")), (format!("wired{REVERSE}"), ("base", "server"))]
    {
        let link = CoreLink::new(name, ends, wire, at.clone());
        network.links.push(CoreLink { measured: true, ..link });
    }
    let channel = Channel {
        name: "wlan",
        base: "base",
        phy: phy(standard, &template.mac, &at.key("mac"))?,
        queues: template.queues,
        rate: all,
        queue: queue.clone(),
        stations,
        measured: true,
        at: at.clone(),
    };
    channel.add(&mut network);
    network.index_links();
    let way = |client: u64| {
        let find = |name: String| network.find(&name);
        let up = [find(format!("wlan/client{client}")), find(format!("wired{REVERSE}"))];
        let shared = match template.queues {
            Queues::Shared => find("wlan/base".to_owned()),
            Queues::PerStation => None,
        };
        let down = [find("wired".to_owned()), shared, find(format!("wlan/base/client{client}"))];
        (
            down.into_iter().flatten().collect::<Vec<_>>(),
            up.into_iter().flatten().collect::<Vec<_>>(),
        )
    };
    let ways: Vec<_> = (1..=clients).map(way).collect();
    let downloads: Vec<CoreWay> =
        (ways.iter().cloned()).map(|(down, up)| CoreWay { forward: down, backward: up }).collect();
    let uploads: Vec<CoreWay> =
        ways.into_iter().map(|(down, up)| CoreWay { forward: up, backward: down }).collect();
    for (name, count, ways) in
        [("download", template.download.0, &downloads), ("upload", template.upload.0, &uploads)]
    {
        template.start.check(count, &at.key("start"))?;
        if count > 0 {
            network.groups.push(CoreGroup {
                name: name.to_owned(),
                count,
                ways: ways.clone(),
                access: None,
                start: template.start.clone(),
                stop: None,
                size: FlowSize::Endless,
                arrivals: None,
                sender: None,
                mismatch: None,
                transport: Default::default(),
                at: at.key(name),
            });
        }
    }
    let ways = vec![("download", downloads), ("upload", uploads)];
    Ok((network, Template { ways, access: None, start: template.start.clone() }))
}

/// Most clients of a template.
const MOST_CLIENTS: u64 = 10_000;
