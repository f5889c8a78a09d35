//! Explicit congestion notification, RFC 3168: the codepoints and the mark.

use super::coding::{Coding, Echo};
use super::feedback::Feedback;
use super::wire::{Header, Marks, Wire};

/// ECT(0): the sender understands marks.
pub const CAPABLE: u8 = 0b10;
/// ECT(1): the sender wants L4S's marks (RFC 9331).
pub const CAPABLE_L4S: u8 = 0b01;
/// CE: congestion experienced.
pub const CONGESTED: u8 = 0b11;

/// The codec of RFC 3168: the receiver repeats a mark until the sender says that it has reduced its window.
pub struct Ecn;

impl Coding for Ecn {
    /// Is there a mark that the sender has not answered yet?
    type Receiver = bool;
    #[inline]
    fn take(congested: &mut bool, marks: Marks, _: &Header, reduced: bool) {
        *congested = (*congested && !reduced) || marks.ecn() == CONGESTED;
    }
    #[inline]
    fn echo(congested: &mut bool, _: Marks, _: &Header) -> Echo {
        Echo { bits: if *congested { CONGESTED } else { 0 }, ..Echo::default() }
    }
    #[inline]
    fn read(bits: u8, _: [u32; 2]) -> Feedback {
        Feedback::Ecn { congested: bits == CONGESTED }
    }
}

/// The codec of accurate ECN, L4S and prices: the receiver returns each packet's mark.
pub struct EachMark;

impl Coding for EachMark {
    type Receiver = ();
    #[inline]
    fn read(bits: u8, _: [u32; 2]) -> Feedback {
        Feedback::Ecn { congested: bits == CONGESTED }
    }
}

/// May a router mark this packet instead of dropping it?
#[inline]
pub fn is_capable(wire: &Wire<'_>) -> bool {
    wire.marks.codec().bears_mark() && wire.marks.ecn() != 0
}

/// Marks the packet, if that is possible. Returns whether it was.
#[inline]
pub fn mark(wire: &mut Wire<'_>) -> bool {
    let capable = is_capable(wire);
    if capable {
        wire.marks.set_ecn(CONGESTED);
    }
    capable
}

#[cfg(test)]
mod tests {
    use super::super::codec::Codec;
    use super::*;

    #[test]
    fn only_capable_packets_are_marked() {
        let mut header = [0; 4];
        for codec in Codec::ALL.iter().copied() {
            let expected = codec.bears_mark();
            assert!(expected || !Codec::Ecn.is_read_as(codec));
            let mut marks = codec.initial();
            let before = marks;
            assert_eq!(mark(&mut Wire { marks: &mut marks, header: &mut header }), expected);
            assert_eq!(marks != before, expected);
        }
    }
}
