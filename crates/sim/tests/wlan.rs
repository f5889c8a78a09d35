//! 802.11's DCF against a slot-level reference, and properties of any channel.

mod support;

use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::Report;
use support::wlan::{Greedy, Uploads};

/// Mbps of packets, failures for each attempt, and the share of packets given up.
fn figures(report: &Report, uploads: &Uploads) -> (f64, f64, f64) {
    let sum = |of: fn(&knee_sim::report::StationReport) -> u64| {
        report.stations.iter().map(of).sum::<u64>() as f64
    };
    let delivered = sum(|station| station.delivered);
    let span = (uploads.seconds - 2) as f64;
    let mbps = delivered * f64::from(uploads.bytes) * 8e-6 / span;
    let attempts = sum(|station| station.attempts);
    let given_up = sum(|station| station.retry_drops);
    ((mbps), 1.0 - delivered / attempts, given_up / (delivered + given_up))
}

/// Rows of a variant: stations, rate, bytes, errors, Mbps, failures for each attempt, share of packets given up.
fn reference(variant: &str) -> Vec<[f64; 7]> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/wlan/slot_reference.csv");
    let text = std::fs::read_to_string(file).expect("the reference is there");
    let rows = text.lines().filter(|line| line.split(',').next() == Some(variant));
    rows.map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        [1, 2, 3, 4, 7, 9, 10].map(|cell| cells[cell].parse().expect("a number"))
    })
    .collect()
}

fn against(variant: &str, phy: &Phy) {
    let rows = reference(variant);
    assert_eq!(rows.len(), 21);
    for [stations, mbps, bytes, errors, throughput, failures, given_up] in rows {
        let uploads = Uploads {
            phy: phy.clone(),
            stations: stations as u32,
            mbps,
            bytes: bytes as u16,
            errors,
            seconds: 62,
            seed: 1,
        };
        let (seen, failed, dropped) = figures(&uploads.run(), &uploads);
        let case = format!("{variant}: {stations} stations, {mbps} Mbps, {bytes} B, PER {errors}");
        if std::env::var_os("KNEE_SHOW").is_some() {
            println!(
                "{case}: {seen:.4} / {throughput}, {failed:.5} / {failures}, {dropped:.2e} / {given_up:.2e}"
            );
        }
        assert!((seen / throughput - 1.0).abs() < 0.01, "{case}: {seen} Mbps, not {throughput}");
        // Failures for each attempt, within 3 % or four standard errors.
        let attempts = seen * 1e6 / 8.0 / bytes * 60.0 / (1.0 - failed);
        let error = 4.0 * (failures * (1.0 - failures) / attempts).sqrt();
        assert!(
            (failed - failures).abs() <= error.max(0.03 * failures),
            "{case}: {failed}, not {failures}"
        );
    }
}

#[test]
fn the_channel_is_that_of_the_slot_level_reference() {
    against("standard_EIFS_after_failure", &Phy::b());
}

/// ns-2's differences: windows without their last value, 34 bytes of overhead, DIFS more after a collision, a backoff also
/// on an idle channel. Its stations resume at different instants after a frame error, which is not built.
#[test]
fn the_habits_of_ns_2_are_parameters() {
    let phy = Phy::b();
    let difs = phy.difs();
    let ns2 = Phy {
        open_window: true,
        overhead_bytes: 34,
        after_collision: difs,
        immediate_access: false,
        ..phy
    };
    against("ns2_timing", &ns2);
}

fn eleven(phy: Phy, stations: u32) -> Uploads {
    Uploads { phy, stations, mbps: 11.0, bytes: 1500, errors: 0.0, seconds: 12, seed: 1 }
}

/// Mbps of one station alone: its cycle is a mean backoff and one exchange of `packets` packets.
fn alone(phy: &Phy, packets: usize, announced: bool) -> f64 {
    let rate = BitRate::from_mbps(11.0);
    let announcement = if announced { phy.announcement(rate) } else { Span::ZERO };
    let exchange = announcement + phy.data(&vec![1500; packets], rate) + phy.answer(packets, rate);
    let backoff = phy.slot.seconds() * f64::from(phy.window(0)) / 2.0;
    let cycle = phy.difs().seconds() + backoff + exchange.seconds();
    packets as f64 * 1500.0 * 8e-6 / cycle
}

#[test]
fn one_station_alone_has_its_cycle() {
    let rts = Phy { rts_threshold: 1000, ..Phy::b() };
    let aggregates = Phy { aggregate_packets: 8, ..Phy::b() };
    let cases =
        [(Phy::b(), 1, false), (rts, 1, true), (aggregates, 8, false), (Phy::g(), 1, false)];
    for (phy, packets, announced) in cases {
        let uploads = eleven(phy.clone(), 1);
        let (mbps, failures, _) = figures(&uploads.run(), &uploads);
        let expected = alone(&phy, packets, announced);
        assert!((mbps / expected - 1.0).abs() < 0.005, "{mbps} Mbps, not {expected}");
        assert!(failures < 1e-9 || packets > 1, "{failures}");
    }
}

