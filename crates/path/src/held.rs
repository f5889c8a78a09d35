//! Packets that wait for a departure event, in the queues of a law.

use crate::packet::Packet;
use crate::ring::Ring;
use knee_laws::quantities::{Span, Time};
use knee_laws::router::Waiting;

/// Queues of packets, with what laws see of each.
#[derive(Debug)]
pub struct Held<P> {
    queues: Box<[Ring<P>]>,
    views: Box<[Waiting]>,
    waits: Box<[Span]>,
}

impl<P: Packet> Held<P> {
    /// This many empty queues.
    pub fn new(queues: usize) -> Self {
        Self {
            queues: (0..queues).map(|_| Ring::default()).collect(),
            views: vec![Waiting::default(); queues].into(),
            waits: vec![Span::ZERO; queues].into(),
        }
    }

    /// The content of each queue, as laws see it.
    #[inline]
    pub fn views(&self) -> &[Waiting] {
        &self.views
    }

    /// Is there more than one queue?
    #[inline]
    pub fn is_several(&self) -> bool {
        self.views.len() > 1
    }

    /// Appends a packet. Returns a reference to it in the queue.
    #[inline]
    pub fn push(&mut self, queue: usize, packet: &P) -> &mut P {
        let view = &mut self.views[queue];
        view.packets += 1;
        view.bytes += u64::from(packet.size());
        self.queues[queue].push(*packet)
    }

    /// Removes the first of a queue.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<P> {
        let packet = self.queues[queue].pop()?;
        let view = &mut self.views[queue];
        view.packets -= 1;
        view.bytes -= u64::from(packet.size());
        Some(packet)
    }

    /// How long the first of each queue has waited; zero if there is none.
    pub fn waits(&mut self, now: Time) -> &[Span] {
        for (wait, queue) in self.waits.iter_mut().zip(&self.queues) {
            *wait = queue.front().map_or(Span::ZERO, |first| now.since(first.queued_at()));
        }
        &self.waits
    }

    /// All packets, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.queues.iter().flat_map(Ring::iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::parcel::Parcel;

    #[test]
    fn views_follow_the_queues() {
        let mut held = Held::new(2);
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        for (at, size) in [(1, 100), (2, 40)] {
            held.push(1, &Parcel { size, queued_at: ms(at), ..Parcel::default() });
        }
        assert_eq!(held.views()[0], Waiting::default());
        assert_eq!(held.views()[1], Waiting { packets: 2, bytes: 140 });
        assert_eq!(held.waits(ms(5)), [Span::ZERO, Span::from_millis(4)]);
        assert!(held.pop(0).is_none());
        assert_eq!(held.pop(1).map(|packet| packet.size), Some(100));
        assert_eq!(held.views()[1], Waiting { packets: 1, bytes: 40 });
        assert_eq!(held.waits(ms(5))[1], Span::from_millis(3));
        assert_eq!(held.iter().count(), 1);
        assert_eq!(held.pop(1).map(|packet| packet.size), Some(40));
        assert_eq!(held.views(), [Waiting::default(); 2]);
    }
}
