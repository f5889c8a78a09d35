//! Events of shared channels: a station gets a packet, a transmission begins, it ends.

use super::{END, Simulation};
use crate::agenda::{Event, Kind};
use crate::medium::Medium;
use crate::medium::station::{Peer, Station};
use crate::packet::Packet;
use knee_laws::capacity::{Delivery, passive};
use knee_laws::quantities::{BitRate, Span, Time};

/// The times of a transmission.
struct Exchange {
    /// How long a transmitting station occupies the channel.
    air: Span,
    /// From its beginning to the end of the data.
    data: Span,
    /// From the end of the data to the end of the answer.
    answer: Span,
}

impl Simulation {
    /// A packet waits at a link that a station serves.
    pub(super) fn contend(&mut self, station: u32) {
        if self.stations[station as usize].burst.is_empty() && self.load_station(station) {
            self.enter_contention(station);
            self.await_medium(self.stations[station as usize].medium);
        }
    }

    /// Takes packets for the next transmission from the station's queues. Returns whether there are any.
    fn load_station(&mut self, station: u32) -> bool {
        for queue in self.stations[station as usize].turns() {
            if self.fill_burst(station, queue) {
                let taken = &mut self.stations[station as usize];
                taken.from = queue;
                taken.released = self.now;
                taken.turn_after(queue);
                return true;
            }
        }
        false
    }

    /// Takes as many packets from a queue as one transmission may carry. Returns whether there are any.
    fn fill_burst(&mut self, station: u32, queue: usize) -> bool {
        let Self { stations, media, links, .. } = self;
        let taker = &mut stations[station as usize];
        let (link, peer) = taker.links[queue];
        let phy = &media[taker.medium as usize].phy;
        // A transmission has one receiver, so packets of one queue for different stations are sent one by one.
        let most = if peer == Peer::ByPacket { 1 } else { phy.aggregate_packets };
        let mut bytes: u32 = taker.burst.iter().map(|(packet, _)| u32::from(packet.size)).sum();
        let mut dropped = Vec::new();
        while (taker.burst.len() as u32) < most && bytes < phy.aggregate_bytes {
            match links[link as usize].take(self.now) {
                Some((packet, true)) => {
                    bytes += u32::from(packet.size);
                    taker.burst.push((packet, 0));
                }
                Some((packet, false)) => dropped.push(packet),
                None => break,
            }
        }
        let has_some = !taker.burst.is_empty();
        links[link as usize].serve_by(has_some, self.now);
        for packet in dropped {
            self.refuse(link, &packet);
        }
        has_some
    }

    /// A station has something to send. It transmits when its backoff is over.
    fn enter_contention(&mut self, station: u32) {
        let Self { stations, media, .. } = self;
        let sender = &mut stations[station as usize];
        let Medium { phy, contention, .. } = &mut media[sender.medium as usize];
        let count = contention.count(self.now);
        // If its last backoff is over, it needs another only if the channel is not idle.
        if sender.backoff <= count {
            let goes_at_once = phy.immediate_access && contention.is_idle(self.now);
            let backoff = if goes_at_once { 0 } else { phy.backoff(0, sender.uniform()) };
            sender.backoff = count + backoff;
        }
        contention.join(station, sender.backoff);
    }

    /// Schedules the next transmission of a channel.
    fn await_medium(&mut self, medium: u32) {
        let waiting = &mut self.media[medium as usize];
        if let Some(at) = waiting.contention.next_at().map(|at| at.max(self.now))
            && at < waiting.due
        {
            waiting.due = at;
            self.agenda.schedule(at, Event::new(Kind::Medium, medium));
        }
    }

    /// A channel's event is due: a transmission begins, or ends.
    #[inline(never)]
    pub(super) fn air(&mut self, medium: u32) {
        let channel = &mut self.media[medium as usize];
        if channel.due != self.now {
            return; // another transmission began earlier
        }
        channel.due = Time::NEVER;
        if channel.winners.is_empty() {
            self.begin_exchange(medium);
        } else {
            self.end_exchange(medium);
            self.await_medium(medium);
        }
    }

