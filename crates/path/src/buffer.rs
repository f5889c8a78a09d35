//! The buffer of a hop.

use knee_laws::quantities::Bytes;

/// How much a queue may hold, without the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// No limit.
    Unlimited,
    /// This many bytes.
    Bytes(u64),
    /// This many packets of any size.
    Packets(u64),
}

impl Buffer {
    /// Do this many packets and bytes fit?
    #[inline]
    pub fn fits(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets as u64 <= limit,
            Self::Bytes(limit) => bytes <= limit,
        }
    }

    /// Its size in bytes, for packets of this size, as laws are told it.
    pub fn room(self, packet_bytes: u64) -> Bytes {
        match self {
            Self::Unlimited => Bytes(u64::MAX),
            Self::Bytes(bytes) => Bytes(bytes),
            Self::Packets(packets) => Bytes(packets.saturating_mul(packet_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_measured_as_the_buffer_is() {
        for (buffer, packets, bytes, fits) in [
            (Buffer::Packets(3), 3, u64::MAX, true),
            (Buffer::Packets(3), 4, 0, false),
            (Buffer::Bytes(100), usize::MAX, 100, true),
            (Buffer::Bytes(100), 1, 101, false),
            (Buffer::Unlimited, usize::MAX, u64::MAX, true),
        ] {
            assert_eq!(buffer.fits(packets, bytes), fits, "{buffer:?}");
        }
        assert_eq!(Buffer::Packets(3).room(1000), Bytes(3000));
        assert_eq!(Buffer::Packets(u64::MAX).room(1000), Bytes(u64::MAX));
    }
}
