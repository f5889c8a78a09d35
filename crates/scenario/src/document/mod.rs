//! What a scenario says: its keys with their types and defaults, and what there is to choose from.

pub(crate) mod catalogue;
pub(crate) mod choice;
pub(crate) mod defaults;
pub(crate) mod fill;
pub(crate) mod format;
pub(crate) mod link;
pub(crate) mod transport;
pub(crate) mod wlan;
