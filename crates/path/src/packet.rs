//! A packet, as a queue needs it.

use knee_laws::codecs::Wire;
use knee_laws::quantities::Time;

/// A packet at a hop: a small value. For a real packet it tells where the bytes are; these are not moved.
pub trait Packet: Copy {
    /// Bytes on the wire.
    fn size(&self) -> u32;
    /// Is it data, and not a pure ACK or a handshake?
    fn is_data(&self) -> bool;
    /// Is it data, or a handshake, which asks routers for feedback before there are data?
    fn is_forward(&self) -> bool {
        self.is_data()
    }
    /// The part that laws read and write.
    fn wire(&mut self) -> Wire<'_>;
    /// When it joined its queue.
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
