//! Statistics of a queue, exact in time: how long it held how much, and what happened to the packets that came
//! since statistics began.

use knee_laws::quantities::{Span, Time};
use knee_path::{Buffer, Watch};

/// The statistics of a queue, if there are any, by how its buffer is measured.
pub enum Gauge {
    /// None.
    Off,
    /// In packets.
    Packets(Meter),
    /// In packets and bytes.
    Bytes(Meter, Bins),
}

/// How long a queue held how much, since the last reset. The packet in service is not counted.
#[derive(Debug, Default)]
pub struct Meter {
    /// Picoseconds at each length in packets.
    at_length: Vec<u64>,
    /// Integral of the length in bytes, byte picoseconds.
    byte_time: u128,
    since: Time,
    /// When statistics began. A packet that came earlier is not counted, even if it is dropped or marked later: no
    /// more packets are counted as dropped or marked than as offered.
    from: Time,
    pub dropped: u64,
    pub marked: u64,
    /// Packets dropped in the whole run: up to now, and when a probe last asked.
    dropped_in_all: u64,
    dropped_before: u64,
}

/// Picoseconds at each length in bytes, in bins of a thousandth of the buffer.
#[derive(Debug)]
pub struct Bins {
    width: u64,
    held: Vec<u64>,
    longest: u64,
}

impl Gauge {
    /// The gauge of a queue with this buffer.
    pub fn new(buffer: Buffer, is_measured: bool) -> Self {
        match buffer {
            _ if !is_measured => Self::Off,
            Buffer::Bytes(bytes) => Self::Bytes(Meter::default(), Bins::of(bytes)),
            Buffer::Packets(_) | Buffer::Unlimited => Self::Packets(Meter::default()),
        }
    }

    /// The meter.
    pub fn meter(&mut self) -> Option<&mut Meter> {
        match self {
            Self::Off => None,
            Self::Packets(meter) | Self::Bytes(meter, _) => Some(meter),
        }
    }

    /// The lengths in bytes, if the buffer is measured in them.
    pub fn bins(&self) -> Option<&Bins> {
        match self {
            Self::Off | Self::Packets(_) => None,
            Self::Bytes(_, bins) => Some(bins),
        }
    }

    /// Statistics begin.
    pub fn reset(&mut self, now: Time) {
        if let Self::Bytes(_, bins) = self {
            bins.reset();
        }
        if let Some(meter) = self.meter() {
            meter.reset(now);
        }
    }
}

impl Watch for Gauge {
    #[inline(always)]
    fn hold(&mut self, until: Time, packets: usize, bytes: u64) {
        match self {
            Self::Packets(meter) => {
                meter.hold(until, packets, bytes);
            }
            Self::Off => {}
            Self::Bytes(meter, bins) => bins.hold(bytes, meter.hold(until, packets, bytes)),
        }
    }

    fn dropped(&mut self, came: Time) {
        if let Some(meter) = self.meter() {
            meter.dropped += u64::from(came >= meter.from);
            meter.dropped_in_all += 1;
        }
    }

    fn marked(&mut self, came: Time) {
        if let Some(meter) = self.meter() {
            meter.marked += u64::from(came >= meter.from);
        }
    }
}

impl Meter {
    /// Up to `now` the queue held this much. Returns for how long.
    #[inline]
    fn hold(&mut self, now: Time, packets: usize, bytes: u64) -> Span {
        let held = now.since(self.since);
        self.since = now;
        if packets >= self.at_length.len() {
            self.at_length.resize(packets + 1, 0);
        }
        self.at_length[packets] += held.ps();
        self.byte_time += u128::from(bytes) * u128::from(held.ps());
        held
    }

    fn reset(&mut self, now: Time) {
        self.at_length.fill(0);
        *self = Self {
            at_length: std::mem::take(&mut self.at_length),
            since: now,
            from: now,
            dropped_in_all: self.dropped_in_all,
            dropped_before: self.dropped_before,
            ..Self::default()
        };
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.dropped_before, self.dropped_in_all);
        self.dropped_in_all - before
    }

    fn total(&self) -> Span {
        Span::from_ps(self.at_length.iter().sum())
    }

    /// Time-weighted mean length in packets.
    pub fn mean_packets(&self) -> f64 {
        let weighted: f64 =
            self.at_length.iter().enumerate().map(|(n, held)| n as f64 * *held as f64).sum();
        weighted / (self.total().ps() as f64).max(1.0)
    }

    /// Time-weighted mean length in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.byte_time as f64 / (self.total().ps() as f64).max(1.0)
    }

    /// The least length that is not exceeded for this fraction of the time.
    pub fn quantile_packets(&self, fraction: f64) -> f64 {
        quantile(&self.at_length, fraction) as f64
    }

    /// The greatest length in packets.
    pub fn max_packets(&self) -> f64 {
        self.at_length.iter().rposition(|held| *held > 0).unwrap_or(0) as f64
    }
}

