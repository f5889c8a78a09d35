//! A flow's receiver: cumulative and selective acknowledgements, the echo of feedback, delayed ACKs.

use crate::config::{GroupId, Transport};
use crate::packet::{Block, Packet};
use knee_laws::codecs::{Reader, ecn};
use knee_laws::quantities::Time;
use std::collections::VecDeque;

/// What the receiver does with a data packet.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Sends this ACK now.
    Now(Packet),
    /// Waits for more data, until this instant at the latest.
    Later(Time),
    /// Waits, with the timer already running.
    Waiting,
}

/// The state of a receiver.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Its flow's group, for the transport's options.
    pub group: GroupId,
    /// Index of its ACKs' first hop in the network's list.
    pub first_hop: u32,
    /// The next packet expected in order.
    pub next: u32,
    /// `next` when statistics began.
    pub base: u32,
    /// Packets received, duplicates included.
    pub received: u64,
    /// ACKs sent.
    pub acks: u64,
    /// Runs of packets that arrived out of order, ascending, with gaps between them.
    blocks: VecDeque<Block>,
    /// A packet of each of the runs reported last, latest first.
    recent: [u32; 3],
    /// Reads feedback from data packets.
    reader: Reader,
    /// The first packet that a delayed ACK would acknowledge; `held` of them.
    held: u32,
    oldest: Option<Packet>,
    timer: bool,
}

impl Receiver {
    /// A receiver before its first packet.
    pub fn new(group: GroupId, options: &Transport) -> Self {
        Self { group, base: options.first_data(), ..Self::default() }
    }

    /// Takes a data packet.
    #[inline(always)]
    pub fn take(&mut self, data: &Packet, options: &Transport, now: Time) -> Answer {
        self.received += 1;
        self.reader.take(data.marks, data.header(), data.is_reduced());
        let in_order = data.seq == self.next && self.blocks.is_empty();
        if in_order {
            self.next += 1;
        } else {
            self.take_out_of_order(data.seq);
        }
        if options.packets_per_ack > 1
            && in_order
            && !options.is_handshake(data.seq)
            && let Some(answer) = self.delay(data, options, now)
        {
            return answer;
        }
        Answer::Now(self.acknowledge(data, options))
    }

    /// Decides whether the ACK of a packet in order waits; `None` if it is due now.
    #[inline(never)]
    fn delay(&mut self, data: &Packet, options: &Transport, now: Time) -> Option<Answer> {
        if let Some(oldest) = self.oldest.filter(|oldest| is_other_mark(oldest, data)) {
            self.next -= 1;
            let ack = self.acknowledge(&oldest, options);
            self.next += 1;
            (self.held, self.oldest) = (1, Some(*data));
            return Some(Answer::Now(ack));
        }
        self.held += 1;
        if self.held < options.packets_per_ack {
            if self.oldest.is_none() {
                self.oldest = Some(*data);
            }
            if self.timer {
                return Some(Answer::Waiting);
            }
            self.timer = true;
            return Some(Answer::Later(now + options.ack_delay));
        }
        None
    }

    /// The delayed-ACK timer fired.
    pub fn expire(&mut self, options: &Transport) -> Option<Packet> {
        self.timer = false;
        let oldest = self.oldest.take()?;
        Some(self.acknowledge(&oldest, options))
    }

    /// Does the agenda have an event for the delayed-ACK timer?
    pub fn is_timing(&self) -> bool {
        self.timer
    }

    /// The ACK for `data`. A delayed one returns the time stamp of the oldest packet (RFC 7323).
    #[inline]
    fn acknowledge(&mut self, data: &Packet, options: &Transport) -> Packet {
        self.acks += 1;
        self.held = 0;
        let echo = self.reader.echo(data.marks, data.header());
        let size = options.ack_bytes.saturating_add(echo.option_bytes);
        let mut ack = Packet::ack(data, self.next, size, echo.bits);
        (ack.body[0], ack.body[1]) = (echo.words[0], echo.words[1]);
        if let Some(oldest) = self.oldest.take() {
            ack.stamp = oldest.stamp;
        }
        if !self.blocks.is_empty() {
            self.report_blocks(&mut ack);
        }
        ack
    }

    fn take_out_of_order(&mut self, seq: u32) {
        if seq < self.next {
            return;
        }
        if seq == self.next {
            self.next += 1;
            if let Some(&(start, end)) = self.blocks.front()
                && start == self.next
            {
                self.next = end;
                self.blocks.pop_front();
            }
            return;
        }
        self.recent = match self.recent {
            [a, b, _] if a != seq => [seq, a, b],
            same => same,
        };
        // The common case first: the packet extends the last run or lies beyond it.
        let place = match self.blocks.back() {
            Some(last) if seq < last.0 => self.blocks.partition_point(|block| block.0 <= seq),
            _ => self.blocks.len(),
        };
        if place > 0 {
            let before = &mut self.blocks[place - 1];
            if seq < before.1 {
                return;
            }
            if seq == before.1 {
                before.1 += 1;
                let end = before.1;
                if self.blocks.get(place).is_some_and(|after| after.0 == end) {
                    self.blocks[place - 1].1 = self.blocks[place].1;
                    self.blocks.remove(place);
                }
                return;
            }
        }
        match self.blocks.get_mut(place) {
            Some(after) if after.0 == seq + 1 => after.0 = seq,
            _ => self.blocks.insert(place, (seq, seq + 1)),
        }
    }

