//! A law that fails ends the run, which reports the law, the place and the time.

mod support;

use knee_laws::codecs::Wire;
use knee_laws::quantities::{Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{Arrival, Draw, QueueView, RouterLaw, Verdict};
use knee_laws::sender::{Ack, Loss, SenderLaw};
use knee_sim::Simulation;
use knee_sim::config::{Buffer, GroupId, LinkId, NetworkConfig};
use knee_sim::failure::Failure;
use support::Dumbbell;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

fn network() -> NetworkConfig {
    let buffer = Buffer::Packets(20);
    Dumbbell { mbps: 10.0, forward: 3, reverse: 0, buffer, ..Dumbbell::default() }.config(1)
}

fn fate(config: NetworkConfig) -> (Failure, Simulation) {
    let mut simulation = Simulation::new(config);
    let failure = simulation.run_until(at(10.0)).expect_err("a law fails");
    (failure, simulation)
}

/// A sender that fails with its first ACK after a second.
struct Tired(Option<String>);

impl SenderLaw for Tired {
    fn on_ack(&mut self, ack: &Ack) {
        if ack.now > at(1.0) {
            self.0 = Some("no more".to_owned());
        }
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn window(&self) -> f64 {
        2.0
    }
    fn failure(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

#[test]
fn a_sender_that_fails_ends_the_run() {
    let mut config = network();
    config.flows[1].law = Sender::Custom(Box::new(Tired(None)));
    config.flows[1].start = Time::ZERO;
    let (failure, mut simulation) = fate(config);
    let Failure::Sender { flow, group, at: when, message } = &failure else {
        panic!("{failure:?}")
    };
    assert_eq!((*flow, *group, message.as_str()), (1, GroupId(0), "no more"));
    // Its ACKs come every RTT, of 82 ms and up to 16 ms of queue.
    assert!(*when > at(1.0) && *when < at(1.2), "{when:?}");
    // No event happens any more.
    assert_eq!(simulation.run_until(at(20.0)), Err(failure));
}

/// A router law that fails at the given call.
#[derive(Default)]
struct Broken {
    at_arrival: bool,
    ticks: Option<Time>,
    failed: bool,
}

impl RouterLaw for Broken {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.failed |= self.at_arrival && arrival.queue.now > at(1.0);
        if self.failed { Verdict::Drop } else { Verdict::Accept }
    }
    fn tick_at(&self) -> Option<Time> {
        self.ticks
    }
    fn on_tick(&mut self, _: &QueueView) {
        self.failed = true;
        self.ticks = None;
    }
    fn failure(&self) -> Option<&str> {
        self.failed.then_some("broken")
    }
}

#[test]
fn a_router_that_fails_ends_the_run() {
    let laws = [
        Broken { at_arrival: true, ..Broken::default() },
        Broken { ticks: Some(at(2.0)), ..Broken::default() },
    ];
    for (law, range) in laws.into_iter().zip([(1.0, 1.2), (2.0, 2.0)]) {
        let mut config = network();
        config.links[0].router = Router::Custom(Box::new(law));
        let (failure, _) = fate(config);
        let Failure::Router { link, at: when, message } = failure else { panic!("{failure:?}") };
        assert_eq!((link, message.as_str()), (LinkId(0), "broken"));
        assert!(when >= at(range.0) && when <= at(range.1), "{when:?}");
    }
}
