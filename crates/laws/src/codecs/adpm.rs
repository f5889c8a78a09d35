//! ADPM, adaptive deterministic packet marking: a load factor of 16 bits in the ECN bits of many packets.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 4.1.2, 4.5 and chapter 8. A packet's 16-bit identifier
//! (IP's) is a threshold, uniform in [0, 1). H maps load factors to [0, 1]:
//!   hop       (10) becomes (01) if H(f) > identifier; (11) if f >= u; nothing changes (11)
//!   receiver  takes u if (11); takes the identifier if (10) and below the estimate, or (01) and above it
//!   echo      an ACK carries the estimate when it has changed, then again 2, 3, 4 ... ACKs later
//! So hops combine to the largest load. H runs through (0.15, 0), (0.75, 1/4), (1, 1/2), (1.2, 1).
//! The header words carry the identifier, which IP has anyway, and two things that sender and receiver agree on:
//! whether (11) is echoed apart from the estimate (5.4), and H, whose other shapes are the experiment of 7.2.2.

use super::codec::Codec;
use super::coding::{Coding, Echo};
use super::ecn;
use super::feedback::Feedback;
use super::wire::{Header, Marks, Wire};

/// The codec: the receiver estimates the load, and returns the estimate with some ACKs.
pub struct Adpm;

impl Coding for Adpm {
    type Receiver = Reader;
    #[inline]
    fn take(reader: &mut Reader, marks: Marks, header: &Header, _reduced: bool) {
        reader.take(marks, header);
    }
    #[inline]
    fn echo(reader: &mut Reader, marks: Marks, _: &Header) -> Echo {
        let estimate = reader.echo();
        let option_bytes = if estimate.is_some() { OPTION_BYTES } else { 0 };
        Echo { bits: marks.ecn(), words: words(estimate), option_bytes }
    }
    #[inline]
    fn read(bits: u8, words: [u32; 2]) -> Feedback {
        Feedback::Adpm { estimate: read(words), congested: bits == ecn::CONGESTED }
    }
}

/// eta_0: smaller loads are read as this.
pub const LEAST: f64 = 0.15;
/// u, the largest load that can be signalled.
pub const MOST: f64 = 1.2;
/// The loads of H's corners.
const CORNERS: [f64; 4] = [LEAST, 0.75, 1.0, MOST];

/// The ECN bits of a packet below the load: ECT(1).
const BELOW: u8 = ecn::CAPABLE_L4S;
/// Number of identifiers.
const COUNT: f64 = 65536.0;
/// An estimate of u.
const FULL: u32 = 1 << 16;
/// In the first header word: (11) is echoed apart from the estimate.
const APART: u32 = 1 << 16;
/// In the second echoed word: there is an estimate.
const PRESENT: u32 = 1;

/// Bytes of the TCP option with an estimate: kind, length, 16 bits.
pub const OPTION_BYTES: u16 = 4;

/// H: from load factors to [0, 1], increasing between its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map {
    /// H(0.75): the share of identifiers for loads of MI.
    pub at_high: f32,
    /// H(1): the identifiers above are for overload.
    pub at_full: f32,
    /// The shape of H between corners: x^bend; 1 is a line.
    pub bend: f32,
}

impl Default for Map {
    fn default() -> Self {
        Self { at_high: 0.25, at_full: 0.5, bend: 1.0 }
    }
}

impl Map {
    fn heights(self) -> [f64; 4] {
        let full = f64::from(self.at_full);
        [0.0, f64::from(self.at_high).min(full), full, 1.0]
    }

    /// H(f).
    pub fn at(self, load: f64) -> f64 {
        self.between(&CORNERS, &self.heights(), load, f64::from(self.bend))
    }

    /// The load whose H this is.
    pub fn load(self, height: f64) -> f64 {
        self.between(&self.heights(), &CORNERS, height, 1.0 / f64::from(self.bend))
    }

    fn between(self, from: &[f64; 4], to: &[f64; 4], x: f64, bend: f64) -> f64 {
        let part = from[1..3].iter().filter(|corner| x >= **corner).count();
        let width = from[part + 1] - from[part];
        let place = if width > 0.0 { ((x - from[part]) / width).clamp(0.0, 1.0) } else { 1.0 };
        let bent = if bend == 1.0 { place } else { libm::pow(place, bend) };
        to[part] + (to[part + 1] - to[part]) * bent
    }

    fn words(self) -> [u32; 3] {
        [self.at_high, self.at_full, self.bend].map(f32::to_bits)
    }

    /// From header words. Malformed ones give the default.
    fn from_words(words: [u32; 3]) -> Self {
        let [at_high, at_full, bend] = words.map(f32::from_bits);
        let fine = (0.0..=1.0).contains(&at_high)
            && (0.0..=1.0).contains(&at_full)
            && (0.01..=100.0).contains(&bend);
        if fine { Self { at_high, at_full, bend } } else { Self::default() }
    }
}

