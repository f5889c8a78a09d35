//! The queue of a hop: a router law with its queues, its buffer and its random numbers, for any type of packet. It has
//! no clock, no rate and no statistics; simulated and live links have their own. The
//! frame times of wireless LANs are here too ([`Phy`]).
#![forbid(unsafe_code)]

mod buffer;
mod held;
mod packet;
mod phy;
mod queue;
mod random;
mod ring;

pub use buffer::Buffer;
pub use packet::Packet;
pub use phy::{Phy, STANDARDS, Standard, Symbol};
pub use queue::{Hop, Queue, Tally, Watch};
pub use random::{Stream, identifier, identity};
pub use ring::Ring;
