//! What a queue must know of a packet.

use knee_laws::codecs::Wire;
use knee_laws::quantities::Time;

/// A packet at a hop: a small value. The bytes of a real packet stay where they are, and the value tells where.
pub trait Packet: Copy {
    /// Bytes on the wire.
    fn size(&self) -> u32;
    /// Is it data, as opposed to a pure ACK or a handshake?
    fn is_data(&self) -> bool;
    /// Is it data, or the handshake that asks routers before there are any?
    fn is_forward(&self) -> bool {
        self.is_data()
    }
    /// What laws read and write of it.
    fn wire(&mut self) -> Wire<'_>;
    /// When it joined the queue that it waits in.
    fn queued_at(&self) -> Time;
    /// It joins a queue now.
    fn set_queued_at(&mut self, now: Time);
}

/// A packet for tests.
#[cfg(test)]
pub(crate) mod parcel {
    use super::Packet;
    use knee_laws::codecs::{Header, Marks, Wire};
    use knee_laws::quantities::Time;

    #[derive(Clone, Copy, Debug, Default)]
    pub struct Parcel {
        pub size: u32,
        pub marks: Marks,
        pub header: Header,
        pub queued_at: Time,
    }

    impl Packet for Parcel {
        fn size(&self) -> u32 {
            self.size
        }
        fn is_data(&self) -> bool {
            self.size > 100
        }
        fn wire(&mut self) -> Wire<'_> {
            Wire { marks: &mut self.marks, header: &mut self.header }
        }
        fn queued_at(&self) -> Time {
            self.queued_at
        }
        fn set_queued_at(&mut self, now: Time) {
            self.queued_at = now;
        }
    }
}
