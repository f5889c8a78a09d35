//! Constant bit rate: packets leave at one rate, whatever happens to them. It models UDP traffic, such as real-time media,
//! and load that does not respond.
//!
//! Its window does not limit it, but the receiver's does (`max_window`). The transport resends lost packets at the same
//! rate.

use crate::codecs::Codec;
use crate::quantities::BitRate;
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// Constant bit rate.
    pub struct Params {
        /// Rate on the wire.
        pub rate: BitRate = BitRate::from_mbps(1.0), in 1.0, 1e14;
    }
}

/// A window that does not limit.
const WINDOW: f64 = 1e9;

/// A flow of constant rate.
#[derive(Clone, Debug)]
pub struct Cbr {
    params: Params,
}

impl SenderSpec for Cbr {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "cbr";
    const TITLE: &'static str = "Constant bit rate, as UDP traffic has";
    const SOURCE: &'static str = "no control; for load that does not respond";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, _: &Opening) -> Self {
        Self { params }
    }
}

impl SenderLaw for Cbr {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}

    fn window(&self) -> f64 {
        WINDOW
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }

    tunes! {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Time;
    use crate::script::ms;
    use crate::sender::Congestion;

    #[test]
    fn nothing_changes_its_rate() {
        let mut law = Cbr::new(Params::default(), &Opening::new(2.0, 1000));
        law.on_timeout(&Loss { now: Time::ZERO + ms(1), in_flight: 9, by: Congestion::Timeout });
        assert_eq!(law.pacing_rate(), Some(BitRate::from_mbps(1.0)));
    }
}
