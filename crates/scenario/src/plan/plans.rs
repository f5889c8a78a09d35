//! A variant on the network: the law of every link and group, checked against each other.

use crate::document::choice::{Ecn, SlowStartSpec};
use crate::document::defaults::BUFFER_PACKETS_A_FLOW;
use crate::document::format::Mismatch;
use crate::document::transport::{self, Transport};
use crate::document::wlan::CapacitySpec;
use crate::network::core::{CoreGroup, CoreLink, Network};
use crate::network::flows::{mean_packets, packets};
use crate::plan::law::{self, RouterChoice, SenderChoice};
use crate::plan::variant::Resolved;
use knee_input::interrupt::{Halt, Interrupt};
use knee_input::nearest::listed;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::BufferSize;
use knee_laws::codecs::Codec;
use knee_laws::laws::Laws;
use knee_laws::params::{Refusal, Value};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::LinkView;
use knee_laws::sender::Opening;
use knee_laws::slow_start::Rule;
use knee_sim::config::Buffer;
use std::sync::Arc;

/// Smallest and largest packets on the wire, bytes.
const PACKET_BYTES: std::ops::RangeInclusive<u64> = 40..=65_535;
/// More packets than any buffer may hold.
const MOST_PACKETS: f64 = 1e13;
const ACK_BYTES: std::ops::RangeInclusive<u64> = 1..=65_535;

/// A variant, ready to be built.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub name: String,
    /// A plan a core link.
    pub links: Vec<LinkPlan>,
    /// A plan a group.
    pub groups: Vec<GroupPlan>,
    /// Size of a data packet, as link laws are told.
    pub data_bytes: u16,
    /// Is the network with its aggregates?
    pub aggregates: bool,
}

impl Plan {
    /// See [`Scenario::laws`](crate::Scenario::laws).
    pub fn laws(&self) -> Vec<String> {
        let senders = self.groups.iter().map(|group| {
            let law = &group.sender;
            format!("sender {} {}", law.info().name, law.fingerprint())
        });
        let routers = self.links.iter().map(|link| {
            let law = &link.router;
            format!("router {} {}", law.info().name, law.fingerprint())
        });
        senders.chain(routers).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    /// Builds every law once, so that nothing is left to go wrong later.
    fn check_laws(&self, network: &Network, interrupt: Interrupt) -> Result<(), Halt> {
        let fault = |message: String| KeyPath::root().fault(message);
        for (link, core) in self.links.iter().zip(&network.links) {
            interrupt.check()?;
            link.build(core, self.data_bytes).map_err(fault)?;
        }
        for group in &self.groups {
            interrupt.check()?;
            group.build().map_err(fault)?;
        }
        Ok(())
    }
}

/// A core link's law and buffer.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan {
    pub router: Arc<RouterChoice>,
    pub buffer: Buffer,
}

/// A group's law and transport.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    pub sender: SenderChoice,
    pub transport: knee_sim::config::Transport,
    pub slow_start: Rule,
}

/// Why a law could not be built, though its parameters were checked.
fn refused(refusal: Refusal) -> String {
    format!("a law refused its parameter {}: {:?}", refusal.name, refusal.error)
}

impl LinkPlan {
    /// The law of a link, set up.
    pub fn build(&self, core: &CoreLink, data_bytes: u16) -> Result<Router, String> {
        let view = LinkView {
            rate: match core.options.capacity {
                Some(CapacitySpec::Fixed(rate)) => rate.0,
                _ => core.rate,
            },
            delay_s: core.delay.seconds(),
            buffer: self.buffer.room(u64::from(data_bytes)),
            packet_bytes: u32::from(data_bytes),
        };
        self.router.build(&view).map_err(refused)
    }
}

impl GroupPlan {
    /// The law of a flow that starts.
    pub fn build(&self) -> Result<Sender, String> {
        let opening = Opening {
            initial_window: self.transport.initial_window,
            packet_bytes: u32::from(self.transport.data_bytes),
            slow_start: self.slow_start.clone(),
        };
        self.sender.build(&opening).map_err(refused)
    }
}

/// Puts a variant on the network.
pub(crate) fn plan(
    variant: &Resolved,
    (network, laws): (&Network, &Laws),
    interrupt: Interrupt,
) -> Result<Plan, Halt> {
    let data_bytes = data_bytes(&variant.transport) as u16;
    let mut links = Vec::with_capacity(network.links.len());
    for link in 0..network.links.len() {
        interrupt.check()?;
        links.push(link_plan(variant, (network, laws), link)?);
    }
    let mut groups = Vec::with_capacity(network.groups.len());
    for group in &network.groups {
        interrupt.check()?;
        groups.push(group_plan(variant, &links, (network, group), laws)?);
    }
    let plan = Plan {
        name: variant.name.clone(),
        links,
        groups,
        data_bytes,
        aggregates: variant.aggregates,
    };
    plan.check_laws(network, interrupt)?;
    Ok(plan)
}

