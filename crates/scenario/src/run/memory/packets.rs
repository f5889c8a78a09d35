//! How many packets may be in a network at once: under way, waiting, and in bursts.
//!
//! A link that more can come to than it carries fills its buffer; one that nothing but as fast a link feeds does not.
//! A buffer without end holds what slow start can put into it, or little where routers steer senders. Senders that ask
//! routers how fast to go, on a way where none answers, send all that their window allows at once. No link holds more
//! than the windows of its flows.

use super::part::{Part, Phase};
use crate::network::core::{CoreGroup, CoreLink, CoreWay, Network};
use crate::network::flows::mean_packets;
use crate::plan::plans::{GroupPlan, LinkPlan, Plan};
use crate::scenario::Scenario;
use knee_input::interrupt::{Interrupt, Interrupted};
use knee_input::quantity::FlowSize;
use knee_laws::codecs::Codec;
use knee_laws::quantities::BitRate;
use knee_laws::sender::SenderLaw;
use knee_sim::config::Buffer;
use std::collections::BTreeMap;

/// A packet in a ring.
const PACKET: f64 = 64.0;
/// What a waiting packet whose departure is known takes besides, with what statistics keep of each length.
const WAITING: f64 = 24.0 + 8.0;
/// What is kept of a packet under way for laws that ask for delivery rates.
const RATED: f64 = 56.0;
/// What is kept of a packet that a link delays at random.
const LATE: f64 = 96.0;
/// How long a flow that has ended is kept for its timers, seconds.
const LINGERING: f64 = 1.5;
/// RTTs that a short flow takes.
const SHORT_FLOW_RTTS: f64 = 10.0;
/// BDPs that wait at most in a buffer without end where routers steer senders.
const STEERED_BDPS: f64 = 2.0;
/// A burst that needs no more than every flow has.
const SMALL_BURST: f64 = 2.0;
/// The law of a queue that nothing but its buffer bounds.
const UNMANAGED: &str = "droptail";

/// Flows of a group that are there at once, at most; those that arrive are of so many bytes on average.
fn present(network: &Network, group: &CoreGroup, (bytes, seconds): (f64, f64)) -> f64 {
    let Some(arrivals) = &group.arrivals else { return group.count as f64 };
    if group.count == 0 {
        return 0.0;
    }
    let offered = arrivals.per_second.0 * bytes;
    let held_up = (1.0 - carried(network, group) / offered).max(0.0) * seconds;
    let rtts = group.ways.iter().map(|way| network.mean_rtt(group, way).seconds());
    let usual = LINGERING + SHORT_FLOW_RTTS * rtts.fold(0.0, f64::max);
    arrivals.per_second.0 * (usual + held_up).min(seconds)
}

/// What a group's way carries, bytes a second.
fn carried(network: &Network, group: &CoreGroup) -> f64 {
    let of_way = |way: &CoreWay| {
        way.forward.iter().map(|link| fastest(&network.links[*link])).fold(f64::INFINITY, f64::min)
    };
    group.ways.iter().map(of_way).fold(0.0, f64::max)
}

/// Places of a ring that has held so many packets.
fn places(packets: f64) -> f64 {
    if packets < 1.0 { 0.0 } else { libm::exp2(libm::ceil(libm::log2(packets))) }
}

/// Places while a ring grows: those that it had besides.
fn growing(packets: f64) -> f64 {
    1.5 * places(packets)
}

fn bytes(rate: BitRate) -> f64 {
    rate.bps() / 8.0
}

fn rates(link: &CoreLink) -> impl Iterator<Item = f64> {
    link.options.rate_changes.iter().map(|(_, rate)| *rate).chain([link.rate]).map(bytes)
}

fn fastest(link: &CoreLink) -> f64 {
    rates(link).fold(0.0, f64::max)
}

/// What a group's flows send.
pub(super) struct Sending<'a> {
    core: &'a CoreGroup,
    codec: Codec,
    /// So many are there at once.
    pub flows: f64,
    data_bytes: f64,
    /// Most packets of a flow in the network.
    window: f64,
    /// Packets that it sends at once.
    burst: f64,
    /// It asks how fast to go, and nobody answers.
    unanswered: bool,
    /// Does its law ask for delivery rates?
    rated: bool,
    /// The most that comes to the first of its core links, bytes a second.
    access: f64,
    /// The most that comes out of its way.
    rate: f64,
}

