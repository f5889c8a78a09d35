//! What a scenario's runs need at their peak, part by part.
//!
//! Counted are the flows, links and laws of a run while it is built and while it goes; the packets that may be under
//! way and wait at once (see [`packets`]); samples of probes; and the results of all runs, which are kept to the end.
//! `tests/memory.rs` holds the sum against what runs of many kinds take.

use super::packets::{self, Sending};
use super::part::{Part, Phase};
use crate::network::core::{CoreGroup, Network};
use crate::plan::plans::Plan;
use crate::scenario::Scenario;
use knee_input::interrupt::{Interrupt, Interrupted};
use knee_laws::sender::SenderLaw;
use knee_sim::config::{FlowConfig, LinkConfig, Quantity};
use knee_sim::report::{FlowReport, Sample};
use knee_sim::{FLOW_BYTES, LINK_BYTES};

/// A list's own bytes where it is allocated: what the allocator rounds up and keeps of it.
const ALLOCATED: f64 = 16.0;
/// A link with a queue: the queue, its law, its statistics, its random streams.
const QUEUE: f64 = 1200.0;
/// A queue more of a law with several, and the law's state of it.
const FURTHER_QUEUE: f64 = 120.0;
/// What the agenda, its review and the numbering keep of a flow, and of a link.
const FLOW_INDEX: f64 = 80.0;
const LINK_INDEX: f64 = 24.0;
/// Rings of a flow's access links with the few packets of a small window.
const ACCESS_RINGS: f64 = 2.0 * (2.0 * 64.0 + ALLOCATED);
/// A sample in its columns, and what saving and drawing it takes besides.
const SAMPLE_COLUMNS: f64 = 36.0;
const SAMPLE_AFTER: f64 = 90.0;
/// A flow's row in its columns, but for its names, and what saving it takes besides.
const FLOW_COLUMNS: f64 = 130.0;
const FLOW_AFTER: f64 = 300.0;
/// What a process needs besides: threads, lists, and what is loaded to save and draw results.
const PROCESS: f64 = 2e6;

/// What a scenario's runs need.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    parts: Vec<Part>,
}

impl From<Vec<Part>> for Need {
    fn from(parts: Vec<Part>) -> Self {
        Self { parts }
    }
}

impl Need {
    /// Of this scenario. Where variants differ, the one that needs most counts for all.
    pub fn of(scenario: &Scenario, interrupt: Interrupt) -> Result<Self, Interrupted> {
        let mut most: Vec<Part> = Vec::new();
        for plan in &scenario.plans {
            interrupt.check()?;
            let parts = run(scenario, plan, interrupt)?;
            if sum(&parts) > sum(&most) {
                most = parts;
            }
        }
        most.extend(results(scenario));
        Ok(Self { parts: most })
    }

    /// Bytes with so many runs at a time.
    pub fn bytes(&self, threads: usize) -> u64 {
        let (phase, _) = self.fuller(threads);
        (PROCESS + self.sum(Phase::Kept, threads) + self.sum(phase, threads)) as u64
    }

    /// Bytes of each run.
    pub fn each(&self) -> f64 {
        self.sum(Phase::Run, 1)
    }

    /// The part that needs most with so many runs at a time, and its bytes.
    pub fn largest(&self, threads: usize) -> Option<(&Part, f64)> {
        let (phase, times) = self.fuller(threads);
        let counts = |part: &&Part| part.phase == Phase::Kept || part.phase == phase;
        let parts = self.parts.iter().filter(counts);
        let parts = parts.map(|part| match part.phase {
            Phase::Run => (part, part.bytes * times),
            Phase::Kept | Phase::After => (part, part.bytes),
        });
        parts.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// What needs more: the runs, so many at a time, or what comes after them?
    fn fuller(&self, threads: usize) -> (Phase, f64) {
        let runs = self.sum(Phase::Run, threads) >= self.sum(Phase::After, threads);
        if runs { (Phase::Run, threads as f64) } else { (Phase::After, 1.0) }
    }

    fn sum(&self, phase: Phase, threads: usize) -> f64 {
        let parts = self.parts.iter().filter(|part| part.phase == phase);
        let times = if phase == Phase::Run { threads as f64 } else { 1.0 };
        times * parts.map(|part| part.bytes).sum::<f64>()
    }
}

fn sum(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.bytes).sum()
}

/// What one run needs.
fn run(scenario: &Scenario, plan: &Plan, interrupt: Interrupt) -> Result<Vec<Part>, Interrupted> {
    let network = scenario.network_of(plan);
    let mut parts = vec![links(network, plan)];
    let seconds = scenario.document.duration.0.seconds();
    for group in network.groups.iter().zip(&plan.groups) {
        interrupt.check()?;
        parts.push(flows(group.0, Sending::new((network, plan), group, seconds).flows));
    }
    parts.extend(packets::parts(scenario, plan, interrupt)?);
    parts.extend(samples(scenario, plan));
    Ok(parts)
}

