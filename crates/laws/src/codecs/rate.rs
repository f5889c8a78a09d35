//! The rate header of RCP, QI-RCP and PIQI-RCP: 16 bytes. Routers lower the rate in it.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control",
//! III-C, gives the size; N. Dukkipati et al., "Processor Sharing Flows in the Internet", IWQoS 2005,
//! the fields rate and RTT. Words, in single precision unless noted:
//!   0  the least rate of the path's links so far, in bytes / s; at first the rate that the sender desires
//!   1  the sender's RTT in seconds, 0 before it is known
//!   2  bits 8 to 31: the number of the control interval in which that rate was computed, from 1, so that
//!      a sender answers it once; bits 0 to 7: which hop may write, see [`Hops`]
//!   3  the sender's rate in bytes / s, 0 before it is known. Packet size / rate is the time that a packet
//!      stands for, with which a router averages over flows
//! Hops combine to the minimum; the receiver returns words 0 and 2.

use super::coding::{Coding, Echo};
use super::feedback::Feedback;
use super::wire::{Header, Marks};

/// The codec: the receiver returns rate and interval.
pub struct Rate;

impl Coding for Rate {
    type Receiver = ();
    #[inline]
    fn echo((): &mut (), marks: Marks, header: &Header) -> Echo {
        Echo { bits: marks.ecn(), words: echo(header), option_bytes: 0 }
    }
    #[inline]
    fn read(_: u8, words: [u32; 2]) -> Feedback {
        read(words).map_or(Feedback::None, |(rate, interval)| Feedback::Rate { rate, interval })
    }
}

const HOPS: u32 = 0xff;
const PAST: u32 = 0xff;

/// Intervals are counted modulo this, from 1.
const INTERVALS: u32 = (1 << 24) - 1;

/// The hops whose rates a sender follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hops {
    /// The least rate of all hops.
    All,
    /// The rate of this hop, counted from 1 among those that write rates, at most 254.
    Only(u8),
}

/// What a data packet carries when it leaves its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The rate that the sender desires, in bytes a second.
    pub desired: f64,
    /// Its RTT in seconds; 0 before it is known.
    pub rtt_s: f64,
    /// The rate at which it sends, in bytes a second; 0 before it is known.
    pub sending: f64,
    /// The hops whose rates it follows.
    pub hops: Hops,
}

impl Request {
    /// To header words.
    #[inline]
    pub fn write(self) -> Header {
        let word = |x: f64| (x as f32).to_bits();
        let hops = match self.hops {
            Hops::All => 0,
            Hops::Only(place) => u32::from(place.clamp(1, 254)),
        };
        [word(self.desired), word(self.rtt_s), hops, word(self.sending)]
    }
}

fn positive(word: u32) -> Option<f64> {
    let x = f32::from_bits(word);
    (x > 0.0 && x.is_finite()).then(|| f64::from(x))
}

/// The RTT in a header, in seconds; `None` before its sender knows one.
#[inline]
pub fn rtt_s(header: &Header) -> Option<f64> {
    positive(header[1])
}

/// The rate at which its sender sends, in bytes a second.
#[inline]
pub fn sending(header: &Header) -> Option<f64> {
    positive(header[3])
}

/// A hop lowers the rate to its own, in bytes a second; `interval` is the number of its control interval.
#[inline]
pub fn mark(header: &mut Header, rate: f64, interval: u64) {
    let hops = header[2] & HOPS;
    let (left, heeded) = match hops {
        0 => (0, true),
        1 => (PAST, true),
        PAST => (PAST, false),
        more => (more - 1, false),
    };
    let mut stamp = header[2] & !HOPS;
    if heeded {
        let lower = rate < f64::from(f32::from_bits(header[0]));
        if lower {
            header[0] = (rate as f32).to_bits();
        }
        if lower || stamp == 0 {
            stamp = (1 + (interval % u64::from(INTERVALS)) as u32) << 8;
        }
    }
    header[2] = stamp | left;
}

/// What the receiver returns: the rate and its interval.
#[inline]
pub fn echo(header: &Header) -> [u32; 2] {
    [header[0], header[2] >> 8]
}

/// What the sender reads: the rate in bytes a second, and the interval, 0 if no hop has written.
#[inline]
pub fn read(echo: [u32; 2]) -> Option<(f64, u32)> {
    positive(echo[0]).map(|rate| (rate, echo[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REQUEST: Request = Request { desired: 1e9, rtt_s: 0.08, sending: 2e5, hops: Hops::All };

    #[test]
    fn the_header_is_sixteen_bytes_and_says_what_was_written() {
        let header = REQUEST.write();
        assert_eq!(size_of_val(&header), 16);
        assert_eq!((rtt_s(&header), sending(&header)), (Some(f64::from(0.08_f32)), Some(2e5)));
        assert_eq!(read(echo(&header)), Some((1e9, 0)));
        let unknown = Request { rtt_s: 0.0, sending: 0.0, ..REQUEST }.write();
        assert_eq!((rtt_s(&unknown), sending(&unknown)), (None, None));
    }

    #[test]
    fn a_malformed_rate_is_none() {
        for rate in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
            assert_eq!(read([rate.to_bits(), 7]), None);
        }
    }

    #[test]
    fn a_sender_may_ask_for_little() {
        let mut header = Request { desired: 1e3, ..REQUEST }.write();
        mark(&mut header, 5e3, 6);
        mark(&mut header, 4e3, 9);
        assert_eq!(read(echo(&header)), Some((1e3, 7))); // of the next interval
    }

    proptest! {
        /// The least rate of all hops arrives, with its interval; of equal rates, the first hop's.
        #[test]
        fn hops_combine_to_the_minimum(
            hops in prop::collection::vec((1.0..2e9f32, 0..1_000_000u64), 1..20)
        ) {
            let mut header = REQUEST.write();
            for (rate, interval) in &hops {
                mark(&mut header, f64::from(*rate), *interval);
            }
            let (rate, interval) = read(echo(&header)).expect("a rate");
            let least = hops.iter().map(|(rate, _)| *rate).fold(1e9, f32::min);
            prop_assert_eq!(rate, f64::from(least));
            let first = hops.iter().find(|(rate, _)| *rate == least && least < 1e9);
            let (_, expected) = first.unwrap_or(&hops[0]);
            prop_assert_eq!(u64::from(interval), expected + 1);
            prop_assert_eq!((header[1], header[3]), (REQUEST.write()[1], REQUEST.write()[3]));
        }

        /// A sender that follows one hop gets the rate of that hop only.
        #[test]
        fn one_hop_may_be_heeded(
            rates in prop::collection::vec(1.0..1e8f32, 1..20), place in 1..20u8
        ) {
            let mut header = Request { hops: Hops::Only(place), ..REQUEST }.write();
            for (hop, rate) in rates.iter().enumerate() {
                mark(&mut header, f64::from(*rate), hop as u64);
            }
            let at = usize::from(place) - 1;
            let expected = rates.get(at).map_or((1e9, 0), |rate| (f64::from(*rate), at as u32 + 1));
            prop_assert_eq!(read(echo(&header)), Some(expected));
        }
    }
}
