//! SACK TCP: Reno's window ([`reno`](super::reno)) with recovery from selective acknowledgements.
//!
//! E. Blanton et al., "A Conservative Loss Recovery Algorithm Based on Selective Acknowledgment (SACK)
//! for TCP", RFC 6675, 2012. Recovery is the transport's; the window is Reno's, (2)-(4) there.

use super::reno::{Params, Reno};
use super::tcp::Tcp;
use crate::sender::{Opening, SenderSpec};

/// SACK TCP's registry entry.
pub struct Sack;

impl SenderSpec for Sack {
    type Law = Tcp<Reno>;
    type Params = Params;
    const NAME: &'static str = "sack";
    const TITLE: &'static str = "SACK TCP: Reno with selective acknowledgements";
    const SOURCE: &'static str = "RFC 6675";
    fn new(params: Params, opening: &Opening) -> Tcp<Reno> {
        Reno::start(params, opening)
    }
}
