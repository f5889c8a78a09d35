//! Checks of the document as a whole: names, times, amounts.

use crate::document::choice::{Seeds, SlowStartSpec};
use crate::document::fill;
use crate::document::format::{ArrivalSize, Document, ProbeSpec, ProbeSwitch};
use crate::document::transport::Transport;
use crate::network::core::{CoreGroup, Network};
use crate::plan::plans::{GroupPlan, Plan, check_transport};
use knee_input::nearest::listed;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::FlowSize;
use knee_laws::quantities::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Most runs of one scenario.
pub(crate) const MOST_RUNS: u64 = 10_000;
/// Most flows that may arrive in a run.
const MOST_ARRIVALS: f64 = 1e7;
/// Most laws of links and groups, over all variants.
const MOST_PLANS: usize = 2_000_000;
/// Most bytes of the flows' names in a column of results, and digits of a flow's number.
const MOST_NAMES: f64 = 2e9;
const DIGITS: usize = 8;
/// Most samples of all probes and runs.
const MOST_SAMPLES: f64 = 1e8;
const LONGEST_NAME: usize = 100;

/// Checks what needs no network.
pub(crate) fn document(document: &Document) -> Result<(), Fault> {
    let root = KeyPath::root();
    if let Some(name) = &document.name {
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fine = name.chars().all(allowed) && !name.starts_with('.') && !name.is_empty();
        if !fine || name.len() > LONGEST_NAME {
            return Err(root.key("name").fault(
                "a scenario's name is a folder's: at most 100 letters, digits, -, _ and .",
            ));
        }
    }
    let duration = document.duration.0;
    if document.warmup.is_some_and(|warmup| warmup.0 >= duration) {
        let message = format!("the warm-up must be shorter than the duration, {duration}");
        return Err(root.key("warmup").fault(message));
    }
    seeds(&document.seeds)?;
    let is_wired = document.dumbbell.is_some() || document.parking_lot.is_some();
    let topologies = [
        document.dumbbell.is_some(),
        document.parking_lot.is_some(),
        document.wlan.template().is_some(),
        !document.link.is_empty() || !document.wlan.list().is_empty(),
    ];
    match topologies.iter().filter(|given| **given).count() {
        0 => {
            let said = "missing a topology: [dumbbell], [parking_lot], [wlan] or [[link]]";
            return Err(root.fault(said));
        }
        1 => {}
        _ => {
            let said =
                "[dumbbell], [parking_lot], [wlan] and [[link]] or [[wlan]] exclude each other";
            return Err(root.fault(said));
        }
    }
    if document.bottleneck.is_some() && !is_wired {
        let message = "only [dumbbell] and [parking_lot] have a bottleneck";
        return Err(root.key("bottleneck").fault(message));
    }
    for (index, wlan) in document.wlan.list().iter().enumerate() {
        let at = KeyPath::element("wlan", index);
        name(&wlan.name, &at.key("name"))?;
        name(&wlan.base, &at.key("base"))?;
        for (index, station) in wlan.station.iter().enumerate() {
            name(&station.name, &at.key("station").index(index).key("name"))?;
        }
    }
    for (index, link) in document.link.iter().enumerate() {
        name(&link.name, &KeyPath::element("link", index).key("name"))?;
    }
    for (index, aggregate) in document.aggregate.iter().enumerate() {
        let at = KeyPath::element("aggregate", index);
        name(&aggregate.name, &at.key("name"))?;
        check_transport(&aggregate.transport, &at)?;
    }
    check_transport(&document.transport, &root)?;
    for (index, group) in document.flows.iter().enumerate() {
        let at = KeyPath::element("flows", index);
        name(&group.name, &at.key("name"))?;
        check_transport(&group.transport, &at)?;
        if let Some(arrivals) = &group.arrivals {
            arrival_size(&arrivals.size, &at.key("arrivals").key("size"))?;
        }
    }
    for (index, variant) in document.variant.iter().enumerate() {
        let at = KeyPath::element("variant", index);
        if let Some(given) = &variant.name {
            name(given, &at.key("name"))?;
        }
        check_transport(&variant.transport, &at)?;
    }
    probes(&document.probe)
}

