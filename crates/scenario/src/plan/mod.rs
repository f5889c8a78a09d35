//! Variants: laws and transport put on the network, checked, with what is doubtful.

pub(crate) mod aggregates;
pub(crate) mod check;
pub(crate) mod doubts;
pub(crate) mod law;
pub(crate) mod plans;
pub(crate) mod variant;
