//! Slow start: how a window below its threshold grows. Scenarios choose a rule for all laws with standard slow
//! start ([`TcpWindow`](crate::senders::tcp_window::TcpWindow)).
//!
//! - standard: M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009: a packet for each acknowledged packet;
//! - limited: S. Floyd, "Limited Slow-Start for TCP with Large Congestion Windows", RFC 3742, 2004: 1 / K of that,
//!   K = floor(cwnd / (max_ssthresh / 2)), once cwnd is above max_ssthresh;
//! - HyStart++: P. Balasubramanian, Y. Huang, M. Olson, RFC 9406, 2023 ([`HyStart`]).
//!
//! Windows are in packets. An ACK may acknowledge several packets; all of them count.

use crate::ack::Ack;
use crate::params;
use crate::params::{Refusal, Value, fill, unknown};
use crate::quantities::Span;
use crate::round::Round;

mod limited {
    crate::params! {
        /// Limited slow start's parameter.
        pub struct Params {
            /// Window above which growth is limited to half of this a round, in packets.
            pub max_ssthresh: f64 = 100.0, in 2.0, 1e9;
        }
    }
}

params! {
    /// HyStart++'s constants, by the RFC's names.
    pub struct Params {
        /// Least rise of the RTT from round to round that ends slow start.
        pub min_rtt_thresh: Span = Span::from_millis(4), in 0.0, 10.0;
        /// Largest rise of the RTT that is waited for.
        pub max_rtt_thresh: Span = Span::from_millis(16), in 0.0, 10.0;
        /// Between the two, the rise waited for is the last round's least RTT over this.
        pub min_rtt_divisor: f64 = 8.0, in 1.0, 1e3;
        /// RTT samples that a round must have to be judged.
        pub n_rtt_sample: u64 = 8, in 1.0, 1e6;
        /// Growth in conservative slow start is divided by this.
        pub css_growth_divisor: f64 = 4.0, in 1.0, 1e3;
        /// Rounds of conservative slow start after which slow start is over.
        pub css_rounds: u64 = 5, in 1.0, 1e3;
        /// Most packets that an ACK adds, L; a transport that paces sets no limit unless told so.
        pub limit: f64 = 8.0, in 1.0, 1e9;
    }
}

/// A rule, as scenarios name it.
#[derive(Clone, Debug)]
pub struct RuleInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Its parameters.
    pub params: Vec<params::ParamInfo>,
}

/// Every rule.
pub fn rules() -> Vec<RuleInfo> {
    use crate::params::ParamSet;
    let info = |name, title, source, params| RuleInfo { name, title, source, params };
    vec![
        info("standard", "a packet for each one acknowledged", "RFC 5681", vec![]),
        info(
            "limited",
            "at most max_ssthresh / 2 packets a round once the window is above max_ssthresh",
            "RFC 3742",
            limited::Params::infos(),
        ),
        info(
            "hystart++",
            "slower once the RTT rises, over if it stays up for some rounds",
            "RFC 9406",
            Params::infos(),
        ),
    ]
}

/// How a window grows in slow start.
#[derive(Clone, Debug, Default)]
pub enum Rule {
    /// A packet for each acknowledged packet.
    #[default]
    Standard,
    /// The same up to this window (max_ssthresh), less above.
    Limited(f64),
    /// RFC 9406, in the first slow start.
    HyStart(Box<HyStart>),
}

impl Rule {
    /// The named rule with these parameters, for a transport that paces or does not.
    pub fn build(name: &str, values: &[(String, Value)], is_paced: bool) -> Result<Self, Refusal> {
        match name {
            "standard" => Ok(Self::Standard),
            "limited" => Ok(Self::Limited(fill::<limited::Params>(values)?.max_ssthresh)),
            "hystart++" => {
                let mut params: Params = fill(values)?;
                if is_paced && values.iter().all(|(name, _)| name != "limit") {
                    params.limit = f64::INFINITY;
                }
                Ok(Self::HyStart(Box::new(HyStart::new(params))))
            }
            _ => Err(unknown(name)),
        }
    }
}

/// RFC 3742, 2: the part of a packet that the window grows for each acknowledged packet.
pub fn limited_step(window: f64, max_ssthresh: f64) -> f64 {
    if window <= max_ssthresh { 1.0 } else { 1.0 / libm::floor(window / (0.5 * max_ssthresh)) }
}

