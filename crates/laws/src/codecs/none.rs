//! No explicit feedback.

use super::coding::{Coding, Echo};
use super::feedback::Feedback;
use super::wire::{Header, Marks};

/// The codec of packets that carry nothing.
pub struct None;

impl Coding for None {
    type Receiver = ();
    #[inline]
    fn echo((): &mut (), _: Marks, _: &Header) -> Echo {
        Echo::default()
    }
    #[inline]
    fn read(_: u8, _: [u32; 2]) -> Feedback {
        Feedback::None
    }
}
