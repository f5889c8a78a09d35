//! TCP without its congestion avoidance (RFC 5681): slow start, losses and timeouts.
//!
//! Laws that implement [`Avoidance`] differ in how fast their window grows and how much of it a loss leaves. Their window
//! does not grow while losses are repaired or data are short (`recovering` and `app_limited` of an [`Ack`]).

use super::tcp_window::TcpWindow;
use crate::params::{ParamError, Value};
use crate::sender::{Ack, Loss, Opening, SenderLaw};

/// What differs from one TCP to another.
pub trait Avoidance {
    /// Called first for every ACK, for measurements.
    #[inline]
    fn measure(&mut self, _ack: &Ack) {}
    /// Packets that this ACK adds to a window of `window` packets.
    fn growth(&mut self, ack: &Ack, window: f64) -> f64;
    /// Packets that congestion leaves of a window of `window` packets: the slow-start threshold, without its lower bound.
    fn kept(&mut self, loss: &Loss, window: f64) -> f64;
    /// The retransmission timer has fired.
    fn on_timeout(&mut self) {}
    /// Shows values of its inner state to a probe, by name, at a window of `window` packets.
    fn observe(&self, _window: f64, _show: &mut dyn FnMut(&str, f64)) {}
    /// Changes a parameter, as [`SenderLaw::tune`].
    ///
    /// # Errors
    /// If there is no such parameter, the value does not fit it, or it is fixed.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
}

/// A TCP with this kind of congestion avoidance.
#[derive(Clone, Debug)]
pub struct Tcp<A> {
    pub(super) avoidance: A,
    pub(super) window: TcpWindow,
}

impl<A: Avoidance> Tcp<A> {
    /// Starts with the initial window, in slow start below `ssthresh` packets.
    pub fn new(avoidance: A, ssthresh: f64, opening: &Opening) -> Self {
        Self { avoidance, window: TcpWindow::new(ssthresh, opening) }
    }

    /// Reduces the window to this share, at least two packets, and goes on in congestion avoidance.
    pub fn scale(&mut self, share: f64) {
        self.window.cut(self.window.packets() * share);
    }

    /// The rule of slow start.
    #[cfg(test)]
    pub(crate) fn rule(&self) -> &crate::slow_start::Rule {
        self.window.rule()
    }
}

impl<A: Avoidance> SenderLaw for Tcp<A> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.avoidance.measure(ack);
        if ack.recovering || ack.app_limited || ack.newly_acked == 0 {
            return;
        }
        if self.window.is_starting() {
            self.window.start(ack);
        } else {
            self.window.add(self.avoidance.growth(ack, self.window.packets()));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.cut(self.avoidance.kept(loss, self.window.packets()));
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.window.time_out(self.avoidance.kept(loss, self.window.packets()));
        self.avoidance.on_timeout();
    }

    fn window(&self) -> f64 {
        self.window.packets()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.threshold())
    }

    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.avoidance.tune(name, value)
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("ssthresh", self.window.threshold());
        self.avoidance.observe(self.window.packets(), show);
    }
}
