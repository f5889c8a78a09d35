//! A channel that several queues share: IEEE 802.11's distributed coordination function (DCF).
//!
//! All stations hear each other. A station with a packet waits until the channel has been idle for DIFS and its backoff
//! is over. Backoffs stop while the channel is occupied ([`Contention`]). Stations whose backoffs end in the same slot
//! collide. A transmission without an ACK is repeated after a backoff from a window twice as wide, up to a limit. After
//! each transmission, also the last, a station draws a backoff. After a frame that could not be read, the channel rests
//! for EIFS.
//!
//! An exchange has two events, its beginning and its end. What it delivers is known at its beginning.

pub mod contention;
pub mod station;

use crate::config::MediumConfig;
use crate::report::MediumReport;
use contention::Contention;
use knee_laws::quantities::{Span, Time};
use knee_path::Phy;

/// The state of a channel.
pub struct Medium {
    pub phy: Phy,
    pub contention: Contention,
    /// When its next event is due. Events at other instants are out of date.
    pub due: Time,
    /// Stations that transmit now.
    pub winners: Vec<u32>,
    /// When slots are counted again after this transmission.
    pub rests_until: Time,
    pub times: Times,
    base: Times,
}

/// How long a channel was occupied, and with what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Exchanges that delivered something.
    pub success: Span,
    /// Collisions.
    pub collision: Span,
    /// Transmissions of which no packet could be read.
    pub error: Span,
}

impl Medium {
    /// An idle channel.
    pub fn new(config: &MediumConfig) -> Self {
        Self {
            phy: config.phy.clone(),
            contention: Contention::new(config.phy.slot),
            due: Time::NEVER,
            winners: Vec::new(),
            rests_until: Time::ZERO,
            times: Times::default(),
            base: Times::default(),
        }
    }

    /// Statistics begin.
    pub fn warm(&mut self) {
        self.base = self.times;
    }

    /// The numbers over this span.
    pub fn report(&self, over: Span) -> MediumReport {
        let part = |now: Span, before: Span| {
            (now.seconds() - before.seconds()) / over.seconds().max(1e-12)
        };
        let success = part(self.times.success, self.base.success);
        let collision = part(self.times.collision, self.base.collision);
        let error = part(self.times.error, self.base.error);
        MediumReport { success, collision, error, idle: 1.0 - success - collision - error }
    }
}
