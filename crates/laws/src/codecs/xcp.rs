//! XCP's congestion header [XCP III-A]: `H_cwnd`, `H_rtt` and `H_feedback`, in single precision.

use super::coding::{Coding, Echo};
use super::feedback::Feedback;
use super::wire::{Header, Marks};

/// The codec: the receiver returns the feedback.
pub struct Xcp;

impl Coding for Xcp {
    type Receiver = ();
    #[inline]
    fn echo((): &mut (), marks: Marks, header: &Header) -> Echo {
        Echo { bits: marks.ecn(), words: echo(header), option_bytes: 0 }
    }
    #[inline]
    fn read(_: u8, words: [u32; 2]) -> Feedback {
        Feedback::Xcp { delta_bytes: read(words) }
    }
}

/// What a data packet of an XCP sender carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionHeader {
    /// `H_cwnd`: the sender's window, in bytes.
    pub window_bytes: f32,
    /// `H_rtt`: the sender's RTT estimate, in seconds; 0 before it is known.
    pub rtt_s: f32,
    /// `H_feedback`: change of window that the packet asks for or is allowed, in bytes.
    pub delta_bytes: f32,
}

impl CongestionHeader {
    /// To header words.
    #[inline]
    pub fn write(self) -> Header {
        [self.window_bytes.to_bits(), self.rtt_s.to_bits(), self.delta_bytes.to_bits(), 0]
    }
    /// From header words.
    #[inline]
    pub fn parse(header: &Header) -> Self {
        let [window, rtt, delta, _] = header.map(f32::from_bits);
        Self { window_bytes: window, rtt_s: rtt, delta_bytes: delta }
    }
}

/// A hop lowers the feedback to what it allows.
#[inline]
pub fn mark(header: &mut Header, allowed_bytes: f64) {
    if allowed_bytes < f64::from(f32::from_bits(header[2])) {
        header[2] = (allowed_bytes as f32).to_bits();
    }
}

/// What the receiver returns: the feedback.
#[inline]
pub fn echo(header: &Header) -> [u32; 2] {
    [header[2], 0]
}

/// What the sender reads: the change of its window in bytes; 0 for a malformed header.
#[inline]
pub fn read(echo: [u32; 2]) -> f64 {
    let delta = f64::from(f32::from_bits(echo[0]));
    if delta.is_finite() { delta } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_combine_to_the_minimum() {
        let sent = CongestionHeader { window_bytes: 1e4, rtt_s: 0.08, delta_bytes: 5e3 };
        let mut header = sent.write();
        assert_eq!(CongestionHeader::parse(&header), sent);
        mark(&mut header, 700.0);
        mark(&mut header, 900.0);
        assert_eq!(read(echo(&header)), 700.0);
        mark(&mut header, -20.0);
        assert_eq!(read(echo(&header)), -20.0);
    }

    #[test]
    fn a_malformed_header_changes_nothing() {
        assert_eq!(read([f32::NAN.to_bits(), 0]), 0.0);
        assert_eq!(read([f32::INFINITY.to_bits(), 0]), 0.0);
    }
}
