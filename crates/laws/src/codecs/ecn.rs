//! Explicit congestion notification, RFC 3168: the codepoints and the mark.

use super::{Codec, Wire};

/// ECT(0): the sender understands marks.
pub const CAPABLE: u8 = 0b10;
/// ECT(1): it wants marks as L4S gives them (RFC 9331).
pub const CAPABLE_L4S: u8 = 0b01;
/// CE: congestion experienced.
pub const CONGESTED: u8 = 0b11;

/// Do this codec's packets bear RFC 3168's mark?
#[inline]
pub fn is_borne_by(codec: Codec) -> bool {
    matches!(codec, Codec::Ecn | Codec::AccurateEcn | Codec::L4s | Codec::Adpm | Codec::Price)
}

/// May a router mark this packet instead of dropping it?
#[inline]
pub fn is_capable(wire: &Wire<'_>) -> bool {
    is_borne_by(wire.marks.codec()) && wire.marks.ecn() != 0
}

/// Marks the packet; says whether it could.
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
    use super::*;

    #[test]
    fn only_capable_packets_are_marked() {
        let mut header = [0; 4];
        for codec in Codec::ALL {
            let expected = is_borne_by(codec);
            assert!(expected || !Codec::Ecn.is_read_as(codec));
            let mut marks = codec.initial();
            let before = marks;
            assert_eq!(mark(&mut Wire { marks: &mut marks, header: &mut header }), expected);
            assert_eq!(marks != before, expected);
        }
    }
}
