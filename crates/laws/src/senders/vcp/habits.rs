//! What VCP's authors do in their ns-2 code, but not in their paper: S1 to S8 of docs/laws/vcp.md.

use crate::choices;
use crate::quantities::{BitRate, Span, Time};
use crate::sender::Ack;

choices! {
    /// How AI depends on the smoothed RTT.
    pub enum AiScaling {
        /// (8): `(srtt / t_rho)^2`, so that rates are equal.
        Rate = "rate",
        /// (7): `srtt / t_rho`, so that windows are equal and rates as 1 / RTT.
        Window = "window",
        /// (3): not at all, `alpha` an RTT, as in TCP.
        None = "none",
        /// S1: `(srtt / 100 ms)^2`, linear below 20 ms and above 500 ms.
        Authors = "authors",
    }
}

choices! {
    /// What bounds AI.
    pub enum AiLimit {
        /// `sigma_ai` bounds the factor that scales it.
        Sigma = "sigma",
        /// S2: [`AI_TABLE`] bounds what one ACK adds.
        Table = "table",
    }
}

choices! {
    /// What bounds xi.
    pub enum MiLimit {
        /// Nothing.
        None = "none",
        /// S3: [`MI_TABLE`].
        Table = "table",
    }
}

choices! {
    /// What follows a cut.
    pub enum AfterCut {
        /// S.3: one `t_rho` of hold, then one srtt of AI, whatever the codes.
        Prescribed = "prescribed",
        /// S4: codes count, but overload holds in the first period, and adds in the second.
        Conditional = "conditional",
    }
}

choices! {
    /// Where the smoothed RTT comes from.
    pub enum RttFrom {
        /// The transport: RFC 6298, with a sample from each ACK.
        Transport = "transport",
        /// S5: [`TickClock`].
        Ticks = "ticks",
    }
}

/// S2: most packets that an ACK may add in AI, at windows of 1, 10, 100 .. packets.
pub const AI_TABLE: [f64; 8] = [0.1, 0.06, 0.04, 0.02, 0.01, 0.006, 0.004, 0.002];
/// S3: the largest xi, at windows of 1, 10, 100 .. packets.
pub const MI_TABLE: [f64; 8] = [1.0, 0.5, 0.2, 0.1, 0.064, 0.044, 0.032, 0.024];

/// The table's value at this window: a power law between its entries, constant beyond them.
pub fn limit(table: &[f64; 8], window: f64) -> f64 {
    let decade = libm::log10(window).clamp(0.0, 7.0);
    let below = (decade as usize).min(6);
    let (low, high) = (table[below], table[below + 1]);
    low * libm::pow(high / low, decade - below as f64)
}

/// S1: the factor of AI.
pub fn ai_factor(smoothed_rtt: Span) -> f64 {
    let x = smoothed_rtt.ratio(Span::from_millis(100));
    if x < 0.2 {
        0.2 * x
    } else if x > 5.0 {
        25.0 + (x - 5.0)
    } else {
        x * x
    }
}

/// A clock's tick, and the RTT before any sample.
const TICK: Span = Span::from_millis(10);
const UNKNOWN: Span = Span::from_millis(100);

/// S5: one sample for each round trip, in ticks of a coarse clock, and an average in whole eighths of a tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct TickClock {
    /// The packet being timed left at this instant or later.
    since: Time,
    /// The average in eighths of a tick; 0 before the first sample.
    eighths: u64,
}

impl TickClock {
    /// Takes the ACK's RTT if it is the first of a packet sent since the last sample.
    pub fn sample(&mut self, ack: &Ack) {
        let sent = Time::ZERO + (ack.now.since(Time::ZERO) - ack.rtt);
        if sent < self.since || ack.newly_acked == 0 {
            return;
        }
        self.since = ack.now;
        let ticks = (ack.now.ps() / TICK.ps() - sent.ps() / TICK.ps()).max(1);
        self.eighths = match self.eighths {
            0 => 8 * ticks,
            eighths => (eighths + ticks - eighths / 8).max(1),
        };
    }

