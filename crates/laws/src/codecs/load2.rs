//! VCP's two bits of load, [VCP III-B, Fig. 2]: three regions of the load factor in the ECN field.

use super::codec::Codec;
use super::coding::Coding;
use super::feedback::Feedback;
use super::load::Load;
use super::wire::Wire;

/// The codec: the receiver returns the bits.
pub struct Load2;

impl Coding for Load2 {
    type Receiver = ();
    #[inline]
    fn read(bits: u8, _: [u32; 2]) -> Feedback {
        Feedback::Load(Load::from_bits(bits))
    }
}

/// R.4: the packet leaves with the larger of its own code and the link's.
#[inline]
pub fn mark(wire: &mut Wire<'_>, load: Load) {
    if wire.marks.codec() == Codec::Load2 && (load as u8) > wire.marks.ecn() {
        wire.marks.set_ecn(load as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_combine_to_the_worst_in_any_order() {
        let loads = [Load::Low, Load::High, Load::Over];
        for a in loads {
            for b in loads {
                let mut marks = Codec::Load2.initial();
                let mut header = [0; 4];
                for load in [a, b] {
                    mark(&mut Wire { marks: &mut marks, header: &mut header }, load);
                }
                assert_eq!(Load::from_bits(marks.ecn()), a.max(b));
            }
        }
    }
}