/// With RTS a collision costs an RTS: at 1 Mbps, where frames are long, ten stations get more, as
/// Bianchi found (JSAC 2000, VI).
#[test]
fn announcements_shorten_collisions() {
    let slow = |phy| Uploads { mbps: 1.0, seconds: 62, ..eleven(phy, 20) };
    let [plain, announced] = [Phy::b(), Phy { rts_threshold: 1000, ..Phy::b() }].map(slow);
    let [(without, ..), (with, ..)] =
        [&plain, &announced].map(|uploads| figures(&uploads.run(), uploads));
    assert!(with > 1.05 * without, "{with} Mbps with RTS, {without} without");
}

#[test]
fn parts_of_time_add_up_and_attempts_are_accounted_for() {
    for errors in [0.0, 0.3] {
        let uploads = Uploads { errors, ..eleven(Phy::b(), 5) };
        let report = uploads.run();
        let channel = report.media[0];
        let airtime: f64 = report.stations.iter().map(|station| station.airtime).sum();
        // In a collision two stations transmit at once.
        let occupied = channel.success + channel.collision + channel.error;
        assert!(airtime >= occupied - 1e-6 && airtime < occupied + 1.5 * channel.collision);
        assert!(
            (0.0..1.0).contains(&channel.idle) && (occupied + channel.idle - 1.0).abs() < 1e-12
        );
        for (station, link) in report.stations.iter().zip(&report.links) {
            let counted = station.collisions + station.errors + station.delivered;
            assert_eq!(station.attempts, counted, "{station:?}");
            assert_eq!(link.lost, station.retry_drops);
            // It always has a packet in service.
            assert!(link.utilisation > 0.999, "{link:?}");
        }
    }
}

/// One transmission for each packet: a collision loses it.
#[test]
fn without_retries_a_collision_is_a_loss() {
    let uploads = eleven(Phy { short_retry_limit: 1, ..Phy::b() }, 5);
    let report = uploads.run();
    for station in &report.stations {
        assert_eq!(station.retry_drops, station.collisions);
        assert!(station.collisions > 100);
    }
}

/// Heusse, Rousseau, Berger-Sabbatel, Duda, "Performance Anomaly of 802.11b", INFOCOM 2003: as each station has the same
/// chance to transmit, one of 1 Mbps pulls the others to its rate. (5) and (6) with their proportion of collisions.
#[test]
fn a_slow_station_pulls_all_to_its_rate() {
    let count = 5;
    let mut config = Uploads { seconds: 62, ..eleven(Phy::b(), count) }.config();
    config.media[0].stations[0].rate = BitRate::from_mbps(1.0);
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(62)).expect("no law fails");
    let report = simulation.finish();
    let rates: Vec<f64> =
        report.stations.iter().map(|station| station.delivered as f64 * 0.012 / 60.0).collect();
    let mean = rates.iter().sum::<f64>() / f64::from(count);
    for rate in &rates {
        assert!((rate / mean - 1.0).abs() < 0.12, "{rates:?}");
    }
    // Collisions: P_c = 1 - (1 - 1 / CWmin)^(N - 1); overhead and frames of fast and slow stations, and a jam.
    let phy = Phy::b();
    let time = |mbps: f64| {
        let rate = BitRate::from_mbps(mbps);
        (phy.difs() + phy.data(&[1500], rate) + phy.answer(1, rate)).seconds()
    };
    let (fast, slow, n) = (time(11.0), time(1.0), f64::from(count));
    let collisions = 1.0 - libm::pow(1.0 - 1.0 / 32.0, n - 1.0);
    let contention = phy.slot.seconds() * (1.0 + collisions) / (2.0 * n) * 31.0;
    let jam = 2.0 / n * slow + (1.0 - 2.0 / n) * fast;
    let cycle = (n - 1.0) * (fast + contention) + slow + contention + collisions * jam * n;
    let expected = 1500.0 * 8e-6 / cycle;
    assert!((mean / expected - 1.0).abs() < 0.05, "{mean} Mbps each, not {expected}");
}

/// A station that sends nothing, first or last in every order.
#[test]
fn an_idle_station_changes_nobody() {
    let whole = eleven(Phy::b(), 4).run();
    for name in ["a", "z"] {
        let mut config = eleven(Phy::b(), 4).config();
        let link = LinkId(config.links.len() as u32);
        config.links.push(LinkConfig::plain(name, BitRate::from_mbps(11.0), Span::ZERO));
        config.media[0].stations.insert(
            0,
            StationConfig {
                name: name.to_owned(),
                queues: vec![StationQueue { link, peer: StationPeer::Own }],
                rate: BitRate::from_mbps(11.0),
                errors: None,
                survey: None,
                entry: None,
            },
        );
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(12)).expect("no law fails");
        let report = simulation.finish();
        assert_eq!(format!("{:?}", report.flows), format!("{:?}", whole.flows));
        assert_eq!(format!("{:?}", report.links), format!("{:?}", whole.links));
        assert_eq!(report.stations[1..], whole.stations[..]);
    }
}