impl Rule {
    /// What an ACK adds to a window below the threshold, and whether slow start goes on.
    #[inline]
    pub fn on_ack(&mut self, window: f64, ack: &Ack) -> (f64, bool) {
        let acked = f64::from(ack.newly_acked);
        match self {
            Self::Standard => (acked, true),
            Self::Limited(max_ssthresh) => (acked * limited_step(window, *max_ssthresh), true),
            Self::HyStart(hystart) => hystart.on_ack(ack),
        }
    }

    /// The first slow start is over. HyStart++ is not used in later ones.
    pub fn end(&mut self) {
        if matches!(self, Self::HyStart(_)) {
            *self = Self::Standard;
        }
    }
}

/// RFC 9406, 4.2. If the RTT rises from one round to the next, growth becomes slower: conservative slow start, CSS. If the
/// RTT then falls below that of CSS's beginning, growth is as before. Otherwise slow start ends after some rounds.
#[derive(Clone, Debug)]
pub struct HyStart {
    params: Params,
    round: Round,
    /// Least RTT of the last round; below, of the current one.
    last: Option<Span>,
    least: Span,
    samples: u64,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Rounds that have ended, counted from the one in which it began.
    rounds: u64,
}

impl HyStart {
    /// Before the first round.
    pub fn new(params: Params) -> Self {
        let round = Round::default();
        Self { params, round, last: None, least: Span::MAX, samples: 0, css: None }
    }

    /// RttThresh.
    fn threshold(&self, last: Span) -> Span {
        let Params { min_rtt_thresh, max_rtt_thresh, min_rtt_divisor, .. } = self.params;
        last.scale(1.0 / min_rtt_divisor).min(max_rtt_thresh).max(min_rtt_thresh)
    }

