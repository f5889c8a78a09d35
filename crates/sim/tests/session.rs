//! Changes of a running network: the same changes at the same instants give the same run.

mod support;

use knee_laws::params::{ParamError, Value};
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::Opening;
use knee_sim::Simulation;
use knee_sim::config::{
    Buffer, Change, FlowConfig, GroupId, LinkChange, LinkConfig, LinkId, NetworkConfig, Newcomer,
    Probe, Quantity, RandomLoss, Route,
};
use knee_sim::failure::Unchanged;
use knee_sim::report::Report;
use support::Dumbbell;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// Three flows over 20 Mbps for 20 s, with probes of everything.
fn network(sender: &'static str, router: &'static str) -> NetworkConfig {
    let dumbbell = Dumbbell {
        sender,
        router,
        mbps: 20.0,
        forward: 3,
        reverse: 1,
        buffer: Buffer::Packets(100),
        seconds: 20,
        warmup: 0,
        ..Dumbbell::default()
    };
    let mut config = dumbbell.config(1);
    let every = |quantity| Probe { quantity, interval: Span::from_millis(100) };
    config.probes = Quantity::ALL.iter().copied().map(every).collect();
    config
}

fn changes() -> Vec<(Time, LinkChange)> {
    let loss = Some(RandomLoss::Bernoulli { probability: 0.01 });
    vec![
        (at(4.0), LinkChange::Rate(BitRate::from_mbps(5.0))),
        (at(6.0), LinkChange::Delay(Span::from_millis(5))),
        (at(8.0), LinkChange::Loss(loss)),
        (at(10.0), LinkChange::Rate(BitRate::from_mbps(40.0))),
        (at(12.0), LinkChange::Loss(None)),
        (at(14.0), LinkChange::Delay(Span::from_millis(100))),
    ]
}

fn finish(mut simulation: Simulation) -> Report {
    simulation.run_until(at(20.0)).expect("no law fails");
    Report { events: 0, ..simulation.finish() } // a change of the configuration is an event
}

const PAIRS: [(&str, &str); 4] =
    [("sack", "droptail"), ("vcp", "vcp"), ("cubic", "fq-codel"), ("rcp", "rcp")];

#[test]
fn changes_from_outside_are_those_of_the_configuration() {
    for (sender, router) in PAIRS {
        let mut config = network(sender, router);
        config.links[0].changes = changes();
        let inside = finish(Simulation::new(config));
        let mut config = network(sender, router);
        config.links[0].changeable = true;
        let mut simulation = Simulation::new(config);
        for (instant, change) in changes() {
            assert!(simulation.run_before(instant, u64::MAX).expect("no law fails"));
            simulation.apply(Change::Link(LinkId(0), change)).expect("made to change");
        }
        assert_eq!(format!("{:?}", finish(simulation)), format!("{inside:?}"), "{sender}");
    }
}

/// A link that may change, but does not, is like any other.
#[test]
fn a_link_that_may_change_changes_nobody() {
    for (sender, router) in PAIRS {
        let plain = finish(Simulation::new(network(sender, router)));
        let mut config = network(sender, router);
        config.links[0].changeable = true;
        let report = finish(Simulation::new(config));
        assert_eq!(format!("{:?}", report.flows), format!("{:?}", plain.flows), "{sender}");
        assert_eq!(format!("{:?}", report.series), format!("{:?}", plain.series), "{sender}");
    }
}