/// Links with their laws.
fn links(network: &Network, plan: &Plan) -> Part {
    let one = |(core, laws): (&crate::network::core::CoreLink, &crate::plan::plans::LinkPlan)| {
        let queues = laws.router.info().needs.queues;
        let further = if queues > 1 { queues as f64 * FURTHER_QUEUE } else { 0.0 };
        let changes = 32.0 * core.options.rate_changes.len() as f64;
        link_bytes() + QUEUE + further + changes + core.name.len() as f64
    };
    let count = network.links.len();
    Part {
        bytes: network.links.iter().zip(&plan.links).map(one).sum(),
        phase: Phase::Run,
        at: "router".to_owned(),
        what: format!("the queues of {count} links"),
        remedy: "take fewer links, or a router with fewer queues",
    }
}

/// A link without queue, while it is built.
fn link_bytes() -> f64 {
    LINK_BYTES as f64 + LINK_INDEX + size_of::<LinkConfig>() as f64
}

/// A group's flows with their access links: the more of what their description takes before they are built, and of
/// what they take afterwards.
fn flows(group: &CoreGroup, at_once: f64) -> Part {
    let hops = group.ways.iter().map(|way| way.links().count()).max().unwrap_or(0) + 4;
    let hops = hops as f64;
    let access = if group.access.is_some() { 4.0 } else { 0.0 };
    let described =
        access * link_bytes() + size_of::<FlowConfig>() as f64 + 4.0 * hops + 4.0 * ALLOCATED;
    let built = FLOW_BYTES as f64
        + FLOW_INDEX
        + 4.0 * hops
        + access / 4.0 * ACCESS_RINGS
        + access * (LINK_BYTES as f64 + LINK_INDEX);
    let count = group.count as f64;
    let bytes = match &group.arrivals {
        None => count * described.max(built),
        // Ways are there for all; of flows, those that have come and not gone.
        Some(_) => count * described + at_once * built,
    };
    let what = match &group.arrivals {
        None => format!("{} flows", group.count),
        Some(_) => format!("flows that arrive in `{}`", group.name),
    };
    Part { bytes, phase: Phase::Run, at: group.shown("count"), what, remedy: "take fewer flows" }
}

/// Samples of a run's probes, as the run has them.
fn samples(scenario: &Scenario, plan: &Plan) -> Option<Part> {
    let count = sample_count(scenario, plan);
    (count > 0.0).then(|| Part {
        bytes: count * size_of::<Sample>() as f64,
        phase: Phase::Run,
        at: "probe".to_owned(),
        what: format!("{count:.1e} samples of probes a run"),
        remedy: "take longer intervals, fewer quantities, or probes = \"none\"",
    })
}

/// Samples of a run's probes.
pub(crate) fn sample_count(scenario: &Scenario, plan: &Plan) -> f64 {
    let network = scenario.network_of(plan);
    let duration = scenario.document.duration.0;
    let links = network.links.iter().filter(|link| link.measured).count() as f64;
    let lasting = || network.groups.iter().zip(&plan.groups).filter(|(g, _)| g.arrivals.is_none());
    let flows: f64 = lasting().map(|(group, _)| group.count as f64).sum();
    let shown = |(group, laws): (&CoreGroup, &crate::plan::plans::GroupPlan)| {
        let mut count = 0.0;
        if let Ok(law) = laws.build() {
            law.observe(&mut |_, _| count += 1.0);
        }
        count * group.count as f64
    };
    let of = |probe: &crate::document::format::ProbeSpec| {
        let entities = match probe.quantity.0 {
            quantity if quantity.is_of_links() => links,
            Quantity::Law => lasting().map(shown).sum(),
            _ => flows,
        };
        duration.ratio(probe.interval.0) * entities
    };
    scenario.probes.iter().map(of).sum()
}

/// The results of all runs.
fn results(scenario: &Scenario) -> Vec<Part> {
    let seeds = scenario.document.seeds.list().len() as f64;
    let seconds = scenario.document.duration.0.seconds();
    let mut rows = 0.0;
    let mut flows = 0.0;
    let mut samples = 0.0;
    for plan in &scenario.plans {
        let network = scenario.network_of(plan);
        for group in &network.groups {
            let count = match &group.arrivals {
                None => group.count as f64,
                Some(arrivals) => arrivals.per_second.0 * seconds * f64::from(group.count > 0),
            };
            let names = (plan.name.len() + 2 * group.name.len() + 8) as f64;
            rows += seeds * count;
            flows += seeds * count * (size_of::<FlowReport>() as f64 + FLOW_COLUMNS + names);
        }
        samples += seeds * sample_count(scenario, plan);
    }
    let part = |bytes, phase, (at, what, remedy): (&str, &str, &'static str)| Part {
        bytes,
        phase,
        at: at.to_owned(),
        what: what.to_owned(),
        remedy,
    };
    let of_flows = format!("the results of {rows:.1e} flows in all runs");
    let of_flows = ("flows", of_flows.as_str(), "take fewer flows or seeds, or a shorter duration");
    let of_samples = format!("{samples:.1e} samples of probes in all runs");
    let remedy = "take longer intervals, fewer quantities or seeds, or probes = \"none\"";
    let of_samples = ("probe", of_samples.as_str(), remedy);
    vec![
        part(flows, Phase::Kept, of_flows),
        part(samples * SAMPLE_COLUMNS, Phase::Kept, of_samples),
        part(rows * FLOW_AFTER, Phase::After, of_flows),
        part(samples * SAMPLE_AFTER, Phase::After, of_samples),
    ]
}
