//! Conservation of packets, checked by debug builds at every stop. What a queue was offered has departed, was dropped
//! or waits. What a flow has sent has arrived, was dropped, or is under way.

use super::Simulation;
use crate::packet::Packet;

impl Simulation {
    /// Panics if packets or bytes do not add up.
    pub(super) fn audit(&self) {
        let mut under_way = vec![(0, 0); self.flows.len()];
        let inside = self.aggregates.iter().flat_map(|aggregate| aggregate.cargo());
        let mut count = |packet: &Packet| {
            let (data, acks) = &mut under_way[packet.flow as usize];
            *(if packet.is_forward() { data } else { acks }) += 1;
        };
        inside.for_each(&mut count);
        for station in &self.stations {
            // Packets that the current transmission delivers are on the line already.
            let is_sent = |place: usize| station.delivered.get(place).copied().unwrap_or(false);
            let held = station.burst.iter().enumerate().filter(|(place, _)| !is_sent(*place));
            held.for_each(|(_, (packet, _))| count(packet));
        }
        for link in &self.links {
            link.audit();
            link.packets().for_each(&mut count);
        }
        for (slot, (data, acks)) in under_way.into_iter().enumerate() {
            let (flow, receiver) = (&self.flows[slot], &self.receivers[slot]);
            assert_eq!(
                flow.sent,
                receiver.received + flow.dropped + data,
                "packets that flow {} sent, against those received, dropped and under way",
                flow.number
            );
            assert_eq!(
                receiver.acks,
                flow.acks_received + flow.acks_dropped + acks,
                "ACKs to flow {}, against those received, dropped and under way",
                flow.number
            );
        }
    }
}