impl Bins {
    fn of(buffer_bytes: u64) -> Self {
        Self { width: buffer_bytes.div_ceil(1000).max(1), held: Vec::new(), longest: 0 }
    }

    fn hold(&mut self, bytes: u64, held: Span) {
        if held == Span::ZERO {
            return;
        }
        let bin = (bytes / self.width) as usize;
        if bin >= self.held.len() {
            self.held.resize(bin + 1, 0);
        }
        self.held[bin] += held.ps();
        self.longest = self.longest.max(bytes);
    }

    fn reset(&mut self) {
        self.held.fill(0);
        self.longest = 0;
    }

    /// The least length in bytes that is not exceeded for this fraction of the time; at most a bin too long.
    pub fn quantile(&self, fraction: f64) -> f64 {
        let end = (quantile(&self.held, fraction) as u64 + 1) * self.width - 1;
        end.min(self.longest) as f64
    }

    /// The greatest length in bytes.
    pub fn longest(&self) -> f64 {
        self.longest as f64
    }
}

/// The first index up to which this fraction of the whole time was held; `held` has the time of each.
fn quantile(held: &[u64], fraction: f64) -> usize {
    let below = fraction * held.iter().sum::<u64>() as f64;
    let mut passed = 0.0;
    let reached = held.iter().position(|held| {
        passed += *held as f64;
        passed >= below
    });
    reached.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Time {
        Time::ZERO + Span::from_secs(n)
    }

    #[test]
    fn a_staircase_has_its_mean_and_quantiles() {
        let mut meter = Meter::default();
        meter.hold(s(100), 7, 7000); // forgotten
        meter.reset(s(100));
        meter.hold(s(105), 0, 0);
        meter.hold(s(109), 2, 2000);
        meter.hold(s(110), 10, 400);
        assert_eq!(meter.mean_packets(), 1.8);
        assert!((meter.mean_bytes() - 840.0).abs() < 1e-9);
        assert_eq!(meter.quantile_packets(0.5), 0.0);
        assert_eq!(meter.quantile_packets(0.9), 2.0);
        assert_eq!(meter.quantile_packets(0.91), 10.0);
        assert_eq!(meter.max_packets(), 10.0);
    }

    /// A buffer of 5000 bytes, in bins of 5. Ten packets of 40 bytes fill 8 % of it, not 200 %.
    #[test]
    fn a_queue_in_bytes_has_quantiles_in_bytes() {
        let mut gauge = Gauge::new(Buffer::Bytes(5000), true);
        gauge.hold(s(100), 5, 5000); // forgotten
        gauge.reset(s(100));
        gauge.hold(s(105), 0, 0);
        gauge.hold(s(108), 2, 2003);
        gauge.hold(s(108), 5, 4999); // for no time
        gauge.hold(s(110), 10, 400);
        let bins = gauge.bins().expect("in bytes");
        assert_eq!([0.5, 0.7, 0.9].map(|fraction| bins.quantile(fraction)), [4.0, 404.0, 2003.0]);
        assert_eq!(bins.longest(), 2003.0);
        assert_eq!(gauge.meter().expect("measured").max_packets(), 10.0);
    }

    /// Half of the packets that are dropped and marked came before statistics began.
    #[test]
    fn what_came_before_is_not_counted() {
        let mut gauge = Gauge::new(Buffer::Packets(9), true);
        gauge.dropped(s(4));
        gauge.reset(s(10));
        for came in [9, 10, 11, 8] {
            gauge.dropped(s(came));
            gauge.marked(s(came));
        }
        let meter = gauge.meter().expect("measured");
        assert_eq!((meter.dropped, meter.marked), (2, 2));
        assert_eq!((meter.drops_since(), meter.drops_since()), (5, 0));
    }
}
