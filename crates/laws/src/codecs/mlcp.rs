//! MLCP's header field: a code of the load factor, and the measurement interval of that.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, chapter 3. The header also carries the sender's RTT
//! (3.3.0.5), and how many levels the sender reads, which a real network would agree on beforehand. So one
//! codec serves MLCP's 4 bits and the n-bit schemes of 3.2. Codes, from 1 on:
//!   `mi`  levels of equal width below 80 %           (l = 2^n - 3 in 3.2.1, 5 in 3.4.1)
//!   1     from 80 % to 95 %, or to 100 % without ii
//!   1     from 95 % to 100 %, if `ii`
//!   `md`  levels from 100 % on, the last from 120 %, the others of equal width (3.2.2.2)
//! Code 0 means that no router has written. The pair of the most loaded link counts; of equal codes, the one
//! with the longer interval.

use super::coding::{Coding, Echo};
use super::feedback::Feedback;
use super::wire::{Header, Marks};
use crate::quantities::Span;

/// The codec: the receiver returns code and interval.
pub struct Mlcp;

impl Coding for Mlcp {
    type Receiver = ();
    #[inline]
    fn echo((): &mut (), marks: Marks, header: &Header) -> Echo {
        Echo { bits: marks.ecn(), words: echo(header), option_bytes: 0 }
    }
    #[inline]
    fn read(_: u8, words: [u32; 2]) -> Feedback {
        let (code, interval) = read(words);
        Feedback::Mlcp { code, interval }
    }
}

/// The set S of measurement intervals, in ms (3.3.0.5).
pub const INTERVALS_MS: [u64; 8] = [80, 200, 400, 600, 800, 1000, 1200, 1400];

/// U_t: up to here senders apply MI.
pub const MI_BELOW: f64 = 0.8;
/// Up to here AI, then II.
pub const AI_BELOW: f64 = 0.95;
/// sigma_max: from here on the smallest beta.
pub const WORST: f64 = 1.2;

/// How the load factor is divided into levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Levels of MI, l.
    pub mi: u16,
    /// Levels of MD.
    pub md: u8,
    /// Is there a level of II?
    pub ii: bool,
}

/// What a code says of the load factor sigma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// Below this, the upper end of a level of MI.
    Low(f64),
    /// High enough for AI.
    High,
    /// Close to full.
    Close,
    /// Overload: 0 at the mildest level of MD, 1 at the worst.
    Over(f64),
}

impl Levels {
    /// Number of codes below overload, without code 0.
    fn below(self) -> u32 {
        u32::from(self.mi) + 1 + u32::from(self.ii)
    }

    /// Bits that the code of the load needs.
    pub fn bits(self) -> u32 {
        (self.below() + u32::from(self.md)).ilog2() + 1
    }

    /// The code of a load factor, 1 being full.
    pub fn encode(self, load: f64) -> u32 {
        if load < MI_BELOW {
            let level = (load / MI_BELOW * f64::from(self.mi)) as u32;
            1 + level.min(u32::from(self.mi) - 1)
        } else if load < 1.0 {
            u32::from(self.mi) + 1 + u32::from(self.ii && load >= AI_BELOW)
        } else {
            let place = ((load - 1.0) / (WORST - 1.0)).min(1.0);
            self.below() + 1 + (place * f64::from(self.md - 1)) as u32
        }
    }

    /// What a code says; `None` if no router has written it.
    pub fn decode(self, code: u32) -> Option<Region> {
        let mi = u32::from(self.mi);
        Some(match code {
            0 => return None,
            _ if code <= mi => Region::Low(MI_BELOW * f64::from(code) / f64::from(mi)),
            _ if code == mi + 1 => Region::High,
            _ if code <= self.below() => Region::Close,
            _ => {
                let level = (code - self.below() - 1).min(u32::from(self.md) - 1);
                Region::Over(f64::from(level) / f64::from(self.md - 1).max(1.0))
            }
        })
    }

    fn word(self) -> u32 {
        u32::from(self.mi) | u32::from(self.md) << 16 | u32::from(self.ii) << 24
    }

    fn from_word(word: u32) -> Self {
        let (mi, md) = (word as u16, (word >> 16) as u8);
        Self { mi: mi.max(1), md: md.max(1), ii: word >> 24 & 1 == 1 }
    }
}

