//! The same network and seed give the same numbers. Idle or renumbered components change nothing.

mod support;

use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::Opening;
use knee_sim::Simulation;
use knee_sim::config::{
    Buffer, FlowConfig, Group, GroupId, LinkConfig, LinkId, NetworkConfig, Probe, Quantity,
    RandomLoss, Reorder, Route, SizeDistribution, SourceConfig,
};
use knee_sim::report::{FlowReport, LinkReport, Sample};
use std::collections::{BTreeMap, VecDeque};
use support::Dumbbell;

fn small(sender: &'static str, router: &'static str) -> Dumbbell {
    Dumbbell {
        sender,
        router,
        mbps: 20.0,
        forward: 5,
        reverse: 5,
        buffer: Buffer::Packets(60),
        seconds: 10,
        warmup: 2,
        ..Dumbbell::default()
    }
}

const PAIRS: [(&str, &str); 3] = [("sack", "droptail"), ("newreno", "red"), ("vcp", "vcp")];

#[test]
fn a_run_repeats_and_another_seed_differs() {
    for (sender, router) in PAIRS {
        let show = |seed| format!("{:?}", small(sender, router).run(seed));
        assert_eq!(show(1), show(1), "{sender}");
        assert_ne!(show(1), show(2), "{sender}");
    }
}

#[test]
fn steps_and_probes_do_not_change_what_happens() {
    for (sender, router) in PAIRS {
        let whole = small(sender, router).run(1);
        let mut config = small(sender, router).config(1);
        let every = |quantity, ms| Probe { quantity, interval: Span::from_millis(ms) };
        config.probes = vec![
            every(Quantity::Queue, 10),
            every(Quantity::Utilisation, 500),
            every(Quantity::Window, 100),
            every(Quantity::Throughput, 500),
        ];
        let mut simulation = Simulation::new(config);
        for step in 1..=100 {
            simulation.run_until(Time::ZERO + Span::from_millis(100 * step)).expect("no law fails");
        }
        let probed = simulation.report();
        assert_eq!(format!("{:?}", probed.flows), format!("{:?}", whole.flows));
        // Statistics are summed in other steps: equal except for rounding.
        let (a, b) = (&probed.links[0], &whole.links[0]);
        assert_eq!((a.offered, a.dropped, a.data_packets), (b.offered, b.dropped, b.data_packets));
        assert!((a.queue_mean_packets - b.queue_mean_packets).abs() < 1e-9);
        assert!((a.utilisation - b.utilisation).abs() < 1e-9);
        let samples = probed.series.samples.iter().filter(|s| s.quantity == Quantity::Utilisation);
        let mean = samples
            .clone()
            .filter(|s| s.entity == 0 && s.time_s > 2.0)
            .map(|s| s.value)
            .sum::<f64>()
            / 16.0;
        assert!((mean - a.utilisation).abs() < 1e-3, "{mean} {}", a.utilisation);
    }
}

/// The work is cut anywhere, also within the burst of 2000 packets with which each flow starts.
#[test]
fn a_run_repeats_however_its_work_is_cut() {
    let open = Dumbbell { initial_window: 2000.0, ..small("rcp", "droptail") };
    for dumbbell in [small("sack", "droptail"), small("vcp", "vcp"), open] {
        let config = |work: Option<u64>| {
            let mut config = dumbbell.config(1);
            config.groups[0].transport.max_window = 2000.0;
            let every = |quantity, ms| Probe { quantity, interval: Span::from_millis(ms) };
            config.probes = vec![every(Quantity::Queue, 10), every(Quantity::Law, 50)];
            let mut simulation = Simulation::new(config);
            let end = Time::ZERO + Span::from_secs(dumbbell.seconds);
            let mut calls = 0;
            match work {
                None => simulation.run_until(end).expect("no law fails"),
                Some(work) => {
                    while !simulation.run_some(end, work).expect("no law fails") {
                        calls += 1;
                    }
                }
            }
            assert_eq!(simulation.now(), end);
            (format!("{:?}", simulation.finish()), calls)
        };
        let (whole, _) = config(None);
        for work in [1, 7, 100, 12_345] {
            let (cut, calls) = config(Some(work));
            assert!(cut == whole, "{} in parts of {work}", dumbbell.sender);
            assert!(calls > 0);
        }
    }
}

