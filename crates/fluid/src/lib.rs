//! Fluid models: delay-differential and difference equations, their linearisation, and closed forms.
//!
//! Times are seconds, rates packets a second and windows packets unless a name says otherwise. Models are
//! deterministic: `libm` instead of the platform's transcendental functions, no clock, no hashing.
#![forbid(unsafe_code)]

pub mod bmcc;
pub mod dcf;
pub mod dde;
pub mod effort;
pub mod max_min;
pub mod miaimd;
pub mod miaimd_network;
pub mod mlcp;
pub mod nyquist;
pub mod polar;
pub mod rcp;
pub mod roots;
pub mod scalable;
