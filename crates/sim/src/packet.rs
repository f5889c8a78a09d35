//! A packet: one small value, moved from ring to ring.

use knee_laws::codecs::{Header, Marks, Wire};
use knee_laws::quantities::Time;

/// A data packet or an ACK. Sizes are on-wire sizes.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// On a line: when it reaches the far end. In a queue: when it came.
    pub at: Time,
    /// When the data packet left its sender; ACKs return it.
    pub stamp: Time,
    /// The flow's slot.
    pub flow: u32,
    /// The index of its hop in the network's list.
    pub hop: u32,
    /// Data: its number. ACK: the next number expected.
    pub seq: u32,
    /// Data: the congestion header in the first four words. ACK: two words of echo, then SACK blocks.
    pub body: [u32; 8],
    /// Bytes on the wire.
    pub size: u16,
    flags: u8,
    /// Codec and ECN bits, as routers see them.
    pub marks: Marks,
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet is one cache line");

const DATA: u8 = 1;
const REDUCED: u8 = 2;
const CARRIER: u8 = 64;
const HANDSHAKE: u8 = 128;
const ECHO_SHIFT: u8 = 2;
const BLOCKS_SHIFT: u8 = 4;

/// A run of packets `[start, end)` that has arrived out of order.
pub type Block = (u32, u32);

impl Packet {
    /// A data packet as its sender emits it. `reduced` is RFC 3168's CWR.
    #[inline]
    pub fn data(flow: u32, seq: u32, size: u16, reduced: bool) -> Self {
        Self {
            at: Time::ZERO,
            stamp: Time::ZERO,
            flow,
            hop: 0,
            seq,
            body: [0; 8],
            size,
            flags: DATA | if reduced { REDUCED } else { 0 },
            marks: Marks::default(),
        }
    }

    /// The packet that opens a flow. It takes the path of data, but carries none.
    #[inline]
    pub fn handshake(flow: u32, seq: u32, size: u16) -> Self {
        let data = Self::data(flow, seq, size, false);
        Self { flags: data.flags | HANDSHAKE, ..data }
    }

    /// An ACK for everything before `next`, prompted by `data`.
    #[inline]
    pub fn ack(data: &Self, next: u32, size: u16, echo_bits: u8) -> Self {
        Self {
            seq: next,
            size,
            flags: (echo_bits & 3) << ECHO_SHIFT,
            body: [0; 8],
            marks: Marks::default(),
            ..*data
        }
    }

    /// Is it data or a handshake, rather than an ACK?
    #[inline]
    pub fn is_forward(&self) -> bool {
        self.flags & DATA != 0
    }
    /// Does the sender say that it has reduced its window (CWR)?
    #[inline]
    pub fn is_reduced(&self) -> bool {
        self.flags & REDUCED != 0
    }
    /// Does it carry a packet of another flow?
    #[inline]
    pub fn is_carrier(&self) -> bool {
        self.flags & CARRIER != 0
    }
    /// Notes the place of the packet that this data packet carries; the congestion header stays as it is.
    #[inline]
    pub fn carry(&mut self, place: u32) {
        self.flags |= CARRIER;
        self.body[7] = place;
    }
    /// The place of the packet that it carries.
    #[inline]
    pub fn cargo(&self) -> u32 {
        self.body[7]
    }
    /// The ECN bits that the receiver returns.
    #[inline]
    pub fn echo_bits(&self) -> u8 {
        (self.flags >> ECHO_SHIFT) & 3
    }
    /// The congestion header of a data packet.
    #[inline]
    pub fn header(&self) -> &Header {
        self.body.first_chunk::<4>().expect("a body has at least four words")
    }
    /// Appends a SACK block; there is room for three.
    #[inline]
    pub fn push_block(&mut self, block: Block) {
        let count = self.block_count();
        self.body[2 + 2 * count] = block.0;
        self.body[3 + 2 * count] = block.1;
        self.flags += 1 << BLOCKS_SHIFT;
    }
    /// How many SACK blocks there are.
    #[inline]
    pub fn block_count(&self) -> usize {
        usize::from((self.flags >> BLOCKS_SHIFT) & 3)
    }
    /// The `n`th SACK block.
    #[inline]
    pub fn block(&self, n: usize) -> Block {
        (self.body[2 + 2 * n], self.body[3 + 2 * n])
    }
}

impl knee_path::Packet for Packet {
    #[inline(always)]
    fn size(&self) -> u32 {
        u32::from(self.size)
    }
    #[inline(always)]
    fn is_data(&self) -> bool {
        self.flags & (DATA | HANDSHAKE) == DATA
    }
    #[inline(always)]
    fn is_forward(&self) -> bool {
        self.flags & DATA != 0
    }
    #[inline(always)]
    fn wire(&mut self) -> Wire<'_> {
        let header: &mut Header =
            self.body.first_chunk_mut::<4>().expect("a body has at least four words");
        Wire { marks: &mut self.marks, header }
    }
    #[inline(always)]
    fn queued_at(&self) -> Time {
        self.at
    }
    #[inline(always)]
    fn set_queued_at(&mut self, now: Time) {
        self.at = now;
    }
}