/// Size of a data packet.
fn data_bytes(transport: &Transport) -> u64 {
    transport.or(&transport::defaults()).data_size.map_or(0, |size| size.0)
}

fn link_plan(
    variant: &Resolved,
    (network, laws): (&Network, &Laws),
    link: usize,
) -> Result<LinkPlan, Fault> {
    let core = &network.links[link];
    check_capacity(core)?;
    let at = core.at.key("router");
    let router = match &core.router {
        None => Arc::clone(&variant.router),
        Some(spec) => {
            let name_at = law::name_at(spec, &at);
            let name = spec.law().unwrap_or(&variant.router.name);
            Arc::new(law::router(laws, (name, &name_at), (Some(spec), &at))?)
        }
    };
    let data_bytes = data_bytes(&variant.transport);
    let bdp_bytes = core.rate.bytes_in(network.rtt_over(link));
    let bdp_packets = bdp_bytes / data_bytes as f64;
    let whole = |packets: f64| (packets + 0.5).min(MOST_PACKETS) as u64;
    let counted = |packets: u64| {
        if in_bytes(&router) {
            Buffer::Bytes(packets.saturating_mul(data_bytes))
        } else {
            Buffer::Packets(packets)
        }
    };
    let buffer = match core.options.buffer {
        None => {
            let least = BUFFER_PACKETS_A_FLOW * network.flows_over(link);
            counted(whole(bdp_packets).max(least).max(1))
        }
        Some(BufferSize::Bdp(bdp)) => counted(whole(bdp * bdp_packets)),
        Some(BufferSize::Packets(packets)) => Buffer::Packets(packets),
        Some(BufferSize::Bytes(bytes)) => Buffer::Bytes(bytes),
        Some(BufferSize::Unlimited) => Buffer::Unlimited,
    };
    let bytes = buffer.room(data_bytes).count();
    let at = core.at.key("buffer");
    if bytes < data_bytes {
        return Err(at.fault(format!(
            "that is {bytes} B on link `{}`, less than one packet of {data_bytes} B",
            core.name
        )));
    }
    if buffer != Buffer::Unlimited && bytes > 1_000_000_000_000 {
        return Err(at.fault(format!(
            "that is {} GB on link `{}`; a buffer must be at most 1 TB (or \"unlimited\")",
            bytes / 1_000_000_000,
            core.name
        )));
    }
    Ok(LinkPlan { router, buffer })
}

/// Can the capacity be known that way?
fn check_capacity(core: &CoreLink) -> Result<(), Fault> {
    let Some(estimate) = core.options.capacity.and_then(|capacity| capacity.estimate()) else {
        return Ok(());
    };
    let at = core.at.key("capacity");
    if estimate.passive && !core.on_air {
        return Err(at.fault("only a station of a wireless LAN sees a channel; take \"estimated\""));
    }
    if !estimate.weight.is_none_or(|weight| (0.0..=0.999).contains(&weight)) {
        return Err(at.key("weight").fault("it must be a number from 0 to 0.999"));
    }
    let interval = estimate.params().interval.seconds();
    if !(1e-3..=60.0).contains(&interval) {
        return Err(at.key("interval").fault("it must be a time from 1 ms to 60 s"));
    }
    Ok(())
}

/// Does the law measure its queue in bytes (a parameter `byte_mode` that is on)?
fn in_bytes(router: &RouterChoice) -> bool {
    let set = router.params.iter().rfind(|(name, _)| name == "byte_mode");
    let default = router.info().params.iter().find(|info| info.name == "byte_mode");
    let value = set.map(|(_, value)| value).or(default.map(|info| &info.default));
    value == Some(&Value::Flag(true))
}

fn group_plan(
    variant: &Resolved,
    links: &[LinkPlan],
    (network, group): (&Network, &CoreGroup),
    laws: &Laws,
) -> Result<GroupPlan, Fault> {
    let at = group.at.key("sender");
    let sender = match &group.sender {
        None => variant.sender.clone(),
        Some(spec) => {
            let name_at = law::name_at(spec, &at);
            let name = spec.law().unwrap_or(&variant.sender.name);
            law::sender(laws, (name, &name_at), (Some(spec), &at))?
        }
    };
    let options = group.transport.or(&variant.transport);
    let crossed: Vec<&RouterChoice> =
        group.crossed().into_iter().map(|link| &*links[link].router).collect();
    let codec = sender.info().codec;
    let negotiated = match options.ecn {
        Some(Ecn::Set(set)) => set,
        _ => crossed.iter().any(|router| router.writes(codec)),
    };
    let codec = if codec.is_optional() && !negotiated { Codec::None } else { codec };
    let allowed = group.mismatch.unwrap_or(variant.mismatch) == Mismatch::Allow;
    for way in group.ways.iter().filter(|_| !allowed) {
        let crossed: Vec<&RouterChoice> =
            way.forward.iter().map(|link| &*links[*link].router).collect();
        let Some(message) = mismatch((&sender, codec), &crossed, laws) else { continue };
        let at = if group.sender.is_some() { at } else { variant.at.clone() };
        let name = &group.name;
        let way: Vec<&str> =
            way.forward.iter().map(|link| network.links[*link].name.as_str()).collect();
        return Err(at.fault(format!(
            "flows `{name}` over {}: {message}; `mismatch = \"allow\"` runs it all the same",
            way.join(", ")
        )));
    }
    let transport = options.core(sender.info(), codec);
    check_size(group, f64::from(transport.data_bytes))?;
    let slow_start = slow_start(&options, transport.pacing.is_some(), &at)?;
    Ok(GroupPlan { sender, transport, slow_start })
}