/// How the receiver reads (11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// As an estimate of u.
    Estimated,
    /// As a mark that is echoed for each packet and does not change the estimate.
    Apart,
}

/// The header as its sender writes it.
#[inline]
pub fn write(identifier: u16, map: Map, overload: Overload) -> Header {
    let [a, b, c] = map.words();
    [u32::from(identifier) | if overload == Overload::Apart { APART } else { 0 }, a, b, c]
}

#[inline]
fn identifier(header: &Header) -> u32 {
    header[0] & 0xffff
}

/// What a hop does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marker {
    load: f64,
    /// The words of the last map; below, H of the load by that map, times the number of identifiers.
    map: [u32; 3],
    height: f64,
}

impl Marker {
    /// The hop has measured its load factor.
    pub fn measure(&mut self, load: f64) {
        self.load = load;
        self.height = COUNT * Map::from_words(self.map).at(load);
    }

    /// The load factor.
    pub fn load(&self) -> f64 {
        self.load
    }

    /// (10) becomes (01) if H(f) exceeds the packet's identifier.
    #[inline]
    pub fn mark(&mut self, wire: &mut Wire<'_>) {
        if wire.marks.codec() != Codec::Adpm || wire.marks.ecn() != ecn::CAPABLE {
            return;
        }
        let map = [wire.header[1], wire.header[2], wire.header[3]];
        if map != self.map {
            self.map = map;
            self.measure(self.load);
        }
        if self.height > f64::from(identifier(wire.header)) {
            wire.marks.set_ecn(BELOW);
        }
    }

    /// The same, and (11) from u on for packets that may be marked.
    #[inline]
    pub fn mark_overload(&mut self, wire: &mut Wire<'_>) {
        if self.load >= MOST {
            ecn::mark(wire);
        } else {
            self.mark(wire);
        }
    }
}

/// What the receiver keeps: the estimate, and when it is echoed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// H of the estimate, in identifiers.
    estimate: u32,
    /// How often it has been echoed since it changed; below, ACKs since the last echo.
    echoed: u32,
    acks: u32,
}

impl Reader {
    /// A data packet arrives.
    #[inline]
    pub fn take(&mut self, marks: Marks, header: &Header) {
        let bound = identifier(header);
        let estimate = match marks.ecn() {
            ecn::CONGESTED if header[0] & APART == 0 => FULL,
            ecn::CAPABLE if bound < self.estimate => bound,
            BELOW if bound > self.estimate => bound,
            _ => return,
        };
        if estimate != self.estimate {
            *self = Self { estimate, echoed: 0, acks: 0 };
        }
    }

    /// The estimate, if the next ACK carries it.
    #[inline]
    pub fn echo(&mut self) -> Option<u32> {
        self.acks += 1;
        if self.acks <= self.echoed {
            return None;
        }
        self.acks = 0;
        self.echoed += 1;
        Some(self.estimate)
    }
}

/// Echo words of an ACK with or without an estimate.
#[inline]
pub fn words(estimate: Option<u32>) -> [u32; 2] {
    estimate.map_or([0; 2], |estimate| [estimate, PRESENT])
}

