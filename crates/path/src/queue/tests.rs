//! Packets are conserved, and no more wait than fit.

use super::*;
use crate::packet::parcel::Parcel;
use knee_laws::codecs::Codec;
use knee_laws::laws::{Laws, RouterEntry};
use knee_laws::quantities::Span;
use knee_laws::router::LinkView;
use proptest::prelude::*;

const MBPS: f64 = 8.0; // a byte a microsecond

/// Counts what it is told.
#[derive(Default)]
struct Told {
    dropped: u64,
    marked: u64,
}

impl Watch for Told {
    fn hold(&mut self, _: Time, _: usize, _: u64) {}
    fn dropped(&mut self, _: Time) {
        self.dropped += 1;
    }
    fn marked(&mut self, _: Time) {
        self.marked += 1;
    }
}

/// A link with a queue, which counts arrivals and departures.
struct Server {
    queue: Queue<Parcel, Told>,
    buffer: Buffer,
    free_at: Time,
    now: Time,
    offered: Count,
    departed: Count,
}

impl Server {
    fn new(law: &RouterEntry, buffer: Buffer) -> Self {
        let rate = BitRate::from_mbps(MBPS);
        let link = LinkView { rate, delay_s: 0.01, buffer: buffer.room(1000), packet_bytes: 1000 };
        let hop = Hop {
            law: law.build(&[], &link).expect("its defaults"),
            needs: law.info.needs,
            buffer,
            draw: Stream::new(1, "test"),
        };
        let (queue, zero) = (Queue::new(hop, Told::default()), Count::default());
        let (free_at, now) = (Time::ZERO, Time::ZERO);
        Self { queue, buffer, free_at, now, offered: zero, departed: zero }
    }

    /// Transmits packets and calls the law's ticks until `until`.
    fn serve(&mut self, until: Time) {
        loop {
            let tick = self.queue.tick_at().filter(|at| *at <= until);
            let due = !self.queue.is_empty()
                && self.queue.pays_for_departures()
                && self.free_at <= tick.unwrap_or(until);
            if due {
                self.transmit();
            } else if let Some(at) = tick {
                self.queue.tick(at);
            } else {
                break;
            }
        }
        self.now = until;
        self.queue.advance(until);
    }

    /// Transmits the next packet that the law does not drop.
    fn transmit(&mut self) {
        let now = self.free_at;
        while let Some(from) = self.queue.select() {
            let Some(mut packet) = self.queue.pop(from, now) else { break };
            let came = packet.queued_at;
            if self.queue.depart(&mut packet, from, came, now) {
                return self.launch(&packet, now);
            }
        }
    }

    fn launch(&mut self, packet: &Parcel, start: Time) {
        self.departed.add(packet.size);
        self.free_at = start + Span::from_micros(u64::from(packet.size));
    }

    /// A packet arrives.
    fn offer(&mut self, mut packet: Parcel) {
        let now = self.now;
        self.offered.add(packet.size);
        let flow = packet.header[3];
        let Some(join) = self.queue.admit(&mut packet, (now, self.free_at), flow) else {
            return;
        };
        let start = self.free_at.max(now);
        if !self.queue.pays_for_departures() {
            self.queue.expect(&packet, start, now);
            return self.launch(&packet, start);
        }
        if start > now || !self.queue.is_empty() {
            self.queue.push(&packet, join, now);
            while self.queue.evict(now).is_some() {}
        } else if self.queue.depart(&mut packet, join, now, now) {
            self.launch(&packet, now);
        }
    }

    /// Asserts that packets and bytes that came have left, were dropped, or wait, and that no more wait than fit.
    fn check(&self, law: &str) {
        self.queue.audit();
        let Tally { offered, dropped, .. } = *self.queue.tally();
        assert_eq!((offered, dropped.packets), (self.offered, self.queue.watch.dropped), "{law}");
        if self.queue.pays_for_departures() {
            let left = self.departed.packets + dropped.packets + self.queue.packets() as u64;
            assert_eq!(left, offered.packets, "{law}");
            let left = self.departed.bytes + dropped.bytes + self.queue.bytes();
            assert_eq!(left, offered.bytes, "{law}");
        } else {
            // Known departures are counted when they become known.
            assert_eq!(self.departed.packets + dropped.packets, offered.packets, "{law}");
            assert_eq!(self.departed.bytes + dropped.bytes, offered.bytes, "{law}");
        }
        assert!(self.queue.watch.marked <= offered.packets, "{law}");
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        assert!(self.buffer.fits(packets, bytes), "{law}: {packets} packets, {bytes} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// For every law and any arrivals.
    #[test]
    fn nothing_is_lost_and_nothing_is_made(
        arrivals in prop::collection::vec((0u64..3000, any::<bool>(), 0usize..10, 0u32..5), 1..300),
        room in 1u64..30,
        in_bytes in any::<bool>(),
    ) {
        let buffer = if in_bytes { Buffer::Bytes(1000 * room) } else { Buffer::Packets(room) };
        for law in &Laws::shipped().routers {
            let mut server = Server::new(law, buffer);
            for (gap, is_data, codec, flow) in &arrivals {
                server.serve(server.now + Span::from_micros(*gap));
                server.offer(Parcel {
                    size: if *is_data { 1000 } else { 40 },
                    marks: Codec::ALL[*codec].initial(),
                    header: [0, 0, 0, *flow],
                    ..Parcel::default()
                });
                server.check(&law.info.name);
            }
            server.serve(server.now + Span::from_secs(10));
            server.check(&law.info.name);
            assert!(server.queue.is_empty(), "{} leaves packets behind", law.info.name);
        }
    }
}

/// DropTail holds what fits, and no packet more.
#[test]
fn a_full_buffer_drops_what_comes() {
    let law = Laws::shipped().router("droptail").expect("a law");
    for (buffer, waiting) in [(Buffer::Packets(3), 3), (Buffer::Bytes(3999), 3)] {
        let mut server = Server::new(law, buffer);
        for _ in 0..10 {
            server.offer(Parcel { size: 1000, ..Parcel::default() });
        }
        // One is in service at once.
        assert_eq!((server.queue.packets(), server.queue.watch.dropped), (waiting, 6));
    }
}
