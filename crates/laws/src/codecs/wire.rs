//! The part of a packet that routers read and write.

use super::codec::Codec;

/// The words of a congestion header. The codec gives their meaning.
pub type Header = [u32; 4];

/// A byte of every packet: whether it is in profile (see [`rio`](crate::routers::rio)), its codec and
/// the two ECN bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

const IN_PROFILE: u8 = 1 << 7;
const _: () = assert!(Codec::ALL.len() <= 1 << 5, "a codec has five bits");

impl Marks {
    /// Marks of this codec with these ECN bits.
    #[inline]
    pub fn new(codec: Codec, ecn: u8) -> Self {
        Self(((codec as u8) << 2) | (ecn & 3))
    }
    /// The codec.
    #[inline]
    pub fn codec(self) -> Codec {
        Codec::at((self.0 & !IN_PROFILE) >> 2)
    }
    /// The two ECN bits.
    #[inline]
    pub fn ecn(self) -> u8 {
        self.0 & 3
    }
    /// Replaces the two ECN bits.
    #[inline]
    pub fn set_ecn(&mut self, bits: u8) {
        self.0 = (self.0 & !3) | (bits & 3);
    }
    /// Is the packet in profile: within the rate that its flow has been promised?
    #[inline]
    pub fn is_in_profile(self) -> bool {
        self.0 & IN_PROFILE != 0
    }
    /// The same marks in profile.
    #[inline]
    #[must_use]
    pub fn in_profile(self) -> Self {
        Self(self.0 | IN_PROFILE)
    }
}

impl Codec {
    /// The marks of a packet as its sender emits it.
    #[inline]
    pub fn initial(self) -> Marks {
        Marks::new(self, self.properties().initial)
    }
}

/// The part of a packet that routers read and write.
#[derive(Debug)]
pub struct Wire<'a> {
    /// Codec and ECN bits.
    pub marks: &'a mut Marks,
    /// The congestion header of a data packet.
    pub header: &'a mut Header,
}