    /// The average in whole ticks, at least one.
    pub fn smoothed(&self) -> Span {
        if self.eighths == 0 { UNKNOWN } else { TICK * (self.eighths / 8).max(1) }
    }
}

/// S8: windows of 2 to 64 packets are paced if srtt / 2^ceil(log2 window) exceeds 100 ms, a packet each such gap.
pub fn pace(window: f64, smoothed_rtt: Span, packet_bytes: u32) -> Option<BitRate> {
    if !(2.0..=64.0).contains(&window) {
        return None;
    }
    let gap = smoothed_rtt.seconds() / libm::exp2(libm::ceil(libm::log2(window)));
    (gap > 0.1).then(|| BitRate::from_bps(8.0 * f64::from(packet_bytes) / gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    #[test]
    fn tables_are_their_decades_and_power_laws_between() {
        for (decade, expected) in AI_TABLE.into_iter().enumerate() {
            let window = libm::pow(10.0, decade as f64);
            assert!((limit(&AI_TABLE, window) - expected).abs() < 1e-12);
        }
        let half_way = limit(&AI_TABLE, libm::sqrt(1000.0 * 100.0));
        assert!((half_way - libm::sqrt(0.04 * 0.02)).abs() < 1e-12);
        assert_eq!((limit(&MI_TABLE, 1.0), limit(&MI_TABLE, 1e12)), (1.0, 0.024));
        // The table binds xi = 0.0625 above about 11,000 packets.
        assert!(limit(&MI_TABLE, 11_000.0) > 0.0625 && limit(&MI_TABLE, 12_000.0) < 0.0625);
    }

    #[test]
    fn the_authors_ai_is_four_times_the_texts() {
        let text = |rtt: Span| rtt.ratio(ms(200)) * rtt.ratio(ms(200));
        for rtt in [20, 40, 80, 330, 500] {
            assert!((ai_factor(ms(rtt)) / text(ms(rtt)) - 4.0).abs() < 1e-12, "{rtt} ms");
        }
        assert!((ai_factor(ms(10)) - 0.02).abs() < 1e-15);
        assert!((ai_factor(ms(800)) - 28.0).abs() < 1e-12);
    }

    fn ack(now: u64, rtt: u64) -> Ack {
        Ack::new(Time::ZERO + ms(now), 1, 1, ms(rtt))
    }

    #[test]
    fn ticks_are_counted_once_a_round_trip() {
        let mut clock = TickClock::default();
        assert_eq!(clock.smoothed(), ms(100));
        clock.sample(&ack(105, 84)); // left at 21 ms: ticks 2 to 10
        assert_eq!(clock.smoothed(), ms(80));
        clock.sample(&ack(184, 84)); // left at 100 ms, before the last sample
        assert_eq!(clock.eighths, 64);
        clock.sample(&ack(191, 84)); // left at 107 ms: ticks 10 to 19, one more than the average
        assert_eq!((clock.eighths, clock.smoothed()), (65, ms(80)));
        for round in 0..7 {
            clock.sample(&ack(301 + 110 * round, 85)); // 9 ticks each
        }
        assert_eq!((clock.eighths, clock.smoothed()), (72, ms(90)));
        let mut short = TickClock::default();
        short.sample(&ack(5, 1));
        assert_eq!(short.smoothed(), ms(10));
    }

    #[test]
    fn only_few_packets_over_long_rtts_are_paced() {
        assert_eq!(pace(2.0, ms(200), 1000), None); // a gap of 100 ms
        let rate = pace(2.0, ms(400), 1000).expect("a gap of 200 ms");
        assert!((rate.bps() - 40e3).abs() < 1e-6);
        assert_eq!(pace(2.1, ms(400), 1000), None); // 400 / 4
        assert_eq!((pace(1.9, ms(9000), 1000), pace(64.1, ms(9000), 1000)), (None, None));
    }
}