/// Is a slow start chosen for flows none of which has one? A profile may be: the rest of it is for all.
pub(crate) fn slow_start(
    document: &Document,
    network: &Network,
    plans: &[Plan],
) -> Result<(), Fault> {
    let check = |transport: &Transport,
                 at: &KeyPath,
                 flows: &mut dyn Iterator<Item = &GroupPlan>| {
        let chosen = transport.slow_start.as_ref().and_then(|SlowStartSpec(spec)| spec.law());
        let is_chosen = transport.profile.is_none() && chosen.is_some_and(|law| law != "standard");
        let laws: BTreeMap<_, _> = flows
            .map(|flow| flow.sender.info())
            .map(|law| (law.name.as_str(), law.slow_start))
            .collect();
        if !is_chosen || laws.is_empty() || laws.values().any(|has_one| *has_one) {
            return Ok(());
        }
        let laws = listed(laws.into_keys());
        let message = format!("no sender that slow starts is there to change, only {laws}");
        let remedy = "`knee show LAW` tells which do";
        Err(at.key("transport").key("slow_start").fault(format!("{message}; {remedy}")))
    };
    let all = || plans.iter().flat_map(|plan| &plan.groups);
    check(&document.transport, &KeyPath::root(), &mut all())?;
    for (index, (variant, plan)) in document.variant.iter().zip(plans).enumerate() {
        check(&variant.transport, &KeyPath::element("variant", index), &mut plan.groups.iter())?;
    }
    for (index, group) in network.groups.iter().enumerate() {
        check(&group.transport, &group.at, &mut plans.iter().map(|plan| &plan.groups[index]))?;
    }
    Ok(())
}

fn name(name: &str, at: &KeyPath) -> Result<(), Fault> {
    if name.trim().is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(at.fault("a name is 1 to 100 characters in a line"));
    }
    Ok(())
}

fn seeds(seeds: &Seeds) -> Result<(), Fault> {
    let at = KeyPath::root().key("seeds");
    let range = format!("there must be 1 to {MOST_RUNS} seeds");
    match seeds {
        Seeds::Count(count) if *count == 0 || *count > MOST_RUNS => Err(at.fault(range)),
        Seeds::Count(_) => Ok(()),
        Seeds::List(list) if list.is_empty() || list.len() as u64 > MOST_RUNS => {
            Err(at.fault(range))
        }
        Seeds::List(list) => {
            let mut seen = BTreeSet::new();
            match list.iter().find(|seed| !seen.insert(**seed)) {
                Some(seed) => Err(at.fault(format!("seed {seed} is there twice"))),
                None => Ok(()),
            }
        }
    }
}

fn arrival_size(size: &ArrivalSize, at: &KeyPath) -> Result<(), Fault> {
    let (mean, at) = match size {
        ArrivalSize::Fixed(size) => (size, at.key("fixed")),
        ArrivalSize::Exponential(mean) => (mean, at.key("exponential")),
        ArrivalSize::Pareto(pareto) => (&pareto.mean, at.key("pareto").key("mean")),
    };
    match mean {
        FlowSize::Endless => Err(at.fault("flows that arrive must end, such as \"30 packets\"")),
        FlowSize::Packets(_) | FlowSize::Bytes(_) => Ok(()),
    }
}

fn probes(probes: &[ProbeSpec]) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for (index, probe) in probes.iter().enumerate() {
        if !seen.insert(probe.quantity) {
            let at = KeyPath::element("probe", index).key("quantity");
            return Err(at.fault("it is probed twice"));
        }
    }
    Ok(())
}

/// The probes of a run: those named, or the default ones.
pub(crate) fn chosen_probes(document: &Document, network: &Network) -> Vec<ProbeSpec> {
    if !document.probe.is_empty() {
        return document.probe.clone();
    }
    match document.probes {
        Some(ProbeSwitch::None) => Vec::new(),
        Some(ProbeSwitch::Default) | None => fill::probes(lasting_flows(network)),
    }
}

