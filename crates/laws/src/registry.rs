//! The list of shipped laws. A new law is one file and one line in [`senders!`] or [`routers!`] below.
//!
//! Each line makes the enum variant, the entry in [`Laws`](crate::laws::Laws), and the name for the CLI and Python. The
//! tests of all laws then include the new one.

use crate::codecs::{Header, Wire};
use crate::params::{ParamError, Refusal, Value, fill};
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, Eviction, LinkView, QueueView, RouterInfo, RouterLaw, RouterSpec,
    Verdict, Waiting,
};
use crate::sender::{Ack, Loss, Opening, SenderInfo, SenderLaw, SenderSpec, Sending};
use crate::{routers, senders};

/// A shipped sender law: what there is to know of it, the hash of its sources, and how it starts a flow.
pub(crate) type ShippedSender =
    (SenderInfo, String, fn(&[(String, Value)], &Opening) -> Result<Sender, Refusal>);

/// A shipped router law: likewise, how it sets up a link, and whether it marks packets of RFC 3168's ECN besides those
/// of its codec.
pub(crate) type ShippedRouter = (
    RouterInfo,
    String,
    fn(&[(String, Value)], &LinkView) -> Result<Router, Refusal>,
    fn(&[(String, Value)]) -> bool,
);

macro_rules! senders {
    ($($Variant:ident = $path:path;)*) => {
        /// Every sender law, dispatched without a table lookup.
        #[allow(missing_docs)]
        pub enum Sender { $($Variant(<$path as SenderSpec>::Law),)* /** A law from outside the tree. */ Custom(Box<dyn SenderLaw + Send>) }

        impl SenderLaw for Sender {
            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                match self { $(Self::$Variant(law) => law.on_ack(ack),)* Self::Custom(law) => law.on_ack(ack) }
            }
            fn on_loss(&mut self, loss: &Loss) {
                match self { $(Self::$Variant(law) => law.on_loss(loss),)* Self::Custom(law) => law.on_loss(loss) }
            }
            fn on_timeout(&mut self, loss: &Loss) {
                match self { $(Self::$Variant(law) => law.on_timeout(loss),)* Self::Custom(law) => law.on_timeout(loss) }
            }
            #[inline]
            fn window(&self) -> f64 {
                match self { $(Self::$Variant(law) => law.window(),)* Self::Custom(law) => law.window() }
            }
            #[inline]
            fn pacing_rate(&self) -> Option<BitRate> {
                match self { $(Self::$Variant(law) => law.pacing_rate(),)* Self::Custom(law) => law.pacing_rate() }
            }
            fn wants_rate(&self) -> bool {
                match self { $(Self::$Variant(law) => law.wants_rate(),)* Self::Custom(law) => law.wants_rate() }
            }
            #[inline]
            fn wake_at(&self) -> Option<Time> {
                match self { $(Self::$Variant(law) => law.wake_at(),)* Self::Custom(law) => law.wake_at() }
            }
            fn on_wake(&mut self, now: Time) {
                match self { $(Self::$Variant(law) => law.on_wake(now),)* Self::Custom(law) => law.on_wake(now) }
            }
            #[inline]
            fn ssthresh(&self) -> Option<f64> {
                match self { $(Self::$Variant(law) => law.ssthresh(),)* Self::Custom(law) => law.ssthresh() }
            }
            fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                match self { $(Self::$Variant(law) => law.tune(name, value),)* Self::Custom(law) => law.tune(name, value) }
            }
            #[inline]
            fn failure(&self) -> Option<&str> {
                match self { Self::Custom(law) => law.failure(), _ => None }
            }
            #[inline]
            fn header(&self, sending: &Sending) -> Header {
                match self { $(Self::$Variant(law) => law.header(sending),)* Self::Custom(law) => law.header(sending) }
            }
            fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
                match self { $(Self::$Variant(law) => law.observe(show),)* Self::Custom(law) => law.observe(show) }
            }
        }

        /// All of them.
        pub(crate) fn shipped_senders() -> Vec<ShippedSender> {
            vec![$((
                <$path as SenderSpec>::info(),
                fingerprint(stringify!($path)),
                |params, opening| Ok(Sender::$Variant(<$path as SenderSpec>::new(fill(params)?, opening))),
            ),)*]
        }
    };
}

