//! Quantities with their unit in the type: time in picoseconds, sizes in bytes, rates in bits a second.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant of simulated (or measured) time: picoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BitRate(f64);

impl Time {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const NEVER: Self = Self(u64::MAX);

    /// From picoseconds since the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// The span since `earlier`, zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// From microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// From milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }
    /// From seconds, rounded to the picosecond and clamped to what a span can hold.
    pub fn from_seconds(s: f64) -> Self {
        Self(libm::round(s.max(0.0) * PS_PER_S as f64) as u64)
    }
    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// Milliseconds.
    pub fn millis(self) -> f64 {
        self.seconds() * 1e3
    }
    /// This span times a factor of at least 0.
    pub fn scale(self, factor: f64) -> Self {
        Self(libm::round(self.0 as f64 * factor.max(0.0)) as u64)
    }
    /// `self / other` as a number.
    pub fn ratio(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

impl Bytes {
    /// The number of bytes.
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl BitRate {
    /// From bits a second.
    pub const fn from_bps(bps: f64) -> Self {
        Self(bps)
    }
    /// From megabits a second.
    pub const fn from_mbps(mbps: f64) -> Self {
        Self(mbps * 1e6)
    }
    /// Bits a second.
    pub const fn bps(self) -> f64 {
        self.0
    }
    /// Bytes a second.
    pub fn bytes_per_second(self) -> f64 {
        self.0 / 8.0
    }
    /// How long `size` bytes take at this rate.
    pub fn time_for(self, size: u64) -> Span {
        Span::from_seconds(size as f64 * 8.0 / self.0)
    }
    /// The bytes that pass in `span` at this rate.
    pub fn bytes_in(self, span: Span) -> f64 {
        self.bytes_per_second() * span.seconds()
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}
impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

/// Shows `value` (in the base unit) with the largest of `units` that leaves at least one.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: f64, units: &[(f64, &str)]) -> fmt::Result {
    let (scale, name) =
        units.iter().find(|(scale, _)| value >= *scale).or(units.last()).expect("a unit");
    let number = format!("{:.6}", value / scale);
    write!(f, "{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.seconds(), &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")])
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Span(self.0))
    }
}
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")])
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0 as f64, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilobyte_at_150_mbps_takes_53_333_333_ps() {
        assert_eq!(BitRate::from_mbps(150.0).time_for(1000).ps(), 53_333_333);
        assert_eq!(BitRate::from_mbps(1000.0).time_for(1000), Span::from_micros(8));
    }

    #[test]
    fn quantities_show_their_unit() {
        assert_eq!(Span::from_millis(80).to_string(), "80 ms");
        assert_eq!(BitRate::from_mbps(150.0).to_string(), "150 Mbps");
        assert_eq!(Bytes(1500).to_string(), "1.5 kB");
        assert_eq!(Span::ZERO.to_string(), "0 ns");
    }
}
