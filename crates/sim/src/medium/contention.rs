//! Which station transmits next. Backoffs count down while the channel is idle, and stop while it is not.
//!
//! The channel counts idle slots, and each station has the count at which its backoff is over. The next transmission
//! begins at the least of these counts. A heap finds it in O(log n), and no slot needs an event.

use knee_laws::quantities::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The stations of a channel that wait to transmit.
#[derive(Debug)]
pub struct Contention {
    slot: Span,
    /// Idle slots counted up to `idle_from`.
    slots: u64,
    /// The instant from which slots are counted. It is in the future while the channel is occupied or rests.
    idle_from: Time,
    occupied: bool,
    /// The count at which each station transmits.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Contention {
    /// An idle channel with slots of this length.
    pub fn new(slot: Span) -> Self {
        Self { slot, slots: 0, idle_from: Time::ZERO, occupied: false, waiting: BinaryHeap::new() }
    }

    /// Is the channel idle, and has it rested long enough?
    pub fn is_idle(&self, now: Time) -> bool {
        !self.occupied && now >= self.idle_from
    }

    /// The count of the next slot that begins.
    pub fn count(&self, now: Time) -> u64 {
        if self.is_idle(now) {
            self.slots + now.since(self.idle_from).ps().div_ceil(self.slot.ps())
        } else {
            self.slots
        }
    }

    /// A station will transmit at this count.
    pub fn join(&mut self, station: u32, count: u64) {
        self.waiting.push(Reverse((count, station)));
    }

    /// When the next transmission begins, if nothing joins before.
    pub fn next_at(&self) -> Option<Time> {
        let Reverse((count, _)) = self.waiting.peek().filter(|_| !self.occupied)?;
        Some(self.idle_from + self.slot * count.saturating_sub(self.slots))
    }

    /// The channel is occupied from now on. Puts the stations whose backoff is over into `winners`.
    pub fn begin(&mut self, winners: &mut Vec<u32>) {
        winners.clear();
        let Some(Reverse((count, _))) = self.waiting.peek().copied() else { return };
        while let Some(Reverse((_, station))) =
            self.waiting.peek().copied().filter(|Reverse((other, _))| *other == count)
        {
            self.waiting.pop();
            winners.push(station);
        }
        self.slots = count;
        self.occupied = true;
    }

    /// The channel is free; slots are counted again from this instant.
    pub fn end(&mut self, idle_from: Time) {
        self.occupied = false;
        self.idle_from = idle_from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_micros(n)
    }

    #[test]
    fn backoffs_stand_still_while_the_channel_is_occupied() {
        let mut channel = Contention::new(Span::from_micros(20));
        channel.join(7, 3);
        channel.join(8, 5);
        assert_eq!(channel.next_at(), Some(us(60)));
        let mut winners = vec![];
        channel.begin(&mut winners);
        assert_eq!((winners.as_slice(), channel.next_at()), (&[7][..], None));
        // The other has two slots left, after a pause of a millisecond.
        channel.end(us(1000));
        assert_eq!(channel.next_at(), Some(us(1040)));
        // The winner draws 2 as well: a collision.
        channel.join(7, channel.count(us(900)) + 2);
        channel.begin(&mut winners);
        winners.sort_unstable();
        assert_eq!(winners, [7, 8]);
    }

    #[test]
    fn who_comes_between_slots_waits_for_the_next() {
        let channel = Contention::new(Span::from_micros(20));
        assert_eq!([0, 1, 20, 21].map(|at| channel.count(us(at))), [0, 1, 1, 2]);
    }
}
