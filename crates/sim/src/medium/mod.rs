//! A channel that several queues share: IEEE 802.11's distributed coordination function (DCF).
//!
//! Stations hear each other. Who has something to send waits until the channel has been idle for DIFS and its backoff
//! is over; backoffs stand still while the channel is occupied ([`Contention`]). Several whose backoff ends in the same
//! slot collide. A transmission that nobody acknowledges is repeated after a backoff from a window twice as wide, up to
//! a limit; after each transmission, also the last, a station draws a backoff. After a frame that nobody could read the
//! channel rests for EIFS.
//!
//! An exchange is two events: it begins, and it ends. What it delivers is known when it begins.

pub mod contention;
pub mod phy;
pub mod station;

use crate::config::MediumConfig;
use crate::report::MediumReport;
use contention::Contention;
use knee_laws::quantities::{Span, Time};
use phy::Phy;

/// A channel in motion.
pub struct Medium {
    pub phy: Phy,
    pub contention: Contention,
    /// When its next event is; others are out of date.
    pub due: Time,
    /// Who transmits, if anybody does.
    pub winners: Vec<u32>,
    /// From when slots are counted again once the transmission is over.
    pub rests_until: Time,
    pub times: Times,
    base: Times,
}

/// What a channel was occupied with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Exchanges that delivered something.
    pub success: Span,
    /// Collisions.
    pub collision: Span,
    /// Transmissions of which nothing could be read.
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
