//! BBR v1 on a path of known rate and delay.

use super::*;

/// A path of 1000 packets / s and 100 ms: a hundred packets. Each call is a round.
struct Path {
    law: Bbr,
    now: Time,
    delivered: u64,
    rate: f64,
    recovering: bool,
}

impl Path {
    fn new() -> Self {
        let opening = Opening::new(10.0, 1000);
        let law = Bbr::new(Params::default(), &opening);
        Self { law, now: Time::ZERO, delivered: 0, rate: 0.0, recovering: false }
    }

    /// An ACK of packets sent when `prior` had been delivered, at this rate.
    fn ack(&mut self, delivered: u64, prior: u64, in_flight: u32, lost: u32) {
        let newly_acked = (delivered - self.delivered) as u32;
        self.delivered = delivered;
        let rtt = Span::from_millis(100);
        self.law.on_ack(&Ack {
            recovering: self.recovering,
            rate: Some(RateSample {
                delivered,
                prior_delivered: prior,
                interval: rtt,
                rate: self.rate,
                app_limited: false,
                newly_lost: lost,
                lost,
                prior_in_flight: in_flight,
            }),
            ..Ack::new(self.now, newly_acked, in_flight, rtt)
        });
    }

    /// A round of 100 ms that delivers `packets` in 20 ACKs, with so many left in flight.
    fn round(&mut self, packets: u64, in_flight: u32) -> &mut Self {
        let prior = self.delivered;
        self.rate = packets as f64 / 0.1;
        for part in 1..=20 {
            self.now += Span::from_millis(5);
            self.ack(prior + packets * part / 20, prior, in_flight, 0);
        }
        self
    }

    fn pacing(&self) -> f64 {
        self.law.pacing_rate().map_or(0.0, BitRate::bps) / 8e3
    }
}

fn probing() -> Path {
    let mut path = Path::new();
    (0..4).for_each(|_| _ = path.round(100, 300));
    path.round(100, 100);
    path
}

#[test]
fn startup_ends_after_three_rounds_without_growth_and_drain_with_one_bdp() {
    let mut path = Path::new();
    path.round(20, 20).round(40, 40).round(80, 80).round(100, 200);
    assert_eq!(path.law.state, State::Startup);
    assert!((path.pacing() - 2.885_39 * 10.0 / 1e-3).abs() < 1.0); // as it began
    path.round(100, 200).round(100, 200);
    assert_eq!(path.law.state, State::Startup);
    path.round(100, 200);
    assert_eq!(path.law.state, State::Drain);
    assert!((path.pacing() - 1000.0 / 2.885_39).abs() < 0.1, "{}", path.pacing());
    path.round(100, 103);
    assert!(matches!(path.law.state, State::ProbeBw(..)));
}

/// Two BDPs of 100 packets and three.
#[test]
fn the_cycle_probes_and_drains_with_two_bdps_in_flight() {
    let mut path = probing();
    let mut gains = vec![];
    for _ in 0..16 {
        // 128 in flight let the phase of 5/4 end.
        path.round(100, 128);
        gains.push(path.law.gains().0);
    }
    assert_eq!(path.law.window(), 203.0);
    let count = |gain: f64| gains.iter().filter(|seen| **seen == gain).count();
    assert!((1..=3).contains(&count(1.25)) && (1..=3).contains(&count(0.75)), "{gains:?}");
    assert_eq!(count(1.0), 16 - count(1.25) - count(0.75));
}

#[test]
fn the_bandwidth_is_forgotten_after_ten_rounds() {
    let mut path = probing();
    (0..9).for_each(|_| _ = path.round(50, 100));
    assert_eq!(path.law.bandwidth.max(), 1000.0);
    path.round(50, 100);
    assert_eq!(path.law.bandwidth.max(), 500.0);
}

#[test]
fn recovery_conserves_packets_for_a_round_and_then_gives_the_window_back() {
    let mut path = probing();
    (0..4).for_each(|_| _ = path.round(100, 128));
    let before = path.law.window();
    path.law.on_loss(&Loss { now: path.now, in_flight: 120, by: Congestion::Loss });
    path.recovering = true;
    let delivered = path.delivered;
    path.ack(delivered + 1, delivered - 100, 90, 10);
    assert_eq!(path.law.window(), 110.0); // 120 less ten that were lost
    path.ack(delivered + 2, delivered - 99, 118, 0);
    assert_eq!(path.law.window(), 119.0); // what was delivered may be sent
    path.recovering = false;
    path.round(100, 100);
    assert_eq!(path.law.window(), before);
}
