//! The same network and seed give the same numbers, whoever else is there.

mod support;

use knee_laws::quantities::{Span, Time};
use knee_sim::Simulation;
use knee_sim::config::{Buffer, Loss, Probe, Quantity, Reorder};
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
            simulation.run_until(Time::ZERO + Span::from_millis(100 * step));
        }
        let probed = simulation.report();
        assert_eq!(format!("{:?}", probed.flows), format!("{:?}", whole.flows));
        // Statistics are summed in other steps: equal but for rounding.
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

/// Wherever the work is cut, also within a burst, which a window of 2000 packets makes of each flow's start.
#[test]
fn a_run_repeats_however_its_work_is_cut() {
    let open = Dumbbell { initial_window: 2000.0, ..small("rcp", "droptail") };
    for dumbbell in [small("sack", "droptail"), small("vcp", "vcp"), open] {
        let mut config = |work: Option<u64>| {
            let mut config = dumbbell.config(1);
            config.groups[0].max_window = 2000.0;
            let every = |quantity, ms| Probe { quantity, interval: Span::from_millis(ms) };
            config.probes = vec![every(Quantity::Queue, 10), every(Quantity::Law, 50)];
            let mut simulation = Simulation::new(config);
            let end = Time::ZERO + Span::from_secs(dumbbell.seconds);
            let mut calls = 0;
            match work {
                None => simulation.run_until(end),
                Some(work) => {
                    while !simulation.run_some(end, work) {
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

/// Between two chances to stop a flow sends no more packets than asked for, however large its window is.
#[test]
fn a_burst_is_cut_where_the_work_ends() {
    let mut config =
        Dumbbell { forward: 1, reverse: 0, initial_window: 1e6, ..small("sack", "droptail") }
            .config(1);
    config.groups[0].max_window = 1e6;
    let start = config.flows[0].start;
    let mut simulation = Simulation::new(config);
    let mut sent = 0;
    let mut calls = 0;
    while !simulation.run_some(start, 1000) {
        let now = simulation.report().flows[0].data_packets;
        assert!(now - sent <= 1001, "{} at once", now - sent);
        sent = now;
        calls += 1;
    }
    assert!(simulation.report().flows[0].data_packets == 1_000_000 && calls >= 990);
}

#[test]
fn an_idle_flow_changes_nobody() {
    for (sender, router) in PAIRS {
        let whole = small(sender, router).run(1);
        let mut config = small(sender, router).config(1);
        let mut other = Dumbbell { forward: 6, ..small(sender, router) }.config(1).flows;
        let mut idle = other.remove(0);
        idle.start = Time::ZERO + Span::from_secs(1000);
        config.flows.push(idle);
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(10));
        let report = simulation.report();
        assert_eq!(format!("{:?}", report.links), format!("{:?}", whole.links), "{sender}");
        assert_eq!(format!("{:?}", &report.flows[..10]), format!("{:?}", whole.flows));
    }
}

#[test]
fn chance_that_never_strikes_changes_nobody() {
    for (sender, router) in PAIRS {
        let whole = small(sender, router).run(1);
        let mut config = small(sender, router).config(1);
        for link in &mut config.links[..2] {
            link.loss = Some(Loss::Bernoulli { probability: 0.0 });
            link.reorder = Some(Reorder { probability: 0.0, delay: Span::from_secs(1) });
        }
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(10));
        let report = simulation.report();
        assert_eq!(format!("{:?}", report.links), format!("{:?}", whole.links), "{sender}");
        assert_eq!(format!("{:?}", report.flows), format!("{:?}", whole.flows), "{sender}");
    }
}
