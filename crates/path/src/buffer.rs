//! How much waits at a hop at most.

use knee_laws::quantities::Bytes;

/// How much a queue holds; the packet in service is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Everything.
    Unlimited,
    /// So many bytes.
    Bytes(u64),
    /// So many packets, of whatever size.
    Packets(u64),
}

impl Buffer {
    /// Do so many packets and bytes fit?
    #[inline]
    pub fn fits(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets as u64 <= limit,
            Self::Bytes(limit) => bytes <= limit,
        }
    }

    /// Its room in bytes, as laws are told it, for packets of this size.
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