    fn begin_exchange(&mut self, medium: u32) {
        let channel = &mut self.media[medium as usize];
        let mut winners = std::mem::take(&mut channel.winners);
        channel.contention.begin(&mut winners);
        let (eifs, difs) = (channel.phy.eifs(), channel.phy.difs());
        let over = match winners.as_slice() {
            [] => return,
            [alone] => {
                let exchange = self.exchange(*alone, false);
                let delivers = self.deliver(*alone, self.now + exchange.data);
                let channel = &mut self.media[medium as usize];
                let end = self.now + exchange.data + exchange.answer;
                let rest = if delivers { difs } else { eifs - exchange.answer };
                channel.rests_until = end + rest;
                let air = if delivers { exchange.air + exchange.answer } else { exchange.air };
                let times = &mut channel.times;
                *(if delivers { &mut times.success } else { &mut times.error }) += air;
                self.stations[*alone as usize].counts.air += air;
                end
            }
            several => {
                let mut longest = Span::ZERO;
                for station in several {
                    let exchange = self.exchange(*station, true);
                    let collided = &mut self.stations[*station as usize];
                    collided.delivered.clear();
                    collided.delivered.resize(collided.burst.len(), false);
                    collided.counts.air += exchange.air;
                    longest = longest.max(exchange.air);
                }
                let channel = &mut self.media[medium as usize];
                channel.times.collision += longest;
                let end = self.now + longest;
                channel.rests_until = end + eifs + channel.phy.after_collision;
                end + (eifs - difs)
            }
        };
        let channel = &mut self.media[medium as usize];
        channel.winners = winners;
        channel.due = over;
        self.agenda.schedule(over, Event::new(Kind::Medium, medium));
    }

    /// The times of a station's transmission. One that collides ends with its RTS, if it has one.
    fn exchange(&mut self, station: u32, collides: bool) -> Exchange {
        let rate = self.rate_of(station);
        let sender = &mut self.stations[station as usize];
        for (_, tries) in &mut sender.burst {
            *tries += 1;
        }
        let phy = &self.media[sender.medium as usize].phy;
        let mut sizes = [0; 64];
        let count = sender.burst.len().min(sizes.len());
        for (size, (packet, _)) in sizes.iter_mut().zip(&sender.burst) {
            *size = u32::from(packet.size);
        }
        let data = phy.data(&sizes[..count], rate);
        let answer = phy.answer(count, rate);
        let is_announced = sizes[..count].iter().any(|size| *size > phy.rts_threshold);
        match (is_announced, collides) {
            (false, _) => Exchange { air: data, data, answer },
            (true, true) => Exchange { air: phy.rts(rate), data, answer },
            (true, false) => {
                let data = phy.announcement(rate) + data;
                Exchange { air: data, data, answer }
            }
        }
    }

    /// The station whose rate and errors a station's frames have.
    fn peer_of(&self, station: u32) -> u32 {
        let sender = &self.stations[station as usize];
        match (sender.links[sender.from].1, sender.burst.first()) {
            (Peer::Own, _) | (Peer::ByPacket, None) => station,
            (Peer::Station(peer), _) => peer,
            (Peer::ByPacket, Some((packet, _))) => {
                let next = self.hops[packet.hop as usize + 1];
                let entry = self.entries.get(next as usize).copied();
                entry.filter(|peer| *peer != END).unwrap_or(station)
            }
        }
    }

    fn rate_of(&self, station: u32) -> BitRate {
        self.stations[self.peer_of(station) as usize].rate
    }

    /// Delivers the packets of a station's transmission that are free of errors. Returns whether there are any.
    fn deliver(&mut self, station: u32, at: Time) -> bool {
        let peer = self.peer_of(station) as usize;
        let mut burst = std::mem::take(&mut self.stations[station as usize].burst);
        let mut delivered = std::mem::take(&mut self.stations[station as usize].delivered);
        delivered.clear();
        let link = self.stations[station as usize].links[self.stations[station as usize].from].0;
        for (packet, _) in &mut burst {
            let is_fine =
                !self.stations[peer].errors.as_mut().is_some_and(|errors| errors.strike());
            delivered.push(is_fine);
            if is_fine {
                let hop = packet.hop;
                self.forward_at((link, hop), packet, at);
            }
        }
        let sender = &mut self.stations[station as usize];
        let any = delivered.contains(&true);
        (sender.burst, sender.delivered) = (burst, delivered);
        any
    }

