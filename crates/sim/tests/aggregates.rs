//! Aggregates: packets are conserved, and the carrying flow is a flow like others.

mod support;

use knee_laws::quantities::{Span, Time};
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::Report;
use support::Dumbbell;

fn small() -> Dumbbell {
    Dumbbell {
        router: "vcp",
        mbps: 20.0,
        forward: 5,
        reverse: 3,
        buffer: Buffer::Packets(200),
        seconds: 20,
        warmup: 0,
        ..Dumbbell::default()
    }
}

fn seconds(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

fn run(config: NetworkConfig) -> Report {
    let end = config.end;
    let mut simulation = Simulation::new(config);
    simulation.run_until(end).expect("no law fails");
    simulation.report()
}

/// An island whose links lose and reorder.
fn rough(dumbbell: &Dumbbell, carrier: &str, loss: f64) -> NetworkConfig {
    let mut config = dumbbell.island(1, carrier, Buffer::Packets(40));
    for link in &mut config.links[..2] {
        link.loss = Some(RandomLoss::Bernoulli { probability: loss });
        link.reorder = Some(Reorder { probability: 0.02, delay: Span::from_millis(15) });
    }
    config
}

/// The reports of the ingress links.
fn ingress(report: &Report) -> &[knee_sim::report::LinkReport] {
    &report.links[2..]
}

#[test]
fn what_came_in_was_handed_on_or_dropped_or_is_inside() {
    for (carrier, loss) in [("vcp", 0.0), ("vcp", 0.01), ("sack", 0.02), ("newreno", 0.05)] {
        let mut simulation = Simulation::new(rough(&small(), carrier, loss));
        for step in 1..=40 {
            simulation.run_until(seconds(0.5 * f64::from(step))).expect("no law fails");
            let report = simulation.report();
            for (link, aggregate) in ingress(&report).iter().zip(&report.aggregates) {
                assert_eq!(link.link, aggregate.link);
                let accepted = link.offered - link.dropped;
                let found = aggregate.waiting + aggregate.inside + aggregate.delivered;
                assert_eq!(accepted, found + aggregate.lost, "{carrier} {step}: {aggregate:?}");
                assert_eq!(link.lost, aggregate.lost);
            }
        }
        let report = simulation.report();
        assert!(report.aggregates.iter().all(|aggregate| aggregate.delivered > 300), "{carrier}");
        let lost: u64 = report.aggregates.iter().map(|aggregate| aggregate.lost).sum();
        assert_eq!(lost > 0, loss > 0.0, "{carrier}: {lost} lost");
    }
}

#[test]
fn every_transfer_completes_whatever_the_island_does() {
    let short = Dumbbell { packets: Some(300), seconds: 600, ..small() };
    for carrier in ["vcp", "sack", "newreno", "reno", "cubic"] {
        let report = run(rough(&short, carrier, 0.03));
        for flow in &report.flows[..8] {
            assert!(flow.completion_s > 0.0, "{carrier}: {flow:?}");
        }
    }
}

#[test]
fn a_run_repeats_in_whatever_steps() {
    let whole = format!("{:?}", run(rough(&small(), "vcp", 0.01)));
    let mut simulation = Simulation::new(rough(&small(), "vcp", 0.01));
    for step in 1..=2000 {
        simulation.run_until(seconds(0.01 * f64::from(step))).expect("no law fails");
    }
    assert_eq!(whole, format!("{:?}", simulation.report()));
}

#[test]
fn with_endless_demand_it_does_as_a_native_flow() {
    let alone = Dumbbell { forward: 1, reverse: 0, seconds: 350, warmup: 50, ..small() };
    let mut native = Dumbbell { sender: "vcp", ..alone }.config(1);
    native.links[2..].iter_mut().for_each(|access| access.delay = Span::ZERO);
    let native = run(native);
    let mut simplex = alone.island(1, "vcp", Buffer::Packets(1000));
    for hop in &mut simplex.flows[0].route.backward {
        if *hop == simplex.aggregates[1].link {
            *hop = LinkId(1); // its ACKs do not use an aggregate
        }
    }
    let simplex = run(simplex);
    let duplex = run(alone.island(1, "vcp", Buffer::Packets(1000)));
    let between = |value: f64, least: f64, most: f64| {
        assert!((least..=most).contains(&value), "{value} in [{least}, {most}]");
    };
    let (flow, carrier) = (&native.flows[0], &simplex.flows[1]);
    between(carrier.goodput_mbps / flow.goodput_mbps, 0.98, 1.02);
    between(carrier.rtt_mean_ms / flow.rtt_mean_ms, 0.98, 1.02);
    between(simplex.links[0].utilisation / native.links[0].utilisation, 0.98, 1.02);
    // The other way, an aggregate's ACK of 40 bytes answers each ACK that it carries.
    between(duplex.flows[1].goodput_mbps / flow.goodput_mbps / (1000.0 / 1040.0), 0.98, 1.02);
    for island in [&simplex, &duplex] {
        assert_eq!((island.links[0].dropped, island.links[0].lost), (0, 0));
        assert!(island.links[0].queue_mean_packets < 1.0);
        // The queue is at the ingress, where SACK fills the buffer.
        between(ingress(island)[0].queue_mean_packets, 100.0, 1000.0);
    }
}

#[test]
fn an_aggregate_is_one_flow_however_many_cross_it() {
    let many = Dumbbell { forward: 21, reverse: 0, seconds: 300, warmup: 100, ..small() };
    let mut config = many.island(1, "vcp", Buffer::Packets(500));
    // A second aggregate on the same path carries flow 0 only.
    let mut twin = many.island(1, "vcp", Buffer::Packets(500));
    let link = LinkId(config.links.len() as u32);
    let first = config.aggregates[0].link;
    config.links.push(twin.links.swap_remove(first.0 as usize));
    config.aggregates.push(AggregateConfig { link, ..twin.aggregates.swap_remove(0) });
    let route = &mut config.flows[0].route;
    let hop = route.forward.iter_mut().find(|hop| **hop == first).expect("its ingress");
    *hop = link;
    let report = run(config);
    let (of_many, of_one) = (report.flows[21].goodput_mbps, report.flows[23].goodput_mbps);
    assert!((0.8..=1.25).contains(&(of_many / of_one)), "{of_many} and {of_one} Mbps");
    assert!((17.0..=20.0).contains(&(of_many + of_one)), "{of_many} and {of_one} Mbps");
}

#[test]
fn what_the_island_says_in_the_ecn_bits_stays_inside() {
    // SACK with ECN: one packet with VCP's "overload" (11) would have cut its window.
    let few = Dumbbell { forward: 2, reverse: 0, ecn: true, seconds: 30, ..small() };
    let mut config = few.island(1, "vcp", Buffer::Unlimited);
    config.groups[0].transport.max_window = 150.0;
    config.probes = vec![Probe { quantity: Quantity::Window, interval: Span::from_millis(20) }];
    let report = run(config);
    assert_eq!(report.links[0].marked, 0);
    let windows =
        |flow| report.series.samples.iter().filter(move |s| s.entity == flow).map(|s| s.value);
    for flow in 0..2 {
        let windows: Vec<f64> = windows(flow).collect();
        assert!(windows.is_sorted() && windows.len() > 1000, "flow {flow}: {windows:?}");
    }
}

#[test]
fn encapsulation_takes_its_part_of_the_rate() {
    let alone = Dumbbell { forward: 1, reverse: 0, seconds: 60, warmup: 30, ..small() };
    let goodput = |overhead| {
        let mut config = alone.island(1, "vcp", Buffer::Packets(1000));
        config.aggregates.iter_mut().for_each(|aggregate| aggregate.overhead = overhead);
        let report = run(config);
        (report.flows[1].goodput_mbps, report.links[0].utilisation)
    };
    let (plain, heavy) = (goodput(0), goodput(100));
    // 1000 of 1100 bytes are the carried flow's.
    let ratio = (heavy.0 / heavy.1) / (plain.0 / plain.1);
    assert!((ratio - 1000.0 / 1100.0).abs() < 0.005, "{ratio}");
}
