//! What a sender knows of its outstanding packets: which have arrived, are lost, or were resent.
//!
//! Packets are numbered. `una` is the first not cumulatively acknowledged, `next` the first never sent.
//! Selective acknowledgements are kept in a ring of bits, so that the cost of an ACK is proportional to the words that
//! it changes. All unsacked packets below `edge`, the third highest sacked one, are lost (RFC 6675, IsLost with
//! DupThresh 3). They are resent in order; those below `resent` have been. Thus
//!   in flight = (next - una) - sacked - pending - left
//! where `pending` counts packets that are lost and not yet resent, and `left`, without selective acknowledgements,
//! packets that have left the network as duplicate ACKs tell.

use crate::packet::Block;

const DUP_THRESHOLD: u32 = 3;
const WORD: u32 = 64;

/// The scoreboard of one flow.
#[derive(Debug, Default)]
pub struct Scoreboard {
    /// One bit a packet, at `number mod capacity`; set if sacked. Bits outside [una, next) are 0.
    bits: Vec<u64>,
    una: u32,
    next: u32,
    sacked: u32,
    /// One past the highest sacked packet.
    top: u32,
    edge: u32,
    resent: u32,
    pending: u32,
    left: u32,
    /// Packets found lost so far. A packet that is lost twice counts twice.
    lost: u32,
    /// Fast retransmit: the first packet is to be resent whatever the window.
    urgent: bool,
    /// Blocks of the last ACK. Packets in them are sacked already.
    seen: [Block; 3],
}

