//! TCP NewReno: Reno's window ([`reno`](super::reno)) with a recovery that continues after partial ACKs.
//!
//! T. Henderson, S. Floyd, A. Gurtov, Y. Nishida, "The NewReno Modification to TCP's Fast Recovery
//! Algorithm", RFC 6582, 2012. Recovery is the transport's; the window is Reno's, (2)-(4) there.

use super::reno::{Params, Reno};
use super::tcp::Tcp;
use crate::sender::{Opening, Recovery, SenderSpec};

/// NewReno's registry entry.
pub struct NewReno;

impl SenderSpec for NewReno {
    type Law = Tcp<Reno>;
    type Params = Params;
    const NAME: &'static str = "newreno";
    const TITLE: &'static str = "TCP NewReno: Reno that recovers from several losses in a window";
    const SOURCE: &'static str = "RFC 6582";
    const RECOVERY: Recovery = Recovery::NewReno;
    fn new(params: Params, opening: &Opening) -> Tcp<Reno> {
        Reno::start(params, opening)
    }
}