/// The header as its sender writes it: RTT in seconds, 0 before it is known, and levels.
#[inline]
pub fn write(rtt_s: f64, levels: Levels) -> Header {
    [0, (rtt_s as f32).to_bits(), levels.word(), 0]
}

/// The RTT in a header, in seconds; `None` before its sender knows one.
#[inline]
pub fn rtt_s(header: &Header) -> Option<f64> {
    let rtt = f32::from_bits(header[1]);
    (rtt > 0.0 && rtt.is_finite()).then(|| f64::from(rtt))
}

/// A hop writes its load factor and the index of its interval in S, if its load is the highest so far.
#[inline]
pub fn mark(header: &mut Header, load: f64, interval: usize) {
    let code = Levels::from_word(header[2]).encode(load);
    header[0] = header[0].max(code << 3 | interval as u32);
}

/// What the receiver returns: the pair.
#[inline]
pub fn echo(header: &Header) -> [u32; 2] {
    [header[0], 0]
}

/// What the sender reads: code and interval.
#[inline]
pub fn read(echo: [u32; 2]) -> (u32, Span) {
    (echo[0] >> 3, Span::from_millis(INTERVALS_MS[(echo[0] & 7) as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MLCP: Levels = Levels { mi: 5, md: 8, ii: true };

    /// The n-bit scheme of 3.2.1.
    fn bits(n: u32) -> Levels {
        Levels { mi: (1 << n) - 3, md: 1, ii: false }
    }

    #[test]
    fn mlcp_fills_four_bits_and_the_schemes_theirs() {
        assert_eq!(MLCP.bits(), 4);
        assert_eq!([2, 3, 4, 15].map(|n| bits(n).bits()), [2, 3, 4, 15]);
        assert_eq!(MLCP.encode(1e9), 15); // sixteen with code 0
        assert_eq!([2, 3, 4, 15].map(|n| bits(n).encode(1.0)), [3, 7, 15, 32767]);
    }

    #[test]
    fn levels_change_where_the_chapter_says() {
        let at = |load: f64| [load - 1e-9, load + 1e-9].map(|load| MLCP.encode(load));
        assert_eq!((MLCP.encode(0.0), MLCP.encode(0.8), MLCP.encode(1.0)), (1, 6, 8));
        for (level, load) in [0.16, 0.32, 0.48, 0.64, 0.8, 0.95, 1.0].into_iter().enumerate() {
            let code = level as u32 + 1;
            assert_eq!(at(load), [code, code + 1], "{load}");
        }
        assert_eq!(at(1.0 + 0.2 / 7.0), [8, 9]);
        assert_eq!(at(1.2), [14, 15]);
        assert_eq!(MLCP.decode(2), Some(Region::Low(0.32)));
        assert_eq!(MLCP.decode(8), Some(Region::Over(0.0)));
        assert_eq!(MLCP.decode(15), Some(Region::Over(1.0)));
        assert_eq!(MLCP.decode(0), None);
    }

    #[test]
    fn the_pair_of_the_worst_hop_arrives() {
        let mut header = write(0.08, MLCP);
        for (load, interval) in [(0.5, 7), (1.01, 0), (0.9, 3), (1.02, 1), (1.02, 0)] {
            mark(&mut header, load, interval);
        }
        assert_eq!(read(echo(&header)), (8, Span::from_millis(200)));
        assert_eq!(rtt_s(&header), Some(f64::from(0.08_f32)));
    }

    proptest! {
        /// A level contains the loads with its code, and codes rise with the load.
        #[test]
        fn codes_bound_their_loads(mi in 1..32766u16, md in 1..9u8, ii: bool, a in 0.0..1.5, b in 0.0..1.5) {
            let levels = Levels { mi, md, ii };
            let code = levels.encode(a);
            prop_assert!(a > b || code <= levels.encode(b));
            let fits = match levels.decode(code) {
                Some(Region::Low(bound)) => a < bound + 1e-12 && a >= bound - 0.8 / f64::from(mi) - 1e-12,
                Some(Region::High) => (0.8..1.0).contains(&a) && !(ii && a >= 0.95),
                Some(Region::Close) => ii && (0.95..1.0).contains(&a),
                Some(Region::Over(place)) => a >= 1.0 + 0.2 * place - 1e-12,
                None => false,
            };
            prop_assert!(fits);
            prop_assert_eq!(Levels::from_word(levels.word()), levels);
        }
    }
}