impl Scoreboard {
    /// The first packet not cumulatively acknowledged.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }
    /// The first packet never sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }
    /// Packets sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.next - self.una
    }
    /// Packets believed to be in the network (RFC 6675's pipe).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.next - self.una).saturating_sub(self.sacked + self.pending + self.left)
    }
    /// Packets known to have arrived.
    #[inline]
    pub fn delivered(&self) -> u32 {
        self.una + self.sacked
    }
    /// Packets found lost so far. The count may wrap.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }
    /// Is a packet lost and not yet resent?
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.pending > 0
    }
    /// Is the first outstanding packet lost, because three above it are sacked?
    #[inline]
    pub fn is_first_lost(&self) -> bool {
        self.edge > self.una
    }

    /// A new packet is sent; returns its number.
    #[inline]
    pub fn send(&mut self) -> u32 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Must a packet be resent whatever the window?
    #[inline]
    pub fn has_urgent(&self) -> bool {
        self.urgent
    }

    /// The lowest packet that is lost and not yet resent; it counts as resent from now on.
    #[inline]
    pub fn resend(&mut self) -> Option<u32> {
        self.urgent = false;
        if self.pending == 0 {
            return None;
        }
        let number = self.zero_from(self.resent.max(self.una));
        self.resent = number + 1;
        self.pending -= 1;
        Some(number)
    }

    /// Fast retransmit: the first outstanding packet is lost, and resent next whatever the window.
    pub fn lose_first(&mut self) {
        if self.resent > self.una || self.outstanding() == 0 {
            return;
        }
        if self.edge <= self.una {
            self.edge = self.una + 1;
            self.pending += 1;
            self.lost = self.lost.wrapping_add(1);
        }
        self.urgent = true;
    }

    /// A duplicate ACK without selective information: some packet has left the network.
    pub fn one_left(&mut self) {
        self.left += 1;
    }

    /// Everything before `una` is acknowledged. In a recovery without selective acknowledgements, all but one of these
    /// packets have been counted as left already.
    #[inline]
    pub fn acknowledge(&mut self, una: u32) {
        let newly = una - self.una;
        if self.sacked > 0 || self.pending > 0 {
            let (from, to) = (self.una, una);
            if self.pending > 0 {
                let lost_to = to.min(self.edge);
                let lost_from = self.resent.max(from);
                if lost_from < lost_to {
                    self.pending -= (lost_to - lost_from) - self.ones(lost_from, lost_to);
                }
            }
            if self.sacked > 0 {
                self.sacked -= self.clear(from, to.min(self.top.max(from)));
            }
        }
        self.left = self.left.saturating_sub(newly.saturating_sub(1));
        self.urgent &= self.pending > 0;
        self.una = una;
    }

    /// Forgets the packets that duplicate ACKs have counted as left.
    pub fn forget_left(&mut self) {
        self.left = 0;
    }

    /// Takes a SACK block.
    pub fn sack(&mut self, place: usize, block: Block) {
        let (start, end) = (block.0.max(self.una), block.1.min(self.next));
        if start >= end {
            return;
        }
        self.reserve();
        match self.seen.iter().find(|seen| seen.0 <= end && start <= seen.1 && seen.0 < seen.1) {
            Some(&(from, to)) if from.max(start) < to.min(end) => {
                if start < from {
                    self.set(start, from);
                }
                if to < end {
                    self.set(to, end);
                }
            }
            _ => self.set(start, end),
        }
        self.seen[place] = (start, end);
        self.top = self.top.max(end);
    }

    /// The ACK had `count` blocks: forgets further ones of the last ACK.
    pub fn end_sack(&mut self, count: usize) {
        for seen in &mut self.seen[count..] {
            *seen = (0, 0);
        }
        self.find_lost();
    }

    /// Moves the edge up to the third highest sacked packet.
    fn find_lost(&mut self) {
        if self.sacked < DUP_THRESHOLD {
            return;
        }
        let third = self.third_highest();
        if third > self.edge {
            let from = self.edge.max(self.una).max(self.resent);
            if from < third {
                let lost = (third - from) - self.ones(from, third);
                self.pending += lost;
                self.lost = self.lost.wrapping_add(lost);
            }
            self.edge = third;
        }
    }

    /// The retransmission timer fired: every outstanding packet that is not sacked is lost and to be resent.
    pub fn lose_all(&mut self) {
        self.left = 0;
        self.urgent = false;
        self.edge = self.next;
        self.resent = self.una;
        let pending = self.outstanding() - self.sacked;
        self.lost = self.lost.wrapping_add(pending - self.pending.min(pending));
        self.pending = pending;
    }

    fn capacity(&self) -> u32 {
        self.bits.len() as u32 * WORD
    }

    /// Makes room for a bit for every outstanding packet.
    fn reserve(&mut self) {
        let needed = self.outstanding() + WORD;
        if needed <= self.capacity() {
            return;
        }
        let words = (needed.next_power_of_two() / WORD).max(2) as usize;
        let old = std::mem::replace(&mut self.bits, vec![0; words]);
        if self.sacked > 0 {
            for word in self.una / WORD..=(self.top - 1) / WORD {
                let bits = old[word as usize & (old.len() - 1)];
                self.bits[word as usize & (words - 1)] = bits;
            }
        }
    }

    /// Calls `act` with every word that holds bits of `[from, to)` and the mask of these bits.
    #[inline]
    fn words(from: u32, to: u32, mut act: impl FnMut(usize, u64)) {
        let mut at = from;
        while at < to {
            let end = (at / WORD + 1) * WORD;
            let count = end.min(to) - at;
            let mask = (u64::MAX >> (WORD - count)) << (at % WORD);
            act((at / WORD) as usize, mask);
            at += count;
        }
    }

    fn ones(&self, from: u32, to: u32) -> u32 {
        if self.sacked == 0 {
            return 0;
        }
        let (mut count, wrap) = (0, self.bits.len() - 1);
        Self::words(from, to, |word, mask| count += (self.bits[word & wrap] & mask).count_ones());
        count
    }

    fn set(&mut self, from: u32, to: u32) {
        let (lost_from, lost_to) = (self.resent.max(self.una), self.edge);
        let lost = self.pending > 0 && from < lost_to && lost_from < to;
        let before = if lost { self.ones(from.max(lost_from), to.min(lost_to)) } else { 0 };
        let wrap = self.bits.len() - 1;
        let bits = &mut self.bits;
        let mut fresh = 0;
        Self::words(from, to, |word, mask| {
            let bits = &mut bits[word & wrap];
            fresh += (mask & !*bits).count_ones();
            *bits |= mask;
        });
        self.sacked += fresh;
        if lost {
            let (from, to) = (from.max(lost_from), to.min(lost_to));
            self.pending -= (to - from) - before;
        }
    }

    /// Clears bits. Returns how many were set.
    fn clear(&mut self, from: u32, to: u32) -> u32 {
        let wrap = self.bits.len() - 1;
        let bits = &mut self.bits;
        let mut cleared = 0;
        Self::words(from, to, |word, mask| {
            let bits = &mut bits[word & wrap];
            cleared += (*bits & mask).count_ones();
            *bits &= !mask;
        });
        cleared
    }

    /// The first unsacked packet from `from` on.
    fn zero_from(&self, from: u32) -> u32 {
        if self.sacked == 0 {
            return from;
        }
        let wrap = self.bits.len() - 1;
        let mut at = from;
        loop {
            let word = self.bits[(at / WORD) as usize & wrap] >> (at % WORD);
            let run = word.trailing_ones();
            let rest = WORD - at % WORD;
            if run < rest {
                return at + run;
            }
            at += rest;
        }
    }

    /// The number of the third highest sacked packet; there are at least three.
    fn third_highest(&self) -> u32 {
        let wrap = self.bits.len() - 1;
        let mut wanted = DUP_THRESHOLD;
        let mut word = (self.top - 1) / WORD;
        loop {
            let mut bits = self.bits[word as usize & wrap];
            let ones = bits.count_ones();
            if ones >= wanted {
                for _ in 0..wanted - 1 {
                    bits &= !(1 << (WORD - 1 - bits.leading_zeros()));
                }
                return word * WORD + WORD - 1 - bits.leading_zeros();
            }
            wanted -= ones;
            word -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(outstanding: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        for _ in 0..outstanding {
            board.send();
        }
        board
    }

    #[test]
    fn three_sacked_packets_above_make_a_loss() {
        let mut board = board(10);
        board.sack(0, (1, 3));
        board.end_sack(1);
        assert!(!board.is_first_lost());
        assert_eq!(board.in_flight(), 8);
        board.sack(0, (1, 4));
        board.end_sack(1);
        assert!(board.is_first_lost());
        assert_eq!(board.in_flight(), 6); // ten less three sacked less one lost
        assert_eq!(board.resend(), Some(0));
        assert_eq!(board.resend(), None);
        assert_eq!(board.in_flight(), 7);
        board.acknowledge(4);
        assert_eq!((board.in_flight(), board.outstanding()), (6, 6));
    }

    #[test]
    fn a_timeout_loses_all_but_the_sacked() {
        let mut board = board(200);
        board.sack(0, (100, 150));
        board.end_sack(1);
        board.lose_all();
        assert_eq!(board.in_flight(), 0);
        let resent: Vec<u32> = std::iter::from_fn(|| board.resend()).collect();
        assert_eq!(resent, (0..100).chain(150..200).collect::<Vec<_>>());
        assert_eq!(board.in_flight(), 150);
    }

    #[test]
    fn duplicate_acks_without_sack_lower_the_flight_and_partial_acks_give_it_back() {
        let mut board = board(10);
        for _ in 0..3 {
            board.one_left();
        }
        assert_eq!(board.in_flight(), 7);
        board.lose_first();
        assert!(board.has_urgent());
        assert_eq!(board.in_flight(), 6); // the lost one is not in flight until it is resent
        assert_eq!(board.resend(), Some(0));
        assert_eq!((board.in_flight(), board.has_urgent()), (7, false));
        board.acknowledge(3); // 1 and 2 had been counted as left
        assert_eq!((board.outstanding(), board.in_flight()), (7, 6));
    }

    /// A scoreboard that keeps everything in plain vectors.
    #[derive(Default)]
    struct Oracle {
        una: u32,
        sacked: Vec<bool>,
        lost: Vec<bool>,
        resent: Vec<bool>,
    }

    impl Oracle {
        fn in_flight(&self) -> u32 {
            (self.una as usize..self.sacked.len())
                .filter(|&n| !self.sacked[n] && (!self.lost[n] || self.resent[n]))
                .count() as u32
        }
        fn find_lost(&mut self) {
            let mut above = 0;
            for n in (self.una as usize..self.sacked.len()).rev() {
                if self.sacked[n] {
                    above += 1;
                } else if above >= DUP_THRESHOLD {
                    self.lost[n] = true;
                }
            }
        }
        fn resend(&mut self) -> Option<u32> {
            let n = (self.una as usize..self.sacked.len())
                .find(|&n| self.lost[n] && !self.resent[n] && !self.sacked[n])?;
            self.resent[n] = true;
            Some(n as u32)
        }
    }

    proptest! {
        /// Against the oracle, under random operations.
        #[test]
        fn counts_are_those_of_plain_vectors(
            operations in prop::collection::vec((0u8..6, 0u32..400, 1u32..90), 1..200)
        ) {
            let (mut board, mut oracle) = (Scoreboard::default(), Oracle::default());
            let mut blocks: Vec<Block> = vec![];
            for (operation, offset, length) in operations {
                match operation {
                    0 | 1 => for _ in 0..length {
                        board.send();
                        oracle.sacked.push(false);
                        oracle.lost.push(false);
                        oracle.resent.push(false);
                    },
                    2 | 3 => {
                        let start = board.una() + 1 + offset;
                        blocks.insert(0, (start, start + length));
                        blocks.truncate(3);
                        for (place, block) in blocks.iter().enumerate() {
                            board.sack(place, *block);
                            for n in block.0.max(oracle.una)..block.1.min(board.next()) {
                                oracle.sacked[n as usize] = true;
                            }
                        }
                        board.end_sack(blocks.len());
                        oracle.find_lost();
                    }
                    4 => {
                        let una = (board.una() + offset % 70).min(board.next());
                        board.acknowledge(una);
                        oracle.una = una;
                        if offset % 11 == 0 {
                            board.lose_all();
                            for n in una as usize..oracle.sacked.len() {
                                oracle.lost[n] = true;
                                oracle.resent[n] = false;
                            }
                        }
                    }
                    _ => prop_assert_eq!(board.resend(), oracle.resend()),
                }
                prop_assert_eq!(board.in_flight(), oracle.in_flight());
            }
        }
    }
}