/// Most packets of a flow that ends, near the end of sequence numbers.
const MOST_PACKETS_A_FLOW: f64 = 4e9;
const _: () = assert!(MOST_PACKETS_A_FLOW < knee_sim::MAX_PACKETS as f64);
/// Most packets of flows that arrive, on average: few draws are much longer.
const MOST_MEAN_PACKETS: f64 = 1e8;

/// Is a flow's size such as sequence numbers can count?
fn check_size(group: &CoreGroup, data_bytes: f64) -> Result<(), Fault> {
    if let Some(arrivals) = &group.arrivals {
        let mean = mean_packets(&arrivals.size, data_bytes);
        let at = group.at.key("arrivals").key("size");
        let said = || {
            at.fault(format!(
                "that is a mean of {mean:.1e} packets; at most {MOST_MEAN_PACKETS:.0e}"
            ))
        };
        return if mean > MOST_MEAN_PACKETS { Err(said()) } else { Ok(()) };
    }
    let size = packets(group.size, data_bytes).unwrap_or(0.0);
    let said = format!("that is {size:.1e} packets; a flow has at most {MOST_PACKETS_A_FLOW:.0e}");
    if size > MOST_PACKETS_A_FLOW { Err(group.at.key("size").fault(said)) } else { Ok(()) }
}

/// How slow start grows, for laws that have it.
fn slow_start(options: &Transport, is_paced: bool, at: &KeyPath) -> Result<Rule, Fault> {
    let options = options.or(&transport::defaults());
    let Some(SlowStartSpec(spec)) = &options.slow_start else { return Ok(Rule::Standard) };
    law::slow_start(spec, is_paced, at)
}

/// What does not fit between a sender and the routers that it crosses.
fn mismatch(
    (sender, codec): (&SenderChoice, Codec),
    crossed: &[&RouterChoice],
    laws: &Laws,
) -> Option<String> {
    let law = &sender.info().name;
    if !codec.is_optional() && crossed.iter().all(|router| router.info().codec != codec) {
        let all = laws.routers.iter().map(|law| &law.info);
        let writers = all.filter(|info| info.codec == codec).map(|info| info.name.as_str());
        let there: Vec<&str> = crossed.iter().map(|router| router.info().name.as_str()).collect();
        let there = there.into_iter().collect::<std::collections::BTreeSet<_>>();
        return Some(format!(
            "sender `{law}` needs {} feedback, which {} writes, but meets only {}",
            codec.name(),
            listed(writers),
            listed(there.into_iter())
        ));
    }
    let other = crossed.iter().find(|router| {
        let said = router.info().codec;
        codec.uses_ecn_bits() && said.uses_ecn_bits() && !router.writes(codec)
    })?;
    let remedy = if codec.is_optional() { " (or set `transport.ecn = false`)" } else { "" };
    Some(format!(
        "sender `{law}` uses the ECN bits for {}, router `{}` for {}{remedy}",
        codec.name(),
        other.info().name,
        other.info().codec.name()
    ))
}

/// Are packet sizes such as the wire can bear?
pub(crate) fn check_transport(transport: &Transport, at: &KeyPath) -> Result<(), Fault> {
    let at = at.key("transport");
    let outside = |size: Option<knee_input::quantity::Size>,
                   range: &std::ops::RangeInclusive<u64>| {
        size.is_some_and(|size| !range.contains(&size.0))
    };
    if outside(transport.data_size, &PACKET_BYTES) {
        return Err(at.key("data_size").fault("a data packet must be 40 B to 65535 B"));
    }
    if outside(transport.ack_size, &ACK_BYTES) {
        return Err(at.key("ack_size").fault("an ACK must be 1 B to 65535 B"));
    }
    let sizes = transport.or(&transport::defaults());
    let bursts = transport.committed_rate.and(sizes.committed_burst).zip(sizes.data_size);
    if bursts.is_some_and(|(burst, packet)| burst.0 < packet.0) {
        let message = "no packet is in profile unless the burst holds a data packet";
        return Err(at.key("committed_burst").fault(message));
    }
    if let Some(SlowStartSpec(spec)) = &transport.slow_start {
        law::slow_start(spec, false, &at.key("slow_start"))?;
    }
    Ok(())
}
