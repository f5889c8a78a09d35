//! What a packet meets at a hop: a router law with its queues, its buffer and its random numbers, over any
//! type of packet; and how long frames of wireless LANs take. No clock, no rate, no statistics: simulated links and live ones bring their own.
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
