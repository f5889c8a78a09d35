//! The list of laws. A new law is one file and one line in [`senders!`] or [`routers!`] below.
//!
//! Each line makes the enum variant, the registry entry, the CLI and Python name, and enters the law
//! into the all-laws tests.

use crate::codecs::{Codec, Header, Wire};
use crate::params::{ParamError, ParamInfo, ParamSet, Value};
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, Eviction, LinkView, QueueView, RouterLaw, Verdict, Waiting,
};
use crate::sender::{Ack, Loss, Opening, Recovery, SenderLaw, Sending};
use crate::senders::slow_start::SlowStart;
use crate::{routers, senders};

/// A sender law as the registry knows it. Codec, recovery and router default to those of a TCP of today.
pub trait SenderSpec {
    /// The law itself; TCPs that differ in loss recovery only share one.
    type Law: SenderLaw;
    /// Its parameters.
    type Params: ParamSet;
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is, in a line.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// The feedback that it reads. `Ecn` is optional for a sender, the others are required.
    const CODEC: Codec = Codec::Ecn;
    /// How its transport repairs losses unless a scenario says otherwise.
    const RECOVERY: Recovery = Recovery::Sack;
    /// Do its flows open with a handshake unless a scenario says otherwise?
    const HANDSHAKE: bool = false;
    /// The router law that it is made for.
    const ROUTER: &'static str = "droptail";
    /// Starts a flow.
    fn new(params: Self::Params, opening: &Opening) -> Self::Law;
}

/// A router law as the registry knows it. By default it marks with ECN and acts on arrivals alone.
pub trait RouterSpec {
    /// The law itself.
    type Law: RouterLaw;
    /// Its parameters.
    type Params: ParamSet;
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is, in a line.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// The feedback that it writes.
    const CODEC: Codec = Codec::Ecn;
    /// Does it act on departures? Such links pay an event a packet.
    const ON_DEPARTURE: bool = false;
    /// How many queues share the link's buffer. Links with several pay an event a packet.
    const QUEUES: usize = 1;
    /// Does it, with these parameters, mark packets of RFC 3168's ECN besides those of its codec?
    fn marks_ecn(_params: &Self::Params) -> bool {
        false
    }
    /// Sets up a link.
    fn new(params: Self::Params, link: &LinkView) -> Self::Law;
}

/// A sender law's entry.
#[derive(Clone, Debug)]
pub struct SenderInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// The feedback that it reads.
    pub codec: Codec,
    /// How its transport repairs losses by default.
    pub recovery: Recovery,
    /// Do its flows open with a handshake by default?
    pub handshake: bool,
    /// The router law that it is made for.
    pub router: &'static str,
    /// Has it the slow start that a transport's `slow_start` changes?
    pub slow_start: bool,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}

/// A router law's entry.
#[derive(Clone, Debug)]
pub struct RouterInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// The feedback that it writes.
    pub codec: Codec,
    /// Does it act on departures?
    pub on_departure: bool,
    /// How many queues share the link's buffer.
    pub queues: usize,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}

/// The first parameter that a law refuses, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The parameter's name.
    pub name: String,
    /// Why it was refused.
    pub error: ParamError,
}

/// Fills a law's parameters from named values.
pub(crate) fn fill<P: ParamSet>(values: &[(String, Value)]) -> Result<P, Refusal> {
    let mut params = P::default();
    for (name, value) in values {
        params.set(name, *value).map_err(|error| Refusal { name: name.clone(), error })?;
    }
    Ok(params)
}

pub(crate) fn unknown(name: &str) -> Refusal {
    Refusal { name: name.to_owned(), error: ParamError::UnknownLaw }
}

/// An opening like any other, to ask laws about themselves.
const ANY: Opening = Opening { initial_window: 1.0, packet_bytes: 1000 };

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
            fn slow_start(&mut self) -> Option<&mut SlowStart> {
                match self { $(Self::$Variant(law) => law.slow_start(),)* Self::Custom(law) => law.slow_start() }
            }
            #[inline]
            fn header(&self, sending: &Sending) -> Header {
                match self { $(Self::$Variant(law) => law.header(sending),)* Self::Custom(law) => law.header(sending) }
            }
            fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$Variant(law) => law.observe(show),)* Self::Custom(law) => law.observe(show) }
            }
        }

        impl Sender {
            /// Starts the named law with these parameters.
            pub fn build(name: &str, params: &[(String, Value)], opening: &Opening) -> Result<Self, Refusal> {
                $(if name == <$path as SenderSpec>::NAME {
                    return Ok(Self::$Variant(<$path as SenderSpec>::new(fill(params)?, opening)));
                })*
                Err(unknown(name))
            }
        }

        /// Every sender law's entry.
        pub fn sender_laws() -> Vec<SenderInfo> {
            vec![$(SenderInfo {
                name: <$path as SenderSpec>::NAME,
                title: <$path as SenderSpec>::TITLE,
                source: <$path as SenderSpec>::SOURCE,
                codec: <$path as SenderSpec>::CODEC,
                recovery: <$path as SenderSpec>::RECOVERY,
                handshake: <$path as SenderSpec>::HANDSHAKE,
                router: <$path as SenderSpec>::ROUTER,
                slow_start: <$path as SenderSpec>::new(Default::default(), &ANY).slow_start().is_some(),
                params: <<$path as SenderSpec>::Params as ParamSet>::infos(),
            },)*]
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

        impl Router {
            /// Sets up the named law with these parameters.
            pub fn build(name: &str, params: &[(String, Value)], link: &LinkView) -> Result<Self, Refusal> {
                $(if name == <$path as RouterSpec>::NAME {
                    return Ok(Self::$Variant(<$path as RouterSpec>::new(fill(params)?, link)));
                })*
                Err(unknown(name))
            }
        }

        /// Does the named law, with these parameters, mark packets of RFC 3168's ECN besides those of
        /// its codec?
        pub fn router_marks_ecn(name: &str, params: &[(String, Value)]) -> bool {
            $(if name == <$path as RouterSpec>::NAME {
                return fill(params).is_ok_and(|params| <$path as RouterSpec>::marks_ecn(&params));
            })*
            false
        }

        /// Every router law's entry.
        pub fn router_laws() -> Vec<RouterInfo> {
            vec![$(RouterInfo {
                name: <$path as RouterSpec>::NAME,
                title: <$path as RouterSpec>::TITLE,
                source: <$path as RouterSpec>::SOURCE,
                codec: <$path as RouterSpec>::CODEC,
                on_departure: <$path as RouterSpec>::ON_DEPARTURE,
                queues: <$path as RouterSpec>::QUEUES,
                params: <<$path as RouterSpec>::Params as ParamSet>::infos(),
            },)*]
        }
    };
}

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
