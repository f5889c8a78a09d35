//! Packets at a hop, and the feedback that they bring to a sender.

use arbitrary::{Arbitrary, Result, Unstructured};
use knee_laws::codecs::{Codec, Header, Marks, Reader, Wire};
use knee_laws::laws::{Laws, SenderEntry};
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::router::LinkView;
use knee_laws::sender::{Ack, Opening, SenderLaw, Sending};
use knee_path::{Buffer, Hop, Packet, Queue, Stream};

/// A packet with any bits, as another implementation may write it.
#[derive(Clone, Copy)]
struct Foreign {
    size: u32,
    marks: Marks,
    header: Header,
    came: Time,
}

impl<'a> Arbitrary<'a> for Foreign {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let codec = *input.choose(Codec::ALL)?;
        let marks = Marks::new(codec, input.arbitrary()?);
        let marks = if input.arbitrary()? { marks.in_profile() } else { marks };
        let size = u32::from(input.int_in_range(1..=u16::MAX)?);
        Ok(Self { size, marks, header: input.arbitrary()?, came: Time::ZERO })
    }
}

impl Packet for Foreign {
    fn size(&self) -> u32 {
        self.size
    }
    fn is_data(&self) -> bool {
        self.size > 100
    }
    fn wire(&mut self) -> Wire<'_> {
        Wire { marks: &mut self.marks, header: &mut self.header }
    }
    fn queued_at(&self) -> Time {
        self.came
    }
    fn set_queued_at(&mut self, now: Time) {
        self.came = now;
    }
}

/// A flow's ends: the receiver echoes feedback, and the law is told of it.
struct Ends {
    law: Sender,
    codec: Codec,
    reader: Reader,
}

impl Ends {
    fn new(entry: &SenderEntry) -> Self {
        let law = entry.build(&[], &Opening::new(10.0, 1000)).expect("its defaults");
        Self { law, codec: entry.info.codec, reader: Reader::default() }
    }

    /// A packet of the flow has arrived and is acknowledged.
    fn take(&mut self, packet: &Foreign, now: Time) {
        if packet.marks.codec() != self.codec {
            return;
        }
        self.reader.take(packet.marks, &packet.header, packet.size.is_multiple_of(2));
        let echo = self.reader.echo(packet.marks, &packet.header);
        let feedback = self.codec.read(echo.bits, echo.words);
        let rtt = now.since(packet.came) + Span::from_millis(1);
        self.law.on_ack(&Ack { feedback, ..Ack::new(now, 1, 1, rtt) });
        let window = self.law.window();
        assert!(window.is_finite() && window >= 1.0, "a window of {window} after {feedback:?}");
        let sending = Sending { now, smoothed_rtt: rtt, packet_bytes: 1000, identifier: 7 };
        let header = self.law.header(&sending).map(f32::from_bits);
        assert!(header.iter().all(|word| word.is_finite()), "{header:?} after {feedback:?}");
        let rate = self.law.pacing_rate().map_or(1.0, BitRate::bps);
        assert!(rate.is_finite() && rate > 0.0, "a rate of {rate} after {feedback:?}");
    }
}

/// Packets with any bits and words pass a router with any law on their way to a sender with any law. Every packet is
/// counted, and laws answer with finite numbers.
pub fn packets(input: &[u8]) {
    let _ = pass(&mut Unstructured::new(input));
}

fn pass(input: &mut Unstructured) -> Result<()> {
    let laws = Laws::shipped();
    let router = input.choose(&laws.routers)?;
    let mut ends = Ends::new(input.choose(&laws.senders)?);
    let room = u64::from(input.arbitrary::<u16>()?);
    let buffer = if input.arbitrary()? { Buffer::Bytes(room) } else { Buffer::Packets(room) };
    let rate = BitRate::from_mbps(8.0); // a byte a microsecond
    let link = LinkView { rate, delay_s: 0.01, buffer: buffer.room(1000), packet_bytes: 1000 };
    let law = router.build(&[], &link).expect("its defaults");
    let (needs, draw) = (router.info.needs, Stream::new(1, "fuzz"));
    let mut queue = Queue::<Foreign>::held(Hop { law, needs, buffer, draw }, ());
    let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
    while !input.is_empty() {
        now += Span::from_micros(u64::from(input.arbitrary::<u16>()?));
        loop {
            let tick = queue.tick_at().filter(|at| *at <= now);
            if !queue.is_empty() && free_at <= tick.unwrap_or(now) {
                let from = queue.select().expect("a law serves somebody while packets wait");
                let mut packet = queue.pop(from, free_at).expect("a queue that it serves");
                let came = packet.came;
                if queue.depart(&mut packet, from, came, free_at) {
                    free_at += Span::from_micros(u64::from(packet.size));
                    ends.take(&packet, free_at);
                }
            } else if let Some(at) = tick {
                queue.tick(at);
            } else {
                break;
            }
        }
        let mut packet = Foreign::arbitrary(input)?;
        if let Some(join) = queue.admit(&mut packet, (now, free_at), input.arbitrary()?) {
            free_at = free_at.max(now);
            queue.push(&packet, join, now);
            while queue.evict(now).is_some() {}
        }
        queue.audit();
        assert!(queue.signal().is_finite(), "{}: a signal of {}", router.info.name, queue.signal());
    }
    Ok(())
}