    fn end_exchange(&mut self, medium: u32) {
        let mut winners = std::mem::take(&mut self.media[medium as usize].winners);
        let collided = winners.len() > 1;
        for station in winners.drain(..) {
            self.end_attempt(station, collided);
        }
        let channel = &mut self.media[medium as usize];
        channel.winners = winners;
        channel.contention.end(channel.rests_until);
    }

    /// A station's transmission is over. It draws a backoff, and contends again if it has a packet.
    fn end_attempt(&mut self, station: u32, collided: bool) {
        let rate = self.rate_of(station);
        let bytes = self.delivered_bytes(station);
        let size = self.stations[station as usize].burst.first().map_or(0, |(one, _)| one.size);
        let given_up = self.judge(station, collided);
        let Self { stations, media, links, .. } = self;
        let sender = &mut stations[station as usize];
        let Medium { phy, contention, times, .. } = &mut media[sender.medium as usize];
        let backoff = phy.backoff(sender.failures, sender.uniform());
        sender.backoff = contention.count(self.now) + backoff;
        let queue = sender.from;
        if bytes > 0 {
            let delivery = Delivery { bytes, time: self.now.since(sender.released), rate };
            links[sender.links[queue].0 as usize].learn_from(self.now, delivery);
            sender.released = self.now;
        }
        if let Some(survey) = &mut sender.survey {
            survey.see(u32::from(size), backoff);
            let occupied = times.success + times.collision + times.error;
            let seen = survey.end(self.now, (&sender.counts, occupied), (phy, rate));
            if let Some(capacity) = seen.map(|channel| passive(&channel)) {
                links[sender.links[queue].0 as usize].tell_capacity(capacity);
            }
        }
        let (link, is_idle) = (sender.links[queue].0, sender.burst.is_empty());
        for packet in &given_up {
            self.links[link as usize].give_up();
            self.drop(packet);
        }
        let goes_on = match is_idle {
            true => {
                self.links[link as usize].serve_by(false, self.now);
                self.load_station(station)
            }
            false => self.fill_burst(station, queue),
        };
        if goes_on {
            let sender = &self.stations[station as usize];
            self.media[sender.medium as usize].contention.join(station, sender.backoff);
        }
    }

    /// Bytes that a station's current transmission delivers.
    fn delivered_bytes(&self, station: u32) -> u32 {
        let Station { burst, delivered, .. } = &self.stations[station as usize];
        let fine = burst.iter().zip(delivered).filter(|(_, is_fine)| **is_fine);
        fine.map(|((packet, _), _)| u32::from(packet.size)).sum()
    }

    /// Removes the packets that are delivered or given up from a station's transmission. Returns those given up.
    fn judge(&mut self, station: u32, collided: bool) -> Vec<Packet> {
        let sender = &mut self.stations[station as usize];
        let phy = &self.media[sender.medium as usize].phy;
        let limit = |packet: &Packet| match u32::from(packet.size) > phy.rts_threshold {
            true => phy.long_retry_limit,
            false => phy.short_retry_limit,
        };
        let delivered = std::mem::take(&mut sender.delivered);
        let mut given_up = Vec::new();
        let mut place = 0;
        sender.burst.retain(|(packet, tries)| {
            let is_delivered = delivered[place];
            place += 1;
            let is_lost = !is_delivered && *tries >= limit(packet);
            if is_lost {
                given_up.push(*packet);
            }
            !(is_delivered || is_lost)
        });
        let succeeded = delivered.iter().filter(|fine| **fine).count() as u64;
        sender.counts.attempts += 1;
        sender.counts.retries += u64::from(sender.failures > 0);
        sender.counts.collisions += u64::from(collided);
        sender.counts.errors += u64::from(!collided && succeeded == 0);
        sender.counts.delivered += succeeded;
        sender.counts.retry_drops += given_up.len() as u64;
        let ends = succeeded > 0 || !given_up.is_empty();
        sender.failures = if ends { 0 } else { sender.failures + 1 };
        given_up
    }
}
