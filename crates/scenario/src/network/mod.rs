//! Links and groups of flows: what a document describes, templates expanded.

pub(crate) mod aggregate;
pub(crate) mod core;
pub(crate) mod flows;
pub(crate) mod graph;
pub(crate) mod index;
pub(crate) mod template;
pub(crate) mod wlan;