    /// RFC 2018: first the run of the latest packet, then the runs reported before.
    fn report_blocks(&self, ack: &mut Packet) {
        let mut reported = [(0, 0); 3];
        let mut count = 0;
        for seq in self.recent {
            let place = self.blocks.partition_point(|block| block.0 <= seq);
            if place > 0 {
                let block = self.blocks[place - 1];
                if seq < block.1 && !reported[..count].contains(&block) {
                    reported[count] = block;
                    count += 1;
                    ack.push_block(block);
                }
            }
        }
    }
}

/// RFC 8257, 3.2: if the marks of single packets count, a delayed ACK covers only packets with the same mark.
fn is_other_mark(held: &Packet, data: &Packet) -> bool {
    let is_marked = |packet: &Packet| packet.marks.ecn() == ecn::CONGESTED;
    data.marks.codec().counts_marks() && is_marked(held) != is_marked(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use knee_laws::codecs::Codec;
    use knee_laws::quantities::Span;

    /// Feeds packets in this order and returns (cumulative, blocks) of each ACK.
    fn acks(order: &[u32]) -> Vec<(u32, Vec<Block>)> {
        let mut receiver = Receiver::default();
        let answer = |seq: &u32| {
            let data = Packet::data(0, *seq, 1000, false);
            match receiver.take(&data, &Transport::default(), Time::ZERO) {
                Answer::Now(ack) => {
                    (ack.seq, (0..ack.block_count()).map(|n| ack.block(n)).collect())
                }
                _ => panic!("an ACK a packet"),
            }
        };
        order.iter().map(answer).collect()
    }

    #[test]
    fn blocks_are_those_of_rfc_2018() {
        // Its section 4, case 3: segments 0, 2, 4, 6 and 8 of ten arrive, then 3.
        let seen = acks(&[0, 2, 4, 6, 8, 3]);
        assert_eq!(seen[1], (1, vec![(2, 3)]));
        assert_eq!(seen[3], (1, vec![(6, 7), (4, 5), (2, 3)]));
        assert_eq!(seen[4], (1, vec![(8, 9), (6, 7), (4, 5)]));
        assert_eq!(seen[5], (1, vec![(2, 5), (8, 9), (6, 7)]));
    }

    #[test]
    fn a_filled_hole_moves_the_cumulative_ack_over_the_run() {
        let seen = acks(&[0, 2, 3, 5, 1, 4, 4]);
        assert_eq!(seen[4], (4, vec![(5, 6)]));
        assert_eq!(seen[5], (6, vec![]));
        assert_eq!(seen[6], (6, vec![]));
    }

    /// RFC 8257, figure 2: a change of the mark is told before the packet that brings it.
    #[test]
    fn a_delayed_ack_never_covers_two_marks_where_they_count() {
        let options = Transport {
            packets_per_ack: 2,
            ack_delay: Span::from_millis(100),
            ..Transport::default()
        };
        let mut receiver = Receiver::new(GroupId(0), &options);
        let mut take = |seq, bits| {
            let mut data = Packet::data(0, seq, 1000, false);
            data.marks = Codec::AccurateEcn.initial();
            data.marks.set_ecn(bits);
            match receiver.take(&data, &options, Time::ZERO) {
                Answer::Now(ack) => Some((ack.seq, ack.echo_bits())),
                _ => None,
            }
        };
        let capable = Codec::AccurateEcn.initial().ecn();
        assert_eq!([take(0, capable), take(1, capable)], [None, Some((2, capable))]);
        assert_eq!(take(2, capable), None);
        assert_eq!(take(3, ecn::CONGESTED), Some((3, capable)));
        assert_eq!(take(4, ecn::CONGESTED), Some((5, ecn::CONGESTED)));
    }

    #[test]
    fn every_other_packet_is_acknowledged_or_after_the_delay() {
        let options = Transport {
            packets_per_ack: 2,
            ack_delay: Span::from_millis(100),
            ..Transport::default()
        };
        let mut receiver = Receiver::default();
        let mut take =
            |seq| receiver.take(&Packet::data(0, seq, 1000, false), &options, Time::ZERO);
        assert!(matches!(take(0), Answer::Later(at) if at == Time::ZERO + Span::from_millis(100)));
        assert!(matches!(take(1), Answer::Now(ack) if ack.seq == 2));
        assert!(matches!(take(2), Answer::Waiting));
        assert!(matches!(take(4), Answer::Now(ack) if ack.seq == 3)); // out of order: at once
        assert!(receiver.expire(&options).is_none());
    }

    #[test]
    fn an_estimate_enlarges_the_acks_that_bring_it() {
        let mut receiver = Receiver::default();
        let mut size = |seq| {
            let mut data = Packet::data(0, seq, 1000, false);
            data.marks = Codec::Adpm.initial();
            match receiver.take(&data, &Transport::default(), Time::ZERO) {
                Answer::Now(ack) => ack.size,
                _ => panic!("an ACK a packet"),
            }
        };
        // At once, 2 ACKs later, 3 more.
        assert_eq!([0, 1, 2, 3, 4, 5].map(&mut size), [44, 40, 44, 40, 40, 44]);
    }
}