/// A flow sends no more packets at once than the work allows, however large its window is.
#[test]
fn a_burst_is_cut_where_the_work_ends() {
    let mut config =
        Dumbbell { forward: 1, reverse: 0, initial_window: 1e6, ..small("sack", "droptail") }
            .config(1);
    config.groups[0].transport.max_window = 1e6;
    let start = config.flows[0].start;
    let mut simulation = Simulation::new(config);
    let mut sent = 0;
    let mut calls = 0;
    while !simulation.run_some(start, 1000).expect("no law fails") {
        let now = simulation.report().flows[0].data_packets;
        assert!(now - sent <= 1001, "{} at once", now - sent);
        sent = now;
        calls += 1;
    }
    assert!(simulation.report().flows[0].data_packets == 1_000_000 && calls >= 990);
}

/// A network of two groups and a source over a law that tells flows apart, or one whose packets have identifiers;
/// at 10 Mbps packets of all flows meet at the same picosecond now and then.
fn mixed(sender: &'static str, router: &'static str) -> NetworkConfig {
    let mut config = Dumbbell { mbps: 10.0, ..small(sender, router) }.config(1);
    let group = |name: &str, transport| Group { name: name.to_owned(), transport };
    let transport = config.groups[0].transport;
    config.groups = vec![group("m", transport), group("c", transport), group("x", transport)];
    config.links[2..].iter_mut().for_each(|link| link.name.clear());
    for (number, flow) in config.flows.iter_mut().enumerate() {
        flow.group = GroupId(number as u32 % 2);
        flow.start = Time::ZERO; // all at once
    }
    let opening = Opening::new(10.0, 1000);
    config.sources.push(SourceConfig {
        group: GroupId(2),
        name: "x".to_owned(),
        law: Box::new(move || Sender::build(sender, &[], &opening).expect("a law")),
        routes: vec![config.flows[0].route.clone()],
        arrivals_per_second: 20.0,
        size: SizeDistribution::Exponential { mean: 10.0 },
        start: Time::ZERO,
        stop: config.end,
    });
    let every = |quantity, ms| Probe { quantity, interval: Span::from_millis(ms) };
    config.probes = vec![every(Quantity::Queue, 100), every(Quantity::Window, 100)];
    config
}

/// The results of named links and of flows, without their numbers and without components that have been added.
fn outcome(config: NetworkConfig) -> Vec<String> {
    let links: Vec<String> = config.links.iter().map(|link| link.name.clone()).collect();
    let mut seen = BTreeMap::new();
    let flows: Vec<String> = (config.flows.iter())
        .map(|flow| {
            let name = &config.groups[flow.group.0 as usize].name;
            let number = seen.entry(name).and_modify(|number| *number += 1).or_insert(0);
            format!("{name} {number}")
        })
        .collect();
    let groups: Vec<String> = config.groups.iter().map(|group| group.name.clone()).collect();
    let end = config.end;
    let mut simulation = Simulation::new(config);
    simulation.run_until(end).expect("no law fails");
    let report = simulation.report();
    let mut outcome = Vec::new();
    for link in report.links {
        let name = &links[link.link.0 as usize];
        outcome.push(format!("{name} {:?}", LinkReport { link: LinkId(0), ..link }));
    }
    let mut arrivals = 0;
    for flow in report.flows {
        let name = match flows.get(flow.flow as usize) {
            Some(name) => name.clone(),
            None => {
                arrivals += 1;
                format!("{} {arrivals}", groups[flow.group.0 as usize])
            }
        };
        outcome.push(format!("{name} {:?}", FlowReport { flow: 0, group: GroupId(0), ..flow }));
    }
    for sample in report.series.samples {
        let of = match sample.quantity {
            Quantity::Queue => &links[sample.entity as usize],
            _ => &flows[sample.entity as usize],
        };
        outcome.push(format!("{of} {:?}", Sample { entity: 0, ..sample }));
    }
    outcome.retain(|row| !row.contains("idle"));
    outcome.sort();
    outcome
}

