//! Scripts for tests of sender laws: ACKs, losses and timeouts in, windows out. Random numbers for tests of routers.

use crate::codecs::Feedback;
use crate::quantities::{Span, Time};
use crate::sender::{Ack, Congestion, Loss, SenderLaw};

/// A law under a script.
pub struct Script<L> {
    /// The law.
    pub law: L,
    now: Time,
    feedback: Feedback,
    in_flight: u32,
    app_limited: bool,
}

/// A span in milliseconds.
pub fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

impl<L: SenderLaw> Script<L> {
    /// A script that starts at time zero, without feedback.
    pub fn new(law: L) -> Self {
        let in_flight = law.window() as u32;
        Self { law, now: Time::ZERO, feedback: Feedback::None, in_flight, app_limited: false }
    }

    /// Sets the feedback of the following ACKs.
    pub fn feedback(&mut self, feedback: Feedback) -> &mut Self {
        self.feedback = feedback;
        self
    }

    /// Sets whether less is sent than the window allows from now on.
    pub fn app_limited(&mut self, is: bool) -> &mut Self {
        self.app_limited = is;
        self
    }

    /// One ACK, `at` milliseconds after the start.
    pub fn ack_at(&mut self, at: u64, rtt: Span) -> &mut Self {
        self.now = Time::ZERO + ms(at);
        let (feedback, app_limited) = (self.feedback, self.app_limited);
        let ack = Ack::new(self.now, 1, self.in_flight, rtt);
        self.law.on_ack(&Ack { feedback, app_limited, ..ack });
        self.in_flight = self.law.window() as u32;
        self
    }

    /// `n` ACKs at one instant, an RTT after the last.
    pub fn acks(&mut self, rtt: Span, n: u32) -> &mut Self {
        let at = (self.now + rtt).ps() / 1_000_000_000;
        for _ in 0..n {
            self.ack_at(at, rtt);
        }
        self
    }

    /// A loss with this many packets in flight.
    pub fn loss(&mut self, in_flight: u32) -> &mut Self {
        self.law.on_loss(&Loss { now: self.now, in_flight, by: Congestion::Loss });
        self
    }

    /// The retransmission timer fires.
    pub fn timeout(&mut self) -> &mut Self {
        let in_flight = self.in_flight;
        self.law.on_timeout(&Loss { now: self.now, in_flight, by: Congestion::Timeout });
        self
    }

    /// Asserts that the window is this, except for rounding.
    #[track_caller]
    pub fn expect_window(&mut self, packets: f64) -> &mut Self {
        let window = self.law.window();
        assert!((window - packets).abs() < 1e-9 * packets.max(1.0), "{window} not {packets}");
        self
    }
}

/// Random numbers for tests of routers: splitmix64.
pub struct Random(pub u64);

impl crate::router::Draw for Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
