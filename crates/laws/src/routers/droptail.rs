//! DropTail: packets are queued while there is room. The buffer is the link's; this law adds nothing.

use crate::codecs::{Codec, Wire};
use crate::params::{NoParams, ParamError, ParamSet, Value};
use crate::router::{Arrival, Draw, LinkView, RouterLaw, RouterSpec, Verdict};

/// First in, first out, until the buffer is full.
#[derive(Clone, Copy, Debug)]
pub struct DropTail;

impl RouterLaw for DropTail {
    #[inline]
    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        Verdict::Accept
    }

    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        NoParams {}.tune(name, value)
    }
}

impl RouterSpec for DropTail {
    type Law = Self;
    type Params = NoParams;
    const NAME: &'static str = "droptail";
    const TITLE: &'static str = "DropTail: first in, first out, drops when the buffer is full";
    const SOURCE: &'static str = "folklore";
    const CODEC: Codec = Codec::None;
    fn new(_: NoParams, _: &LinkView) -> Self {
        Self
    }
}
