//! RCP's sender: sends at the least rate of its path's links, which headers bring.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control", II and
//! IV, on N. Dukkipati et al., "Processor Sharing Flows in the Internet", IWQoS 2005. Once for each control
//! interval T of the bottleneck, with R the path's rate:
//!   x = x + tau_1 (R - x) + tau_2 (R - R before)                                                (19)
//! With tau_1 = 1 and tau_2 = 0 it is x = R (2), RCP and QI-RCP; otherwise [PIQI-RCP](super::piqi_rcp).
//! A new flow opens with a handshake, whose answer brings its first R; before, x is 0. Losses do not change x: lost
//! packets are sent again at the rate x (the papers have unlimited buffers). After a timeout the path may not
//! carry x. So the sender begins with one packet, and one more in flight for each that is acknowledged, whatever x
//! is. A flow sends at least a packet an RTT, since it would get no feedback without; the RCP authors' ns-2 code
//! sends probes instead. As there, the RTT in the header is the last sample.

use crate::codecs::rate::{Hops, Request};
use crate::codecs::{Codec, Feedback, Header};
use crate::params::ParamSet;
use crate::quantities::{BitRate, Span};
use crate::sender::{Ack, Loss, Opening, SenderLaw, SenderSpec, Sending};
use crate::{params, tunes};

params! {
    /// The sender's request to routers.
    pub struct Params {
        /// Rate that the sender wants; the default is more than any link gives.
        pub desired_rate: BitRate = BitRate::from_bps(1e15), in 1e3, 1e15;
        /// The hop whose rate the sender follows, counted from 1 among those that write rates: a bottleneck that never
        /// changes, as in Figure 2(b). 0: the least rate of all hops.
        pub bottleneck: u64 = 0, in 0, 254;
    }
}

/// A window that does not limit: only the rate does.
const WINDOW: f64 = 1e9;

/// How a sender answers: (19)'s gains.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// tau_1, gain of the difference to the path's rate.
    pub tau1: f64,
    /// tau_2, gain of the change of the path's rate.
    pub tau2: f64,
}

/// The parameters of a rate sender.
pub trait Answers: ParamSet {
    /// Its request.
    fn request(&self) -> &Params;
    /// Its gains.
    fn gains(&self) -> Gains;
}

impl Answers for Params {
    fn request(&self) -> &Params {
        self
    }
    /// (2): x = R.
    fn gains(&self) -> Gains {
        Gains { tau1: 1.0, tau2: 0.0 }
    }
}

/// (19): the next x, when the path's rate has changed from `path.0` to `path.1`.
pub fn response(x: f64, path: (f64, f64), gains: Gains) -> f64 {
    x + gains.tau1 * (path.1 - x) + gains.tau2 * (path.1 - path.0)
}

/// The state of a rate sender.
#[derive(Clone, Debug)]
pub struct RateSender<P> {
    params: P,
    packet_bytes: f64,
    /// x in bytes a second.
    rate: f64,
    /// The path's rate and interval that were answered last.
    heard: Option<(f64, u32)>,
    /// Does it have a rate?
    open: bool,
    /// The most packets in flight, limited after a timeout only.
    most: f64,
    rtt: Span,
    smoothed_rtt: Span,
}

impl<P: Answers> RateSender<P> {
    /// A flow without a rate.
    pub fn new(params: P, opening: &Opening) -> Self {
        Self {
            params,
            packet_bytes: f64::from(opening.packet_bytes),
            rate: 0.0,
            heard: None,
            open: false,
            most: WINDOW,
            rtt: Span::ZERO,
            smoothed_rtt: Span::ZERO,
        }
    }

    /// x, or a packet an RTT, in bytes a second; `None` before the first ACK.
    fn sending(&self) -> Option<f64> {
        let known = self.open && self.smoothed_rtt > Span::ZERO;
        known.then(|| self.rate.max(self.packet_bytes / self.smoothed_rtt.seconds()))
    }
}

