//! An aggregate: packets of other flows, and the flow that carries them inside a network.
//!
//! The carried packets are kept here, in one place for each carrying packet under way. The place is freed when
//! the carrying packet arrives or is dropped. So each packet that entered is delivered, lost or still inside.

use crate::packet::Packet;

/// The place of a packet that carries nothing.
const NOTHING: u32 = u32::MAX;

/// The state of an aggregate.
#[derive(Debug)]
pub struct Aggregate {
    /// The link by which other flows see it.
    pub link: u32,
    /// Bytes that carrying adds to a packet.
    overhead: u16,
    /// Size of an empty packet without the overhead.
    empty: u16,
    cargo: Vec<Packet>,
    /// Places of the cargo that are free.
    free: Vec<u32>,
    pub delivered: u64,
    pub lost: u64,
    /// Bytes of the packets delivered, without the overhead.
    pub delivered_bytes: u64,
    /// `lost` and `delivered_bytes` when statistics began.
    base: (u64, u64),
    /// `delivered_bytes` when a probe last asked.
    probed: u64,
}

impl Aggregate {
    /// An aggregate with nothing inside. Its empty packets have `empty` bytes and the overhead.
    pub fn new(link: u32, overhead: u16, empty: u16) -> Self {
        Self {
            link,
            overhead,
            empty,
            cargo: Vec::new(),
            free: Vec::new(),
            delivered: 0,
            lost: 0,
            delivered_bytes: 0,
            base: (0, 0),
            probed: 0,
        }
    }

    /// Loads a packet into one of the carrying flow. Without a packet, that one travels empty.
    pub fn load(&mut self, carrier: &mut Packet, packet: Option<&Packet>) {
        let place = match packet {
            None => NOTHING,
            Some(packet) => match self.free.pop() {
                Some(place) => {
                    self.cargo[place as usize] = *packet;
                    place
                }
                None => {
                    self.cargo.push(*packet);
                    self.cargo.len() as u32 - 1
                }
            },
        };
        carrier.carry(place);
        carrier.size =
            packet.map_or(self.empty, |packet| packet.size).saturating_add(self.overhead);
    }

    /// The egress: takes out what a packet of the carrying flow brought.
    pub fn deliver(&mut self, carrier: &Packet) -> Option<Packet> {
        let packet = self.unload(carrier)?;
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.size);
        Some(packet)
    }

    /// A packet of the carrying flow was dropped: what is lost with it.
    pub fn lose(&mut self, carrier: &Packet) -> Option<Packet> {
        let packet = self.unload(carrier)?;
        self.lost += 1;
        Some(packet)
    }

    fn unload(&mut self, carrier: &Packet) -> Option<Packet> {
        let place = carrier.cargo();
        let packet = *self.cargo.get(place as usize)?;
        self.free.push(place);
        Some(packet)
    }

    /// The packets that it has under way.
    #[cfg(debug_assertions)]
    pub fn cargo(&self) -> impl Iterator<Item = &Packet> {
        let is_free = |place: &usize| self.free.contains(&(*place as u32));
        (0..self.cargo.len()).filter(move |place| !is_free(place)).map(|place| &self.cargo[place])
    }

    /// Packets that it has under way.
    pub fn inside(&self) -> u64 {
        (self.cargo.len() - self.free.len()) as u64
    }

    /// Statistics begin.
    pub fn warm(&mut self) {
        self.base = (self.lost, self.delivered_bytes);
    }

    /// Packets lost since then.
    pub fn lost_since(&self) -> u64 {
        self.lost - self.base.0
    }

    /// Bytes delivered since then.
    pub fn bytes_since(&self) -> u64 {
        self.delivered_bytes - self.base.1
    }

    /// Bytes delivered since this was last asked.
    pub fn bytes_probed(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.probed, self.delivered_bytes);
        self.delivered_bytes - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_comes_out_as_it_went_in_whatever_the_order() {
        let mut aggregate = Aggregate::new(0, 20, 40);
        let [mut a, mut b, mut empty] = [0, 1, 2].map(|seq| Packet::data(9, seq, 1000, false));
        aggregate.load(&mut a, Some(&Packet::data(1, 70, 500, false)));
        aggregate.load(&mut b, Some(&Packet::data(2, 80, 40, false)));
        aggregate.load(&mut empty, None);
        assert_eq!([a.size, b.size, empty.size], [520, 60, 60]);
        assert!(a.is_carrier() && a.is_forward());
        assert_eq!(aggregate.inside(), 2);
        let out = aggregate.deliver(&b).expect("a packet");
        assert_eq!((out.flow, out.seq, out.size, out.is_carrier()), (2, 80, 40, false));
        assert!(aggregate.deliver(&empty).is_none());
        assert_eq!(aggregate.lose(&a).map(|packet| packet.seq), Some(70));
        assert_eq!((aggregate.inside(), aggregate.delivered, aggregate.lost), (0, 1, 1));
        aggregate.load(&mut a, Some(&Packet::data(3, 90, 500, false)));
        assert_eq!((aggregate.cargo.len(), aggregate.inside()), (2, 1)); // the place is used again
    }
}