/// One flow without queue: its RTT is the path's.
#[test]
fn a_new_delay_is_felt_by_what_is_sent_from_then_on() {
    let dumbbell =
        Dumbbell { forward: 1, reverse: 0, seconds: 20, warmup: 0, ..Dumbbell::default() };
    let mut config = dumbbell.config(1);
    config.groups[0].transport.max_window = 10.0;
    config.links[0].changes = vec![
        (at(5.0), LinkChange::Delay(Span::from_millis(8))),
        (at(10.0), LinkChange::Delay(Span::from_millis(138))),
    ];
    config.probes = vec![Probe { quantity: Quantity::Rtt, interval: Span::from_secs(1) }];
    let report = finish(Simulation::new(config));
    let rtt = |second: usize| report.series.samples[second - 1].value;
    // 80 ms, of which 38 lie on the link; access, transmission and the smoothing leave less than 1 ms.
    for (second, expected) in [(4, 80.0), (9, 50.0), (19, 180.0)] {
        assert!((rtt(second) - expected).abs() < 1.0, "{} at {second} s", rtt(second));
    }
    // Packets on the shorter way overtake those under way: reordering, and no loss.
    assert_eq!(report.flows[0].timeouts, 0);
    assert_eq!(report.links[0].lost, 0);
}

fn newcomer(config: &NetworkConfig, first_link: u32) -> Newcomer {
    let link = || LinkConfig::plain("", BitRate::from_mbps(200.0), Span::from_millis(1));
    let own = |n| LinkId(first_link + n);
    let route = Route {
        forward: vec![own(0), LinkId(0), own(1)],
        backward: vec![own(2), LinkId(1), own(3)],
    };
    let law = Sender::build("cubic", &[], &Opening::new(10.0, 1000)).expect("a law");
    let flow =
        FlowConfig { group: GroupId(0), law, route, start: Time::ZERO, stop: None, packets: None };
    assert_eq!(config.groups.len(), 1);
    Newcomer { links: (0..4).map(|_| link()).collect(), flow }
}

#[test]
fn flows_join_and_leave() {
    let config = network("cubic", "droptail");
    let first = config.links.len() as u32;
    let newcomer = newcomer(&config, first);
    let mut simulation = Simulation::new(config);
    simulation.run_before(at(5.0), u64::MAX).expect("no law fails");
    simulation.apply(Change::Join(Box::new(newcomer))).expect("its links are there");
    simulation.run_before(at(15.0), u64::MAX).expect("no law fails");
    simulation.apply(Change::Leave(4)).expect("it is there");
    simulation.apply(Change::Leave(0)).expect("it is there");
    let report = finish(simulation);
    assert_eq!(report.flows.len(), 5);
    let joined = &report.flows[4];
    assert_eq!((joined.start_s, report.flows[0].start_s < 1.0), (5.0, true));
    assert!(joined.goodput_mbps > 1.0 && joined.data_packets > 1000, "{joined:?}");
    let window = |entity, time_s| {
        let mut samples = report.series.samples.iter();
        samples.any(|s| s.entity == entity && s.time_s == time_s && s.quantity == Quantity::Window)
    };
    assert!(window(4, 10.0) && !window(4, 4.0) && !window(4, 19.0) && !window(0, 19.0));
    assert!(window(1, 19.0));
}

#[test]
fn what_cannot_change_says_so() {
    let config = network("cubic", "red");
    let first = config.links.len() as u32;
    let mut lost = newcomer(&config, first);
    lost.flow.route.forward.push(LinkId(999));
    let mut simulation = Simulation::new(config);
    simulation.run_before(at(1.5), u64::MAX).expect("no law fails");
    let rate = |link| Change::Link(LinkId(link), LinkChange::Rate(BitRate::from_mbps(1.0)));
    assert_eq!(simulation.apply(rate(0)), Err(Unchanged::Fixed));
    assert_eq!(simulation.apply(rate(99)), Err(Unchanged::Unknown));
    assert_eq!(simulation.apply(Change::Leave(99)), Err(Unchanged::Unknown));
    assert_eq!(simulation.apply(Change::Join(Box::new(lost))), Err(Unchanged::Unknown));
    let tune = |name: &str| Change::Parameter(0, name.to_owned(), Value::Number(0.5));
    let refused = simulation.apply(tune("bteta"));
    assert!(matches!(
        refused,
        Err(Unchanged::Refused(ParamError::UnknownName | ParamError::Fixed))
    ));
    // Nothing has changed: the run is what it would have been.
    let undisturbed = finish(Simulation::new(network("cubic", "red")));
    assert_eq!(format!("{:?}", finish(simulation)), format!("{undisturbed:?}"));
}
