//! Against ns-3 and htsim on the points where these two agree (shared dumbbell, SACK, DropTail).

mod support;

use support::Dumbbell;

/// W1oneway: ns-3 has a mean queue of 876 packets and drops 2.39e-4, htsim 878 and 2.18e-4.
#[test]
fn one_way_sack_over_droptail() {
    let seeds = 1..=3;
    let runs: Vec<_> =
        seeds.map(|seed| Dumbbell { reverse: 0, ..Dumbbell::default() }.run(seed)).collect();
    let mean = |f: &dyn Fn(&knee_sim::report::Report) -> f64| {
        runs.iter().map(f).sum::<f64>() / runs.len() as f64
    };
    let queue = mean(&|run| run.links[0].queue_mean_packets);
    let drops = mean(&|run| run.links[0].dropped as f64 / run.links[0].offered as f64);
    assert!((780.0..=970.0).contains(&queue), "queue {queue}");
    assert!((1.6e-4..=3.2e-4).contains(&drops), "drops {drops}");
    assert!(runs.iter().all(|run| (0.995..=1.0).contains(&run.links[0].utilisation)));
}

/// W3, a thousand flows: ns-3 has a mean queue of 1316 packets and drops 6.5 %, htsim 1311 and 6.7 %.
#[test]
fn a_thousand_flows_over_droptail() {
    let run = Dumbbell { forward: 1000, reverse: 0, seconds: 20, warmup: 5, ..Dumbbell::default() }
        .run(1);
    let link = &run.links[0];
    assert!((1200.0..=1430.0).contains(&link.queue_mean_packets), "{}", link.queue_mean_packets);
    let drops = link.dropped as f64 / link.offered as f64;
    assert!((0.055..=0.077).contains(&drops), "{drops}");
}

/// The base of ns-2's runs with all of VCP's text switched on: utilisation 0.927, Jain 0.9998, no drops.
#[test]
fn vcp_as_its_text_says() {
    let run = Dumbbell { sender: "vcp", router: "vcp", initial_window: 2.0, ..Dumbbell::default() }
        .run(1);
    let link = &run.links[0];
    assert!((0.907..=0.947).contains(&link.utilisation), "{}", link.utilisation);
    assert!(link.queue_mean_packets < 15.0 && link.dropped == 0);
}
