//! BBRv3 at, below and above its thresholds.

use super::*;

/// In this state, after a cycle at 1000 packets / s and 100 ms: a hundred packets.
fn bbr3(state: State) -> Bbr3 {
    let opening = Opening::new(10.0, 1000);
    let mut law = Bbr3::new(Params::default(), &opening);
    law.max_bw.update(0, 1000.0);
    law.min_rtt = Some((Span::from_millis(100), Time::ZERO));
    (law.state, law.window, law.rounds.delivered) = (state, 200.0, 5000);
    law.full.is_full = true;
    law
}

fn sample(rate: f64, lost: u32) -> RateSample {
    RateSample {
        delivered: 5001,
        prior_delivered: 5000,
        interval: Span::from_millis(100),
        rate,
        app_limited: false,
        newly_lost: lost,
        lost,
        prior_in_flight: 150,
    }
}

#[test]
fn a_round_with_losses_bounds_rate_and_window_by_beta() {
    let mut law = bbr3(State::Cruise);
    law.take_losses(&sample(500.0, 1));
    assert_eq!((law.bw_lo, law.inflight_lo), (700.0, 140.0));
    law.set_window(0.0);
    assert_eq!(law.window, 140.0);
    assert!((law.pacing - 0.99 * 700.0).abs() < 1e-9);
    law.take_losses(&sample(650.0, 1)); // what was delivered is allowed: more than 0.7 x 700
    assert_eq!(law.bw_lo, 650.0);
}

#[test]
fn losses_while_probing_leave_the_short_term_bounds_alone() {
    let mut law = bbr3(State::Up);
    law.take_losses(&sample(500.0, 1));
    assert!(law.bw_lo.is_infinite() && law.inflight_lo.is_infinite());
}

/// 2 % of 150 are three packets.
#[test]
fn a_probe_that_loses_too_much_sets_the_long_term_bound_and_ends() {
    for (lost, state) in [(3, State::Up), (4, State::Down)] {
        let mut law = bbr3(State::Up);
        law.probing = true;
        law.adapt_inflight_hi(&sample(1000.0, lost), Time::ZERO, false, 1.0);
        assert_eq!(law.state, state);
        assert_eq!(law.inflight_hi.is_finite(), lost == 4);
    }
}

#[test]
fn cruising_leaves_headroom() {
    let mut law = bbr3(State::Cruise);
    law.inflight_hi = 160.0;
    law.set_window(0.0);
    assert_eq!(law.window, 136.0); // 85 %
    law.inflight_hi = 3.0;
    law.set_window(0.0);
    assert_eq!(law.window, 4.0);
}

fn timeout(in_flight: u32) -> Loss {
    Loss { now: Time::ZERO, in_flight, by: crate::sender::Congestion::Timeout }
}

/// The short-term bound starts at the window before the timeout, not at the one packet that it leaves.
#[test]
fn a_timeout_bounds_by_the_window_before_it_and_gives_it_back() {
    let mut law = bbr3(State::Cruise);
    law.on_timeout(&timeout(150));
    law.on_timeout(&timeout(1)); // no ACK came in between
    assert_eq!((law.window, law.inflight_lo), (1.0, 200.0));
    law.take_losses(&sample(500.0, 150));
    assert_eq!(law.inflight_lo, 140.0);
    assert!(!law.saved.is_over(5149));
    assert!(law.saved.is_over(5150)); // all that was in flight has been delivered
    assert_eq!(law.saved.window, 200.0);
}

#[test]
fn a_timeout_while_probing_sets_no_bound() {
    let mut law = bbr3(State::Up);
    law.on_timeout(&timeout(150));
    assert!(law.inflight_lo.is_infinite());
}