macro_rules! routers {
    ($($Variant:ident = $path:path;)*) => {
        /// Every router law, dispatched without a table lookup.
        #[allow(missing_docs)]
        pub enum Router { $($Variant(<$path as RouterSpec>::Law),)* /** A law from outside the tree. */ Custom(Box<dyn RouterLaw + Send>) }

        impl RouterLaw for Router {
            #[inline]
            fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, draw: &mut dyn Draw) -> Verdict {
                match self {
                    $(Self::$Variant(law) => law.on_arrival(arrival, wire, draw),)*
                    Self::Custom(law) => law.on_arrival(arrival, wire, draw),
                }
            }
            #[inline(always)]
            fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
                match self {
                    $(Self::$Variant(law) => law.on_departure(departure, wire),)*
                    Self::Custom(law) => law.on_departure(departure, wire),
                }
            }
            fn on_overflow(&mut self, arrival: &Arrival, wire: &Wire<'_>) {
                match self {
                    $(Self::$Variant(law) => law.on_overflow(arrival, wire),)*
                    Self::Custom(law) => law.on_overflow(arrival, wire),
                }
            }
            fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                match self { $(Self::$Variant(law) => law.tune(name, value),)* Self::Custom(law) => law.tune(name, value) }
            }
            #[inline]
            fn failure(&self) -> Option<&str> {
                match self { Self::Custom(law) => law.failure(), _ => None }
            }
            fn tick_at(&self) -> Option<Time> {
                match self { $(Self::$Variant(law) => law.tick_at(),)* Self::Custom(law) => law.tick_at() }
            }
            fn on_tick(&mut self, queue: &QueueView) {
                match self { $(Self::$Variant(law) => law.on_tick(queue),)* Self::Custom(law) => law.on_tick(queue) }
            }
            fn on_tick_queues(&mut self, all: &QueueView, waits: &[Span]) {
                match self {
                    $(Self::$Variant(law) => law.on_tick_queues(all, waits),)*
                    Self::Custom(law) => law.on_tick_queues(all, waits),
                }
            }
            #[inline]
            fn classify(&mut self, arrival: &Arrival, wire: &Wire<'_>) -> usize {
                match self {
                    $(Self::$Variant(law) => law.classify(arrival, wire),)*
                    Self::Custom(law) => law.classify(arrival, wire),
                }
            }
            #[inline(always)]
            fn select(&mut self, queues: &[Waiting]) -> Option<usize> {
                match self { $(Self::$Variant(law) => law.select(queues),)* Self::Custom(law) => law.select(queues) }
            }
            fn evict(&mut self, queues: &[Waiting]) -> Option<Eviction> {
                match self { $(Self::$Variant(law) => law.evict(queues),)* Self::Custom(law) => law.evict(queues) }
            }
            fn on_rate(&mut self, rate: BitRate) {
                match self { $(Self::$Variant(law) => law.on_rate(rate),)* Self::Custom(law) => law.on_rate(rate) }
            }
            fn signal(&self) -> f64 {
                match self { $(Self::$Variant(law) => law.signal(),)* Self::Custom(law) => law.signal() }
            }
        }

        /// All of them.
        pub(crate) fn shipped_routers() -> Vec<ShippedRouter> {
            vec![$((
                <$path as RouterSpec>::info(),
                fingerprint(stringify!($path)),
                |params, link| Ok(Router::$Variant(<$path as RouterSpec>::new(fill(params)?, link))),
                |params| fill(params).is_ok_and(|params| <$path as RouterSpec>::marks_ecn(&params)),
            ),)*]
        }
    };
}

/// The hash of the sources of the law at this path, `senders::vcp::Vcp` say.
fn fingerprint(path: &str) -> String {
    let module = path.rsplit_once("::").map_or(path, |(module, _)| module);
    let known = SOURCES.iter().find(|(of, _)| *of == module);
    known.map(|(_, hash)| (*hash).to_owned()).unwrap_or_default()
}

// Hashes of the laws' sources by module, from build.rs.
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

senders! {
    Reno = senders::reno::Reno;
    NewReno = senders::newreno::NewReno;
    Sack = senders::sack::Sack;
    Cubic = senders::cubic::Cubic;
    HsTcp = senders::hstcp::HsTcp;
    Scalable = senders::scalable::Scalable;
    HTcp = senders::htcp::HTcp;
    Bic = senders::bic::Bic;
    Vegas = senders::vegas::Vegas;
    Westwood = senders::westwood::Westwood;
    Fast = senders::fast::Fast;
    Vcp = senders::vcp::Vcp;
    VcpE2e = senders::vcp_e2e::VcpE2e;
    Xcp = senders::xcp::Xcp;
    Rcp = senders::rcp::Rcp;
    QiRcp = senders::rcp::QiRcp;
    PiqiRcp = senders::piqi_rcp::PiqiRcp;
    ScalablePrice = senders::price::marks::ScalablePrice;
    ScalableDelay = senders::price::delay::ScalableDelay;
    Mlcp = senders::mlcp::Mlcp;
    Bmcc = senders::bmcc::Bmcc;
    Dctcp = senders::dctcp::Dctcp;
    Bbr = senders::bbr::v1::Bbr;
    Bbr3 = senders::bbr::v3::Bbr3;
    Prague = senders::prague::Prague;
    Cbr = senders::cbr::Cbr;
}

routers! {
    DropTail = routers::droptail::DropTail;
    Red = routers::red::Red;
    Ared = routers::ared::Ared;
    Rio = routers::rio::Rio;
    Pi = routers::pi::Pi;
    Pie = routers::pie::Pie;
    Rem = routers::rem::Rem;
    Price = routers::price::Price;
    Blue = routers::blue::Blue;
    Avq = routers::avq::Avq;
    Vcp = routers::vcp::Vcp;
    Xcp = routers::xcp::Xcp;
    Rcp = routers::rcp::Rcp;
    QiRcp = routers::qi_rcp::QiRcp;
    PiqiRcp = routers::piqi_rcp::PiqiRcp;
    Mlcp = routers::mlcp::Mlcp;
    Bmcc = routers::bmcc::Bmcc;
    BmccAred = routers::bmcc_ared::BmccAred;
    CoDel = routers::codel::CoDel;
    FqCoDel = routers::fq_codel::FqCoDel;
    DualPi2 = routers::dualpi2::DualPi2;
}