/// A base station that sends to two clients from one queue: each packet at its client's rate.
#[test]
fn packets_of_one_queue_go_at_the_rate_of_whom_they_are_for() {
    let wire = || LinkConfig::plain("", BitRate::from_mbps(1e5), Span::from_micros(1));
    let mut config = eleven(Phy::b(), 0).config();
    let down = LinkId(0);
    config.links.push(LinkConfig {
        buffer: Buffer::Packets(64),
        measured: true,
        ..LinkConfig::plain("down", BitRate::from_mbps(11.0), Span::ZERO)
    });
    let mut stations = vec![StationConfig {
        name: "base".to_owned(),
        queues: vec![StationQueue { link: down, peer: StationPeer::ByPacket }],
        rate: BitRate::from_mbps(11.0),
        errors: None,
        survey: None,
        entry: None,
    }];
    for (client, mbps) in [(1, 11.0), (2, 1.0)] {
        let entry = LinkId(config.links.len() as u32);
        config.links.push(wire());
        config.links.push(wire());
        stations.push(StationConfig {
            name: format!("client-{client}"),
            queues: vec![],
            rate: BitRate::from_mbps(mbps),
            errors: None,
            survey: None,
            entry: Some(entry),
        });
        config.flows.push(FlowConfig {
            group: GroupId(0),
            law: Sender::Custom(Box::new(Greedy(20.0))),
            route: Route { forward: vec![down, entry], backward: vec![LinkId(entry.0 + 1)] },
            start: Time::ZERO,
            stop: None,
            packets: None,
        });
    }
    config.media[0].stations = stations;
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(12)).expect("no law fails");
    let report = simulation.finish();
    // Packets of both take turns: a cycle has one of each.
    let phy = Phy::b();
    let cycle: f64 = [11.0, 1.0]
        .map(|mbps| {
            let rate = BitRate::from_mbps(mbps);
            let exchange = phy.data(&[1500], rate) + phy.answer(1, rate) + phy.difs();
            exchange.seconds() + phy.slot.seconds() * 15.5
        })
        .iter()
        .sum();
    for flow in &report.flows {
        let expected = 0.012 / cycle;
        assert!((flow.goodput_mbps / expected - 1.0).abs() < 0.01, "{flow:?}, not {expected}");
    }
}

/// Rate and errors of a station change in the run, as those of any link do.
#[test]
fn rate_and_errors_change() {
    let mut config = eleven(Phy::b(), 1).config();
    let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    config.links[0].changes = vec![
        (at(4), LinkChange::Rate(BitRate::from_mbps(1.0))),
        (at(6), LinkChange::Loss(Some(RandomLoss::Bernoulli { probability: 0.5 }))),
        (at(8), LinkChange::Rate(BitRate::from_mbps(11.0))),
        (at(10), LinkChange::Loss(None)),
    ];
    config.probes = vec![Probe { quantity: Quantity::Throughput, interval: Span::from_secs(2) }];
    let mut simulation = Simulation::new(config);
    simulation.run_until(at(12)).expect("no law fails");
    let series = simulation.finish().series.samples;
    let seen: Vec<f64> = series.iter().map(|sample| sample.value).collect();
    // Mbps of one station (slot_reference.csv): 6.07 at 11 Mbps, 0.917 at 1 Mbps, 2.22 with half of its frames lost.
    for (value, expected, within) in
        [(seen[1], 6.07, 0.02), (seen[2], 0.917, 0.02), (seen[4], 2.22, 0.1), (seen[5], 6.07, 0.02)]
    {
        assert!((value / expected - 1.0).abs() < within, "{seen:?}");
    }
}

/// Six saturated stations estimate their capacity, which is what they send. The active estimate, from packet times, is exact
/// except for its averages. The passive one, (6.2) to (6.4), leaves out slots in which others count down too.
#[test]
fn saturated_stations_estimate_what_they_send() {
    for (stations, errors) in [(1, 0.0), (3, 0.0), (6, 0.0), (1, 0.3), (3, 0.3)] {
        for (is_passive, within) in [(false, 0.05), (true, 0.25)] {
            let uploads = Uploads { stations, errors, seconds: 32, ..eleven(Phy::b(), 0) };
            let mut config = uploads.config();
            for link in config.links.iter_mut().step_by(2) {
                let params = Default::default();
                link.capacity = Capacity::Estimated(Estimate { params, passive: is_passive });
            }
            for station in &mut config.media[0].stations {
                station.survey = is_passive.then_some(Span::from_millis(200));
            }
            config.probes =
                vec![Probe { quantity: Quantity::Capacity, interval: Span::from_secs(1) }];
            let mut simulation = Simulation::new(config);
            simulation.run_until(Time::ZERO + Span::from_secs(32)).expect("no law fails");
            let report = simulation.finish();
            let (mbps, ..) = figures(&report, &Uploads { seconds: 32, ..eleven(Phy::b(), 0) });
            let own = mbps / f64::from(stations);
            let late = report.series.samples.iter().filter(|sample| sample.time_s > 2.0);
            let estimates: Vec<f64> = late.map(|sample| sample.value).collect();
            let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
            let case = format!("{stations} stations, PER {errors}, passive {is_passive}");
            assert!((mean / own - 1.0).abs() < within, "{case}: {mean} Mbps, not {own}");
        }
    }
}
