//! The laws that a scenario may name: the shipped ones, and laws from outside.

use crate::params::{Refusal, Value, unknown};
use crate::presets::{PRESETS, Preset};
use crate::registry::{Router, Sender, shipped_routers, shipped_senders};
use crate::router::{LinkView, RouterInfo};
use crate::sender::{Opening, SenderInfo};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Values of parameters, by name. If a name occurs twice, the last value counts.
pub type Values = [(String, Value)];

type BuildSender = dyn Fn(&Values, &Opening) -> Result<Sender, Refusal> + Send + Sync;
type BuildRouter = dyn Fn(&Values, &LinkView) -> Result<Router, Refusal> + Send + Sync;
type MarksEcn = dyn Fn(&Values) -> bool + Send + Sync;

/// A sender law that scenarios may name.
#[derive(Clone)]
pub struct SenderEntry {
    /// Its description.
    pub info: Arc<SenderInfo>,
    /// A hash of everything that decides how the law behaves: its sources, or its file.
    pub fingerprint: String,
    build: Arc<BuildSender>,
}

/// A router law that scenarios may name.
#[derive(Clone)]
pub struct RouterEntry {
    /// Its description.
    pub info: Arc<RouterInfo>,
    /// A hash of everything that decides how the law behaves: its sources, or its file.
    pub fingerprint: String,
    build: Arc<BuildRouter>,
    marks_ecn: Arc<MarksEcn>,
}

impl SenderEntry {
    /// An entry. `build` starts a flow, given the parameters that differ from their defaults.
    pub fn new(
        info: SenderInfo,
        fingerprint: String,
        build: impl Fn(&Values, &Opening) -> Result<Sender, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { info: Arc::new(info), fingerprint, build: Arc::new(build) }
    }

    /// Starts a flow with these parameters.
    pub fn build(&self, params: &Values, opening: &Opening) -> Result<Sender, Refusal> {
        (self.build)(params, opening)
    }
}

impl RouterEntry {
    /// An entry. `build` sets up a link, given the parameters that differ from their defaults. `marks_ecn` tells
    /// whether the law, with these parameters, also marks packets of RFC 3168's ECN besides those of its codec.
    pub fn new(
        info: RouterInfo,
        fingerprint: String,
        build: impl Fn(&Values, &LinkView) -> Result<Router, Refusal> + Send + Sync + 'static,
        marks_ecn: impl Fn(&Values) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (build, marks_ecn) = (Arc::new(build), Arc::new(marks_ecn));
        Self { info: Arc::new(info), fingerprint, build, marks_ecn }
    }

    /// Sets up a link with these parameters.
    pub fn build(&self, params: &Values, link: &LinkView) -> Result<Router, Refusal> {
        (self.build)(params, link)
    }

    /// Does the law, with these parameters, mark packets of RFC 3168's ECN besides those of its codec?
    pub fn marks_ecn(&self, params: &Values) -> bool {
        (self.marks_ecn)(params)
    }
}

impl fmt::Debug for SenderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info.name, self.fingerprint)
    }
}

impl fmt::Debug for RouterEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info.name, self.fingerprint)
    }
}

/// The laws and presets that scenarios may name. The default has all that are shipped.
#[derive(Clone, Debug)]
pub struct Laws {
    /// Sender laws, in the order in which lists show them.
    pub senders: Vec<SenderEntry>,
    /// Router laws, likewise.
    pub routers: Vec<RouterEntry>,
    /// Laws with other parameters under names of their own.
    pub presets: Vec<Preset>,
}

impl Default for Laws {
    fn default() -> Self {
        let senders = shipped_senders()
            .into_iter()
            .map(|(info, fingerprint, build)| SenderEntry::new(info, fingerprint, build))
            .collect();
        let routers = shipped_routers()
            .into_iter()
            .map(|(info, hash, build, marks)| RouterEntry::new(info, hash, build, marks))
            .collect();
        Self { senders, routers, presets: PRESETS.to_vec() }
    }
}

impl Laws {
    /// The shipped laws.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Laws> = LazyLock::new(Laws::default);
        &SHIPPED
    }

    /// The sender law of this name.
    pub fn sender(&self, name: &str) -> Option<&SenderEntry> {
        self.senders.iter().find(|law| law.info.name == name)
    }

    /// The router law of this name.
    pub fn router(&self, name: &str) -> Option<&RouterEntry> {
        self.routers.iter().find(|law| law.info.name == name)
    }

    /// The preset of this name.
    pub fn preset(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }
}

impl Sender {
    /// Starts a flow of the shipped law of this name.
    pub fn build(name: &str, params: &Values, opening: &Opening) -> Result<Self, Refusal> {
        Laws::shipped().sender(name).ok_or_else(|| unknown(name))?.build(params, opening)
    }
}

impl Router {
    /// Sets up a link of the shipped law of this name.
    pub fn build(name: &str, params: &Values, link: &LinkView) -> Result<Self, Refusal> {
        Laws::shipped().router(name).ok_or_else(|| unknown(name))?.build(params, link)
    }
}