/// What the sender reads: H of the estimate, if the ACK has one.
#[inline]
pub fn read(echo: [u32; 2]) -> Option<f64> {
    (echo[1] & PRESENT != 0).then(|| f64::from(echo[0].min(FULL)) / COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Draw;
    use crate::script::Random;
    use proptest::prelude::*;

    /// A packet over hops of these loads, to the receiver.
    fn send(reader: &mut Reader, loads: &[f64], identifier: u16) {
        let mut header = write(identifier, Map::default(), Overload::Estimated);
        let mut marks = Codec::Adpm.initial();
        for load in loads {
            let mut hop = Marker::default();
            hop.measure(*load);
            hop.mark_overload(&mut Wire { marks: &mut marks, header: &mut header });
        }
        reader.take(marks, &header);
    }

    fn estimate(reader: &Reader) -> f64 {
        Map::default().load(f64::from(reader.estimate) / COUNT)
    }

    #[test]
    fn the_map_has_the_corners_of_the_paper() {
        let map = Map::default();
        let corners =
            [(0.0, 0.0), (0.15, 0.0), (0.45, 0.125), (0.75, 0.25), (1.0, 0.5), (1.1, 0.75)];
        for (load, height) in corners {
            assert!((map.at(load) - height).abs() < 1e-12, "{load}");
            assert!((map.load(height) - load.max(0.15)).abs() < 1e-12, "{height}");
        }
        assert_eq!((map.at(1.2), map.at(9.0), map.load(1.0)), (1.0, 1.0, 1.2));
    }

    /// Figure 22: loads of 0.4 and 0.8; packets whose thresholds are 0.31 and 0.7.
    #[test]
    fn the_worked_example_of_two_routers() {
        let (mut reader, map) = (Reader::default(), Map::default());
        for threshold in [0.31, 0.7] {
            let identifier = (map.at(threshold) * COUNT) as u16;
            send(&mut reader, &[0.4, 0.8], identifier);
            assert!((estimate(&reader) - threshold).abs() < 1e-4);
        }
        send(&mut reader, &[0.4, 0.8], (map.at(0.9) * COUNT) as u16);
        assert!((estimate(&reader) - 0.7).abs() < 1e-4); // no tighter bound from below
    }

    #[test]
    fn overload_is_signalled_at_once() {
        let mut reader = Reader::default();
        send(&mut reader, &[1.2, 0.1], 0);
        assert_eq!(estimate(&reader), 1.2);
        let mut reader = Reader::default();
        send(&mut reader, &[1.199, 0.1], 0);
        assert!(estimate(&reader) < 0.2);
    }

    #[test]
    fn echoes_come_at_once_and_then_ever_more_rarely() {
        let mut reader = Reader::default();
        let mut when = |n: u32| (0..n).filter(|_| reader.echo().is_some()).count();
        assert_eq!(when(1), 1);
        assert_eq!(when(119), 14); // 1 + 2 + ... + 15 = 120
        send(&mut reader, &[1.3], 7);
        assert_eq!(reader.echo(), Some(FULL));
        assert_eq!([reader.echo(), reader.echo()], [None, Some(FULL)]);
        assert_eq!(read(words(Some(FULL))), Some(1.0));
        assert_eq!(read(words(None)), None);
    }

    #[test]
    fn a_mark_apart_leaves_the_estimate() {
        let mut reader = Reader { estimate: 1000, ..Reader::default() };
        let header = write(5, Map::default(), Overload::Apart);
        reader.take(Marks::new(Codec::Adpm, ecn::CONGESTED), &header);
        assert_eq!(reader.estimate, 1000);
    }

    #[test]
    fn classic_senders_see_overload_only() {
        let mut hop = Marker::default();
        for (load, marked) in [(1.19, false), (1.2, true)] {
            hop.measure(load);
            let (mut marks, mut header) = (Codec::Ecn.initial(), [0; 4]);
            hop.mark_overload(&mut Wire { marks: &mut marks, header: &mut header });
            assert_eq!(marks.ecn() == ecn::CONGESTED, marked);
        }
    }

    /// How far the estimate of a load is off after `n` packets, in H, coming from `from`.
    fn error(load: f64, from: f64, n: usize, seed: u64) -> f64 {
        let mut random = Random(seed);
        let mut reader = Reader::default();
        let mut identifier = move || (random.uniform() * COUNT) as u16;
        for phase in [from, load] {
            for _ in 0..n {
                send(&mut reader, &[phase], identifier());
            }
        }
        (f64::from(reader.estimate) / COUNT - Map::default().at(load)).abs()
    }

    proptest! {
        /// From above and below, to the largest of the hops; and never past it.
        #[test]
        fn the_estimate_converges_to_the_worst_hop(
            loads in prop::collection::vec(0.0..1.19, 1..5), start in 0..=FULL, seed: u64,
        ) {
            let worst = Map::default().at(loads.iter().fold(0.0, |a: f64, b| a.max(*b)));
            let mut random = Random(seed);
            let mut reader = Reader { estimate: start, ..Reader::default() };
            let mut off = f64::from(start) / COUNT - worst;
            for _ in 0..400 {
                send(&mut reader, &loads, (random.uniform() * COUNT) as u16);
                let now = f64::from(reader.estimate) / COUNT - worst;
                prop_assert!(now.abs() <= off.abs() + 1e-12 && now * off >= 0.0 || now.abs() < 2.0 / COUNT);
                off = now;
            }
            // The gap to the nearest of 400 uniform thresholds exceeds 0.05 with 0.95^400 = 1e-9.
            prop_assert!(off.abs() < 0.05);
        }

        /// H and its inverse, of every shape.
        #[test]
        fn maps_are_undone(at_high in 0.05..0.45f32, at_full in 0.5..0.95f32, bend in 0.3..3.0f32, load in 0.16..1.19) {
            let map = Map { at_high, at_full, bend };
            prop_assert!((map.load(map.at(load)) - load).abs() < 1e-9);
            prop_assert_eq!(Map::from_words(map.words()), map);
        }
    }

    /// After n thresholds the nearest is 1 / (n + 1) away on average, from either side.
    #[test]
    fn resolution_improves_with_packets() {
        for (from, load) in [(0.0, 0.9), (1.19, 0.9), (0.3, 1.1)] {
            for n in [10, 100] {
                const RUNS: usize = 2000;
                let sum: f64 = (0..RUNS as u64).map(|seed| error(load, from, n, seed)).sum();
                let (mean, expected) = (sum / RUNS as f64, 1.0 / (n as f64 + 1.0));
                let four_errors = 4.0 * expected / libm::sqrt(RUNS as f64);
                assert!(
                    (mean - expected).abs() < four_errors + 1.0 / COUNT,
                    "{mean}, not {expected}"
                );
            }
        }
    }
}