impl<P: Answers> SenderLaw for RateSender<P> {
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        (self.rtt, self.smoothed_rtt) = (ack.rtt, ack.smoothed_rtt);
        let Feedback::Rate { rate, interval } = ack.feedback else { return };
        self.open = true;
        self.most = (self.most + f64::from(ack.newly_acked)).min(WINDOW);
        let before = match self.heard {
            Some((_, answered)) if answered == interval => return,
            Some((before, _)) => before,
            None => rate,
        };
        self.rate = response(self.rate, (before, rate), self.params.gains()).max(0.0);
        self.heard = Some((rate, interval));
    }

    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, _: &Loss) {
        self.open = false;
        self.most = 1.0;
    }

    fn window(&self) -> f64 {
        if self.open { self.most } else { 1.0 }
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.sending().map(|rate| BitRate::from_bps(8.0 * rate))
    }

    fn header(&self, _: &Sending) -> Header {
        let Params { desired_rate, bottleneck } = *self.params.request();
        Request {
            desired: desired_rate.bytes_per_second(),
            rtt_s: self.rtt.seconds(),
            sending: self.sending().unwrap_or(0.0),
            hops: match bottleneck {
                0 => Hops::All,
                place => Hops::Only(place as u8),
            },
        }
        .write()
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("rate_mbps", 8e-6 * self.sending().unwrap_or(0.0));
        show("path_rate_mbps", 8e-6 * self.heard.map_or(0.0, |(rate, _)| rate));
    }
}

/// RCP's sender.
pub struct Rcp;

impl SenderSpec for Rcp {
    type Law = RateSender<Params>;
    type Params = Params;
    const NAME: &'static str = "rcp";
    const TITLE: &'static str = "RCP: sends at the least rate of the path's links";
    const SOURCE: &'static str = "Dukkipati et al., IWQoS 2005; Jain and Loguinov, (2)";
    const CODEC: Codec = Codec::Rate;
    const HANDSHAKE: bool = true;
    const ROUTER: &'static str = "rcp";
    fn new(params: Params, opening: &Opening) -> RateSender<Params> {
        RateSender::new(params, opening)
    }
}

/// QI-RCP's sender, which is RCP's.
pub struct QiRcp;

impl SenderSpec for QiRcp {
    type Law = RateSender<Params>;
    type Params = Params;
    const NAME: &'static str = "qi-rcp";
    const TITLE: &'static str = "QI-RCP: RCP's sender under its own routers";
    const SOURCE: &'static str = "Jain and Loguinov, PIQI-RCP, IV-A";
    const CODEC: Codec = Codec::Rate;
    const HANDSHAKE: bool = true;
    const ROUTER: &'static str = "qi-rcp";
    fn new(params: Params, opening: &Opening) -> RateSender<Params> {
        <Rcp as SenderSpec>::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::rate::{echo, mark, read};
    use crate::quantities::Time;
    use crate::script::{Script, ms};

    const OPENING: Opening = Opening::new(10.0, 1000);

    fn rcp() -> Script<RateSender<Params>> {
        Script::new(<Rcp as SenderSpec>::new(Params::default(), &OPENING))
    }

    fn said(rate: f64, interval: u32) -> Feedback {
        Feedback::Rate { rate, interval }
    }

    fn bps(flow: &Script<RateSender<Params>>) -> f64 {
        flow.law.pacing_rate().map_or(0.0, BitRate::bps)
    }

    #[test]
    fn a_flow_begins_with_one_packet_and_sends_at_the_rate_that_it_learns() {
        let mut flow = rcp();
        flow.expect_window(1.0); // whatever the transport's initial window
        assert_eq!(flow.law.pacing_rate(), None);
        flow.feedback(said(1.25e6, 7)).ack_at(100, ms(100)).expect_window(WINDOW);
        assert!((bps(&flow) - 10e6).abs() < 1e-3);
        flow.feedback(said(2.5e6, 8)).ack_at(110, ms(100));
        assert!((bps(&flow) - 20e6).abs() < 1e-3);
        flow.loss(100);
        assert!((bps(&flow) - 20e6).abs() < 1e-3);
        flow.timeout().expect_window(1.0);
        flow.ack_at(900, ms(100)).expect_window(2.0); // then it doubles each RTT
    }

    #[test]
    fn no_flow_falls_silent() {
        let mut flow = rcp();
        flow.feedback(said(1.0, 7)).ack_at(100, ms(100));
        assert!((bps(&flow) - 80e3).abs() < 1e-3); // 1000 bytes in 100 ms
    }

    #[test]
    fn headers_say_rtt_and_rate_and_whom_to_heed() {
        let params = Params { bottleneck: 2, ..Params::default() };
        let mut flow = Script::new(<Rcp as SenderSpec>::new(params, &OPENING));
        flow.feedback(said(1.25e6, 7)).ack_at(100, ms(100));
        let sending =
            Sending { now: Time::ZERO, smoothed_rtt: ms(100), packet_bytes: 1000, identifier: 0 };
        let mut header = flow.law.header(&sending);
        assert_eq!(crate::codecs::rate::sending(&header), Some(1.25e6));
        for rate in [5e5, 6e5, 4e5] {
            mark(&mut header, rate, 0);
        }
        assert_eq!(read(echo(&header)), Some((6e5, 1)));
    }
}
