//! What a scenario says that may be meant, but likely is not: it is accepted with a warning.
//!
//! A run is often cut short to try something, so that what comes after its end is no mistake to refuse.

use crate::document::format::Document;
use crate::network::core::{CoreGroup, CoreLink, Network};
use crate::plan::plans::Plan;
use knee_input::problem::{Fault, KeyPath};
use knee_laws::quantities::{Span, Time};

/// Most doubts that are told; who has more has made the same mistake many times.
const MOST: usize = 20;

/// What is doubtful, in the order of the text's tables.
pub(crate) fn doubts(document: &Document, network: &Network, plans: &[Plan]) -> Vec<Fault> {
    let end = document.duration.0;
    let mut found = of_the_run(document, network, end);
    for link in &network.links {
        found.extend(of_link(link, end));
    }
    for group in &network.groups {
        found.extend(of_group(group, end));
    }
    for (number, group) in network.groups.iter().enumerate() {
        found.extend(plans.iter().find_map(|plan| of_window(group, plan, number)));
    }
    found.dedup();
    found.truncate(MOST);
    found
}

/// Times of the run as a whole, and of its probes.
fn of_the_run(document: &Document, network: &Network, end: Span) -> Vec<Fault> {
    let root = KeyPath::root();
    let mut found = Vec::new();
    let there = || network.groups.iter().filter(|group| group.count > 0);
    let shortest = there().map(|group| network.shortest_rtt(group)).min();
    if let Some(rtt) = shortest.filter(|rtt| *rtt >= end) {
        let said =
            format!("the run ends before the first ACK can return: the shortest RTT is {rtt}");
        found.push(root.key("duration").fault(said));
    } else if let (Some(rtt), Some(warmup)) = (shortest, document.warmup)
        && end - warmup.0 < rtt
    {
        let rest = end - warmup.0;
        let said = format!("it leaves {rest} to measure, less than the shortest RTT, {rtt}");
        found.push(root.key("warmup").fault(said));
    }
    for (index, probe) in document.probe.iter().enumerate() {
        if probe.interval.0 > end {
            let at = KeyPath::element("probe", index).key("interval");
            found.push(at.fault(format!("the run ends at {end}, before the first sample")));
        }
    }
    found
}

/// A link's changes, and its luck.
fn of_link(link: &CoreLink, end: Span) -> Vec<Fault> {
    let mut found = Vec::new();
    let changes = link.options.rate_changes.iter();
    if let Some(first) = changes.clone().position(|(at, _)| *at >= Time::ZERO + end) {
        let at = link.at.key("rate_changes").index(first).key("at");
        found.push(at.fault(format!("the run ends at {end}; the rate never changes so")));
    }
    if link.options.loss.is_some_and(|loss| loss.loses_all()) {
        found.push(link.at.key("loss").fault("every packet is lost"));
    }
    found
}

/// When a group's flows begin and stop.
fn of_group(group: &CoreGroup, end: Span) -> Vec<Fault> {
    let mut found = Vec::new();
    if group.count == 0 {
        return found;
    }
    let (first, last) = group.start.range(group.count);
    let at = group.start_at();
    if first >= end {
        found.push(at.fault(format!("the run ends at {end}, before its flows begin")));
    } else if last > end {
        found.push(at.fault(format!("the run ends at {end}, before the last of its flows begins")));
    }
    if let Some(stop) = &group.stop {
        let (earliest, _) = stop.range(group.count);
        if earliest > end {
            let at = group.at.key("stop");
            found.push(at.fault(format!("the run ends at {end}, before its flows stop")));
        }
    }
    found
}

/// Windows that the receiver's does not allow.
fn of_window(group: &CoreGroup, plan: &Plan, number: usize) -> Option<Fault> {
    let transport = &plan.groups.get(number)?.transport;
    let (initial, most) = (transport.initial_window, transport.max_window);
    let doubtful = initial > most && group.count > 0;
    doubtful.then(|| {
        let said = format!(
            "flows `{}` begin with {initial} packets, but max_window allows only {most}",
            group.name
        );
        KeyPath::root().key("transport").key("initial_window").fault(said)
    })
}
