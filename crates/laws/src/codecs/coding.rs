//! What a codec does at the ends of a path. On a hop, the router laws that write it act.

use super::feedback::Feedback;
use super::wire::{Header, Marks};

/// What an ACK returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// ECN bits.
    pub bits: u8,
    /// Words of feedback.
    pub words: [u32; 2],
    /// Bytes that the feedback adds to the ACK.
    pub option_bytes: u16,
}

/// A codec at the receiver, and at the sender that reads its ACKs.
pub trait Coding {
    /// The state of a flow's receiver.
    type Receiver: Copy + Default + std::fmt::Debug;

    /// The receiver takes a data packet; `reduced` is RFC 3168's CWR.
    #[inline]
    fn take(_: &mut Self::Receiver, _: Marks, _: &Header, _reduced: bool) {}

    /// What the ACK of a data packet returns: by default the packet's ECN bits.
    #[inline]
    fn echo(_: &mut Self::Receiver, marks: Marks, _: &Header) -> Echo {
        Echo { bits: marks.ecn(), ..Echo::default() }
    }

    /// What the sender learns from an ACK's echoed ECN bits and words.
    fn read(bits: u8, words: [u32; 2]) -> Feedback;
}