impl<'a> Sending<'a> {
    pub fn new(
        (network, plan): (&Network, &Plan),
        (core, laws): (&'a CoreGroup, &GroupPlan),
        seconds: f64,
    ) -> Self {
        let transport = &laws.transport;
        let data_bytes = f64::from(transport.data_bytes);
        let size = match (&core.arrivals, core.size) {
            (Some(arrivals), _) => mean_packets(&arrivals.size, data_bytes),
            (None, FlowSize::Packets(packets)) => packets,
            (None, FlowSize::Bytes(bytes)) => bytes / data_bytes,
            (None, FlowSize::Endless) => f64::INFINITY,
        };
        let flows = present(network, core, (size * data_bytes, seconds));
        let own = core.access.as_ref().map_or(f64::INFINITY, |access| bytes(access.rate));
        let access = own * flows.max(1.0);
        let window = transport.max_window.min(size.max(1.0));
        let codec = transport.codec;
        let answers = |link: &usize| plan.links[*link].router.writes(codec);
        let unanswered =
            matches!(codec, Codec::Rate | Codec::Xcp) && !core.crossed().iter().any(answers);
        let burst = match unanswered {
            true => window,
            false if transport.handshake => 1.0,
            false => transport.initial_window.min(window),
        };
        let rated = laws.build().is_ok_and(|law| law.wants_rate());
        let rate = carried(network, core).min(access);
        Self { core, codec, flows, data_bytes, window, burst, unanswered, rated, access, rate }
    }

    /// Its ways, and the part of its flows that takes each.
    fn shares(&self) -> impl Iterator<Item = (&'a CoreWay, f64)> {
        let count = self.core.count.max(1) as f64;
        self.core.shares().map(move |(way, flows)| (way, flows as f64 / count))
    }

    /// The longest mean RTT of its ways, and how much of that lies in the core, seconds.
    fn rtts(&self, network: &Network) -> (f64, f64) {
        let rtts = self.core.ways.iter().map(|way| {
            (network.mean_rtt(self.core, way).seconds(), network.core_rtt(way).seconds())
        });
        rtts.fold((0.0, 0.0), |longest, rtt| if rtt.0 > longest.0 { rtt } else { longest })
    }

    /// What it takes at its ends: bursts that wait for access links, and packets on these.
    fn at_its_ends(&self, network: &Network, seconds: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.core.access.is_some() && self.burst > SMALL_BURST {
            let bytes = (self.flows + 0.5) * PACKET * places(self.burst); // of one, while it grows
            parts.push(self.part_of_bursts(bytes));
        }
        let (rtt, core) = self.rtts(network);
        let access = (rtt - core).clamp(0.0, seconds);
        let most = self.flows * self.window;
        let on_access = (self.rate * access / self.data_bytes).min(most);
        let rated = if self.rated {
            let way = self.rate * rtt.min(seconds);
            RATED * growing((way / self.data_bytes).min(most))
        } else {
            0.0
        };
        parts.push(under_way(PACKET * growing(on_access) + rated, self.core.shown("rtt")));
        parts
    }

    fn part_of_bursts(&self, bytes: f64) -> Part {
        let flows = self.core.count;
        let (what, key, remedy) = match self.unanswered {
            true => (
                format!("the windows of {flows} flows that no router holds back"),
                "max_window",
                "take a smaller transport.max_window, or a router that their law reads",
            ),
            false => (
                format!("the initial windows of {flows} flows"),
                "initial_window",
                "take a smaller transport.initial_window",
            ),
        };
        let at = format!("transport.{key}");
        Part { bytes, phase: Phase::Run, at, what, remedy }
    }
}

fn under_way(bytes: f64, at: String) -> Part {
    Part {
        bytes,
        phase: Phase::Run,
        at,
        what: "packets under way".to_owned(),
        remedy: "take lower rates, shorter delays or larger packets",
    }
}

/// What comes to a link.
#[derive(Clone)]
struct Load {
    /// The most that comes from each link before it, and from each group that begins here, bytes a second.
    feeders: BTreeMap<Feeder, f64>,
    /// Packets that its flows' windows allow.
    windows: f64,
    /// The most that its flows send, and what answers to data of others, packets a second.
    packets: f64,
    acks: f64,
    data_bytes: f64,
    /// Packets that come at once from flows that begin here.
    burst: f64,
    /// Do routers tell all its senders how fast to go, or does its law keep the queue short?
    is_steered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    Link(usize),
    Group(usize),
}

impl Load {
    fn new() -> Self {
        Self {
            feeders: BTreeMap::new(),
            windows: 0.0,
            packets: 0.0,
            acks: 0.0,
            data_bytes: f64::INFINITY,
            burst: 0.0,
            is_steered: true,
        }
    }

