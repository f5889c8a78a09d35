//! Why a run ends early.

use crate::config::{GroupId, LinkId};
use knee_laws::params::ParamError;
use knee_laws::quantities::Time;

/// What went wrong, where, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The law of a flow has failed.
    Sender {
        /// The flow's number.
        flow: u32,
        /// Its group.
        group: GroupId,
        /// The simulated time.
        at: Time,
        /// What the law says.
        message: String,
    },
    /// The law of a link has failed.
    Router {
        /// The link.
        link: LinkId,
        /// The simulated time.
        at: Time,
        /// What the law says.
        message: String,
    },
    /// An endless flow has used up its sequence numbers: 2^32 - 2 packets.
    Exhausted {
        /// The flow's number.
        flow: u32,
        /// The simulated time.
        at: Time,
    },
}

/// Why a change was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Unchanged {
    /// There is no such link or flow, or the flow has ended.
    Unknown,
    /// The link may not change ([`LinkConfig::changeable`](crate::config::LinkConfig::changeable)).
    Fixed,
    /// The law refuses the parameter.
    Refused(ParamError),
}
