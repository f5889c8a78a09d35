//! Packets that arrive out of their line's order. Each has an event of its own.

use crate::packet::Packet;
use knee_laws::quantities::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Packets out of order, by arrival.
#[derive(Default)]
pub struct Latecomers {
    packets: BinaryHeap<Late>,
    launched: u64,
}

/// A packet out of order: the one that arrives first is the greatest.
struct Late {
    packet: Packet,
    number: u64,
}

impl Latecomers {
    /// Keeps a packet until it arrives.
    pub fn push(&mut self, packet: &Packet) {
        self.packets.push(Late { packet: *packet, number: self.launched });
        self.launched += 1;
    }

    /// The packet that arrives first; of several at one instant, the one launched first.
    pub fn pop(&mut self) -> Option<Packet> {
        self.packets.pop().map(|late| late.packet)
    }

    /// All of them.
    #[cfg(debug_assertions)]
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|late| &late.packet)
    }
}

impl Late {
    fn key(&self) -> (Time, u64) {
        (self.packet.at, self.number)
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Late {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_leave_in_order_of_time_then_of_launch() {
        let mut late = Latecomers::default();
        for (seq, ps) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 40)] {
            let mut packet = Packet::data(0, seq, 1000, false);
            packet.at = Time::from_ps(ps);
            late.push(&packet);
        }
        let order = Vec::from_iter(std::iter::from_fn(|| late.pop()).map(|packet| packet.seq));
        assert_eq!(order, [1, 3, 2, 0, 4]);
    }
}