    /// Data come from a group or a link, so much of a group's.
    fn add(
        &mut self,
        (sending, share): (&Sending, f64),
        (feeder, most): (Feeder, f64),
        laws: &LinkPlan,
    ) {
        self.feeders.insert(feeder, most);
        self.windows += share * sending.flows * sending.window;
        self.packets += share * sending.rate / sending.data_bytes;
        self.data_bytes = self.data_bytes.min(sending.data_bytes);
        if matches!(feeder, Feeder::Group(_)) && sending.core.access.is_none() {
            self.burst += share * sending.flows * sending.burst;
        }
        let told = !sending.codec.is_optional() && laws.router.writes(sending.codec);
        self.is_steered &= told || laws.router.info().name != UNMANAGED;
    }

    /// Packets that wait at most.
    fn waiting(&self, link: &CoreLink, buffer: Buffer, (rtt, seconds): (f64, f64)) -> f64 {
        let comes: f64 = self.feeders.values().sum();
        let slowest = rates(link).fold(f64::INFINITY, f64::min);
        if comes <= 1.001 * slowest && self.burst <= SMALL_BURST {
            return 0.0;
        }
        let pipe = |time: f64| fastest(link) * time / self.data_bytes;
        let most = match buffer {
            Buffer::Packets(packets) => packets as f64,
            Buffer::Bytes(bytes) => bytes as f64 / self.data_bytes,
            Buffer::Unlimited if self.is_steered => STEERED_BDPS * pipe(rtt) + self.burst,
            Buffer::Unlimited => pipe(seconds) + self.burst,
        };
        most.min(self.windows)
    }

    /// Packets on their way over the link at most.
    fn on_line(&self, link: &CoreLink, seconds: f64) -> f64 {
        let data = self.packets.min(fastest(link) / self.data_bytes);
        let time = link.delay.seconds().min(seconds);
        (data * time).min(self.windows) + self.acks * time
    }
}

/// The packets of a run, by what they are for.
pub(super) fn parts(
    scenario: &Scenario,
    plan: &Plan,
    interrupt: Interrupt,
) -> Result<Vec<Part>, Interrupted> {
    let network = scenario.network_of(plan);
    let seconds = scenario.document.duration.0.seconds();
    let mut loads = vec![Load::new(); network.links.len()];
    let mut parts = Vec::new();
    for (number, group) in network.groups.iter().zip(&plan.groups).enumerate() {
        if group.0.count == 0 {
            continue;
        }
        let sending = Sending::new((network, plan), group, seconds);
        parts.extend(sending.at_its_ends(network, seconds));
        for (way, share) in sending.shares() {
            let mut feeder = (Feeder::Group(number), sending.access);
            for &link in &way.forward {
                interrupt.check()?;
                loads[link].add((&sending, share), feeder, &plan.links[link]);
                feeder = (Feeder::Link(link), fastest(&network.links[link]));
            }
            for link in &way.backward {
                interrupt.check()?;
                loads[*link].acks += share * sending.rate / sending.data_bytes;
            }
        }
    }
    let mut waits = (0.0, 0.0, 0);
    let mut travels = (0.0, 0.0, 0);
    let mut late = 0.0;
    for (number, (link, load)) in network.links.iter().zip(&loads).enumerate() {
        interrupt.check()?;
        let times = (network.rtt_over(number).seconds(), seconds);
        let waiting = load.waiting(link, plan.links[number].buffer, times);
        let on_line = load.on_line(link, seconds);
        // Where departures are known, those that wait are on the line already.
        let travelling = PACKET * (growing(on_line + waiting) - growing(waiting));
        for (sum, bytes) in
            [(&mut waits, (PACKET + WAITING) * growing(waiting)), (&mut travels, travelling)]
        {
            sum.0 += bytes;
            if bytes > sum.1 {
                (sum.1, sum.2) = (bytes, number);
            }
        }
        if let Some(reorder) = link.options.reorder {
            let time = reorder.delay.0.seconds().min(seconds);
            late += LATE * reorder.probability.0 * load.packets * time;
        }
    }
    let at = |number: usize, key| {
        network.links.get(number).map_or_else(String::new, |link| link.shown(key))
    };
    let name = network.links.get(waits.2).map_or("", |link| link.name.as_str());
    parts.push(Part {
        bytes: waits.0,
        phase: Phase::Run,
        at: at(waits.2, "buffer"),
        what: format!("packets that wait, most of them at link `{name}`"),
        remedy: "take smaller buffers",
    });
    parts.push(under_way(travels.0, at(travels.2, "delay")));
    parts.push(Part {
        bytes: late,
        phase: Phase::Run,
        at: "reorder".to_owned(),
        what: "packets that links delay at random".to_owned(),
        remedy: "take shorter delays",
    });
    Ok(parts)
}