fn lasting_flows(network: &Network) -> u64 {
    let lasting = network.groups.iter().filter(|group| group.arrivals.is_none());
    lasting.map(|group| group.count).sum()
}

/// Checks that the network is of a size that can be run.
pub(crate) fn amounts(
    document: &Document,
    network: &Network,
    variants: usize,
) -> Result<(), Fault> {
    let root = KeyPath::root();
    let seeds = document.seeds.list().len();
    let runs = variants as u64 * seeds as u64;
    if runs > MOST_RUNS {
        let message = format!("variants times seeds make {runs} runs; at most {MOST_RUNS}");
        return Err(root.key("seeds").fault(message));
    }
    let flows: u64 = network.groups.iter().map(|group| group.count).sum();
    if flows == network.aggregates.len() as u64 {
        return Err(root.fault("there is no traffic: every group of flows is empty"));
    }
    let largest = network.groups.iter().max_by_key(|group| group.count);
    let at = largest.map_or_else(KeyPath::root, |group| group.at.clone());
    let links = network.links.len() as u64 + 4 * flows;
    if links > knee_sim::MAX_INDEX as u64 {
        return Err(at.fault(format!(
            "{flows} flows with access links make {links} links; at most {}",
            knee_sim::MAX_INDEX
        )));
    }
    let plans = variants * (network.links.len() + network.groups.len());
    if plans > MOST_PLANS {
        return Err(root.key("variant").fault(format!(
            "{variants} variants of {} links and {} groups make {plans} laws to set up; at most {MOST_PLANS}",
            network.links.len(),
            network.groups.len()
        )));
    }
    arrivals(document, network)?;
    names(document, network, runs)?;
    samples(document, network, runs)
}

/// Do the names of all flows fit into a column?
fn names(document: &Document, network: &Network, runs: u64) -> Result<(), Fault> {
    let seconds = document.duration.0.seconds();
    let bytes = |group: &CoreGroup| {
        let flows = match &group.arrivals {
            None => group.count as f64,
            Some(arrivals) => 1.1 * arrivals.per_second.0 * seconds,
        };
        flows * (group.name.len() + 1 + DIGITS) as f64
    };
    let bytes = runs as f64 * network.groups.iter().map(bytes).sum::<f64>();
    if bytes > MOST_NAMES {
        return Err(KeyPath::root().key("seeds").fault(format!(
            "the names of the flows of {runs} runs take {:.1} GB; at most {:.1} GB",
            bytes / 1e9,
            MOST_NAMES / 1e9
        )));
    }
    Ok(())
}

fn arrivals(document: &Document, network: &Network) -> Result<(), Fault> {
    let seconds = document.duration.0.seconds();
    for group in &network.groups {
        let Some(arrivals) = &group.arrivals else { continue };
        if group.count == 0 {
            continue;
        }
        let flows = arrivals.per_second.0 * seconds;
        if flows > MOST_ARRIVALS {
            let at = group.at.key("arrivals").key("per_second");
            return Err(at.fault(format!(
                "about {flows:.0} flows would arrive; at most {MOST_ARRIVALS:.0}"
            )));
        }
    }
    Ok(())
}

fn samples(document: &Document, network: &Network, runs: u64) -> Result<(), Fault> {
    let links = network.links.iter().filter(|link| link.measured).count() as f64;
    let flows = lasting_flows(network) as f64;
    let mut samples = 0.0;
    for (index, probe) in chosen_probes(document, network).iter().enumerate() {
        let entities = if probe.quantity.0.is_of_links() { links } else { flows };
        samples += document.duration.0.ratio(probe.interval.0.max(Span::from_ps(1)))
            * entities
            * runs as f64;
        if samples > MOST_SAMPLES {
            let message = format!(
                "the probes would take about {samples:.1e} samples in all runs; at most \
                 {MOST_SAMPLES:.0e}"
            );
            if document.probe.is_empty() {
                let message = format!("{message}; set `probes = \"none\"` or name [[probe]]s");
                return Err(KeyPath::root().fault(message));
            }
            return Err(KeyPath::element("probe", index).key("interval").fault(message));
        }
    }
    Ok(())
}