    /// What the ACK adds to the window, and whether slow start goes on.
    fn on_ack(&mut self, ack: &Ack) -> (f64, bool) {
        if ack.newly_acked == 0 {
            return (0.0, true);
        }
        let mut added = f64::from(ack.newly_acked).min(self.params.limit);
        if self.round.on_ack(ack).is_some() {
            self.last = Some(self.least).filter(|_| self.samples > 0);
            (self.least, self.samples) = (Span::MAX, 0);
            if let Some(css) = &mut self.css {
                css.rounds += 1;
            }
        }
        (self.least, self.samples) = (self.least.min(ack.rtt), self.samples + 1);
        if self.css.is_some() {
            added /= self.params.css_growth_divisor;
        }
        if self.css.is_some_and(|css| css.rounds >= self.params.css_rounds) {
            return (added, false);
        }
        if self.samples >= self.params.n_rtt_sample {
            self.css = match (self.css, self.last) {
                (Some(css), _) => Some(css).filter(|css| self.least >= css.baseline),
                (None, Some(last)) if self.least >= last + self.threshold(last) => {
                    Some(Css { baseline: self.least, rounds: 0 })
                }
                (None, _) => None,
            };
        }
        (added, true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::Bottleneck;
    use super::*;
    use crate::quantities::Time;
    use crate::script::ms;
    use crate::sender::{Congestion, Loss, Opening, SenderLaw};
    use crate::senders::reno::{self, Reno};
    use crate::senders::tcp::Tcp;

    fn reno(window: f64, rule: Rule) -> Tcp<Reno> {
        let opening = Opening { slow_start: rule, ..Opening::new(window, 1000) };
        Reno::start(reno::Params::default(), &opening)
    }

    /// A flow for tests. Its ACKs come one by one.
    struct Flow {
        law: Tcp<Reno>,
        now: Time,
    }

    impl Flow {
        fn new(is_paced: bool) -> Self {
            let rule = Rule::build("hystart++", &[], is_paced).expect("a rule");
            Self { law: reno(16.0, rule), now: Time::ZERO }
        }

        /// `n` ACKs, each of `newly_acked` packets.
        fn acks(&mut self, rtt: u64, n: u32, newly_acked: u32) -> f64 {
            for _ in 0..n {
                self.now += ms(1);
                let in_flight = self.law.window() as u32 - newly_acked;
                let ack = Ack::new(self.now, newly_acked, in_flight, ms(rtt));
                self.law.on_ack(&Ack { min_rtt: ms(1), ..ack });
            }
            self.law.window()
        }

        /// An ACK for each packet of the window.
        fn round(&mut self, rtt: u64) -> f64 {
            self.acks(rtt, self.law.window() as u32, 1)
        }

        fn is_conservative(&self) -> bool {
            matches!(self.law.rule(), Rule::HyStart(hystart) if hystart.css.is_some())
        }
    }

    #[test]
    fn limited_slow_start_adds_one_kth_above_max_ssthresh() {
        for (window, k) in [(2.0, 1.0), (100.0, 1.0), (101.0, 2.0), (149.9, 2.0), (150.0, 3.0)] {
            assert_eq!(limited_step(window, 100.0), 1.0 / k, "{window}");
        }
        assert_eq!(limited_step(83_000.0, 100.0), 1.0 / 1660.0);
    }

    /// RFC 3742, 2: log2(max_ssthresh) + (cwnd - max_ssthresh) / (max_ssthresh / 2) rounds, here 6.6 + 398. A
    /// little less, for K is rounded down: growth is up to 75 packets a round at 149.
    #[test]
    fn limited_slow_start_takes_the_rounds_that_the_rfc_says() {
        let rounds = |rule| {
            let (mut law, mut path) = (reno(1.0, rule), Bottleneck::new(1e9, ms(100)));
            (1..).find(|_| path.round(&mut law) >= 20_000.0)
        };
        let limited = rounds(Rule::Limited(100.0)).unwrap_or(0);
        assert!((397..=405).contains(&limited), "{limited}");
        assert_eq!(rounds(Rule::Standard), Some(15)); // 2^15 = 32768
    }

    #[test]
    fn the_rise_waited_for_is_an_eighth_within_4_and_16_ms() {
        let hystart = HyStart::new(Params::default());
        for (last, threshold) in [(1, 4), (32, 4), (80, 10), (128, 16), (600, 16)] {
            assert_eq!(hystart.threshold(ms(last)), ms(threshold));
        }
    }

    #[test]
    fn a_rise_by_the_threshold_slows_growth_to_a_quarter() {
        for (rtt, conservative) in [(89, false), (90, true)] {
            let mut flow = Flow::new(false);
            assert_eq!(flow.round(80), 32.0);
            assert_eq!(flow.acks(rtt, 7, 1), 39.0);
            assert!(!flow.is_conservative()); // seven samples are too few
            assert_eq!(flow.acks(rtt, 1, 1), 40.0);
            assert_eq!(flow.is_conservative(), conservative);
            assert_eq!(flow.acks(rtt, 4, 1), if conservative { 41.0 } else { 44.0 });
        }
    }

    #[test]
    fn one_sample_as_low_as_before_keeps_slow_start_going() {
        let mut flow = Flow::new(false);
        flow.round(80);
        flow.acks(80, 1, 1);
        assert_eq!(flow.acks(120, 31, 1), 64.0);
        assert!(!flow.is_conservative());
    }

    #[test]
    fn an_rtt_below_the_baseline_resumes_slow_start() {
        let mut flow = Flow::new(false);
        for (rtt, conservative) in [(80, false), (95, true), (95, true), (94, false)] {
            flow.round(rtt);
            assert_eq!(flow.is_conservative(), conservative, "{rtt}");
        }
    }

    /// The round in which it begins counts as the first of five.
    #[test]
    fn five_conservative_rounds_end_slow_start_at_the_window() {
        let mut flow = Flow::new(false);
        flow.round(80);
        assert_eq!(flow.round(95), 32.0 + 8.0 + 24.0 / 4.0);
        let windows: Vec<f64> = (0..5).map(|_| flow.round(95)).collect();
        let growth: Vec<f64> = windows.windows(2).map(|pair| pair[1] / pair[0]).collect();
        assert!(growth[..3].iter().all(|growth| (1.24..=1.25).contains(growth)), "{growth:?}");
        assert!((1.0..=1.02).contains(&growth[3]), "{growth:?}"); // avoidance: a packet or two
        let threshold = flow.law.ssthresh().expect("a threshold");
        assert!(threshold < windows[4] && threshold >= windows[3], "{threshold}");
    }

    #[test]
    fn a_loss_ends_it_for_good() {
        let mut flow = Flow::new(false);
        flow.round(80);
        flow.law.on_loss(&Loss { now: flow.now, in_flight: 32, by: Congestion::Loss });
        flow.law.on_timeout(&Loss { now: flow.now, in_flight: 16, by: Congestion::Timeout });
        // Standard below ssthresh, whatever the RTT.
        let windows = [80, 200, 400].map(|rtt| flow.round(rtt));
        assert_eq!(windows, [2.0, 4.0, 8.0]);
    }

    #[test]
    fn an_ack_of_many_adds_at_most_eight_unless_packets_are_paced() {
        for (is_paced, added) in [(false, 8.0), (true, 12.0)] {
            assert_eq!(Flow::new(is_paced).acks(80, 1, 12), 16.0 + added);
        }
    }
}
