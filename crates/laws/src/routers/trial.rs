//! Trials of router laws on a link of 1 MB/s with packets of 1000 bytes and a buffer for a hundred.

use crate::codecs::{Codec, Wire};
use crate::quantities::{BitRate, Bytes, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, Verdict};
use crate::script::Random;

/// The link.
pub fn link() -> LinkView {
    LinkView {
        rate: BitRate::from_mbps(8.0),
        delay_s: 0.02,
        buffer: Bytes(100_000),
        packet_bytes: 1000,
    }
}

/// The queue at `ms` milliseconds.
pub fn queue(ms: u64, packets: u64) -> QueueView {
    QueueView { now: Time::from_ps(ms * 1_000_000_000), packets, bytes: 1000 * packets }
}

/// Random numbers for decisions that must not draw any.
pub struct NoDraw;
impl Draw for NoDraw {
    fn uniform(&mut self) -> f64 {
        unreachable!("chance does not decide here")
    }
}

/// Random numbers that are always this.
pub struct Drawn(pub f64);
impl Draw for Drawn {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

/// Offers a packet of 1000 bytes.
pub fn offer(
    law: &mut impl RouterLaw,
    queue: QueueView,
    codec: Codec,
    draw: &mut dyn Draw,
) -> Verdict {
    present(law, Arrival { queue, idle_since: None, flow: 0, size: 1000, data: true }, codec, draw)
}

/// Offers this packet.
pub fn present(
    law: &mut impl RouterLaw,
    arrival: Arrival,
    codec: Codec,
    draw: &mut dyn Draw,
) -> Verdict {
    let (mut marks, mut header) = (codec.initial(), [0; 4]);
    law.on_arrival(&arrival, &mut Wire { marks: &mut marks, header: &mut header }, draw)
}

/// Calls every tick up to this queue's instant.
pub fn tick_until(law: &mut impl RouterLaw, queue: QueueView) {
    while let Some(now) = law.tick_at().filter(|at| *at <= queue.now) {
        law.on_tick(&QueueView { now, ..queue });
    }
}

/// Offers 10,000 packets that can be marked. Asserts that the share of marked ones is `p` within four standard errors.
#[track_caller]
pub fn expect_marked(law: &mut impl RouterLaw, queue: QueueView, p: f64) {
    const N: u32 = 10_000;
    let mut random = Random(1);
    let marked = (0..N).filter(|_| offer(law, queue, Codec::Ecn, &mut random) == Verdict::Mark);
    let share = marked.count() as f64 / f64::from(N);
    let error = libm::sqrt(p * (1.0 - p) / f64::from(N));
    assert!((share - p).abs() < 4.0 * error, "{share}, not {p}");
}