/// Describes the same network in another order of links, groups and flows. Flows of a group keep their order.
fn renumbered(mut config: NetworkConfig, mut draw: impl FnMut(usize) -> usize) -> NetworkConfig {
    let mut shuffle = |n: usize| {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|last| order.swap(last, draw(last + 1)));
        order
    };
    let places = |order: &[usize]| {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, index)| places[*index] = place as u32);
        places
    };
    // Links without a name have the order in which routes use them.
    let order = shuffle(config.links.len());
    let link = places(&order);
    let mut links: Vec<_> = config.links.into_iter().map(Some).collect();
    config.links = order.iter().filter_map(|index| links[*index].take()).collect();
    let order = shuffle(config.groups.len());
    let group = places(&order);
    config.groups = order.iter().map(|index| config.groups[*index].clone()).collect();
    let mut queues: Vec<VecDeque<FlowConfig>> = vec![];
    queues.resize_with(config.groups.len(), VecDeque::new);
    let count = config.flows.len();
    config.flows.into_iter().for_each(|flow| queues[flow.group.0 as usize].push_back(flow));
    let turns = shuffle(count).into_iter().map(|turn| turn % queues.len()).chain(0..queues.len());
    config.flows = vec![];
    for turn in turns.collect::<Vec<_>>() {
        config.flows.extend(queues[turn].pop_front());
    }
    config.flows.extend(queues.into_iter().flatten());
    let renumber = |route: &mut Route| {
        for hop in route.forward.iter_mut().chain(&mut route.backward) {
            hop.0 = link[hop.0 as usize];
        }
    };
    for flow in &mut config.flows {
        flow.group.0 = group[flow.group.0 as usize];
        renumber(&mut flow.route);
    }
    for source in &mut config.sources {
        source.group.0 = group[source.group.0 as usize];
        source.routes.iter_mut().for_each(renumber);
    }
    config
}

/// Adds a group with a flow that never starts, its access links, and an unused link, all before the others in every
/// order.
fn with_idlers(mut config: NetworkConfig) -> NetworkConfig {
    let transport = config.groups[0].transport;
    config.groups.push(Group { name: "a idle".to_owned(), transport });
    let rate = BitRate::from_mbps(100.0);
    let idle = LinkConfig::plain("a idle", rate, Span::from_millis(1));
    config.links.push(LinkConfig { measured: true, ..idle });
    let mut access = || {
        config.links.push(LinkConfig::plain("", rate, Span::from_millis(1)));
        LinkId(config.links.len() as u32 - 1)
    };
    let route = Route {
        forward: vec![access(), LinkId(0), access()],
        backward: vec![access(), LinkId(1), access()],
    };
    let law = Sender::build("sack", &[], &Opening::new(10.0, 1000)).expect("a law");
    let start = Time::ZERO + Span::from_secs(1000);
    let group = GroupId(config.groups.len() as u32 - 1);
    let flow = FlowConfig { group, law, route, start, stop: None, packets: None };
    config.flows.insert(0, flow);
    config
}

const LAWS: [(&str, &str); 6] = [
    ("sack", "droptail"),
    ("cubic", "fq-codel"),
    ("newreno", "red"),
    ("vcp", "vcp"),
    ("bmcc", "bmcc"),
    ("rcp", "rcp"),
];

#[test]
fn idle_components_change_nobody() {
    for (sender, router) in LAWS {
        let whole = outcome(mixed(sender, router));
        assert!(whole.len() > 1000);
        assert_eq!(outcome(with_idlers(mixed(sender, router))), whole, "{sender}");
    }
}

#[test]
fn numbers_mean_nothing() {
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    for (sender, router) in LAWS {
        let whole = outcome(mixed(sender, router));
        for _ in 0..3 {
            let other = renumbered(mixed(sender, router), &mut draw);
            assert_eq!(outcome(other), whole, "{sender}");
        }
    }
}

#[test]
fn chance_that_never_strikes_changes_nobody() {
    for (sender, router) in PAIRS {
        let whole = small(sender, router).run(1);
        let mut config = small(sender, router).config(1);
        for link in &mut config.links[..2] {
            link.loss = Some(RandomLoss::Bernoulli { probability: 0.0 });
            link.reorder = Some(Reorder { probability: 0.0, delay: Span::from_secs(1) });
        }
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(10)).expect("no law fails");
        let report = simulation.report();
        assert_eq!(format!("{:?}", report.links), format!("{:?}", whole.links), "{sender}");
        assert_eq!(format!("{:?}", report.flows), format!("{:?}", whole.flows), "{sender}");
    }
}
