//! Router laws, each in a file; the registry lists them in reading order. `rate_router` and `verdicts` are shared by several
//! laws.

pub mod ared;
pub mod avq;
pub mod blue;
pub mod bmcc;
pub mod bmcc_ared;
pub mod codel;
pub mod droptail;
pub mod dualpi2;
pub mod fq_codel;
pub mod mlcp;
pub mod pi;
pub mod pie;
pub mod piqi_rcp;
pub mod price;
pub mod qi_rcp;
pub mod rate_router;
pub mod rcp;
pub mod red;
pub mod rem;
pub mod rio;
#[cfg(test)]
mod trial;
pub mod vcp;
mod verdicts;
pub mod xcp;
