//! Complex numbers by size and angle, from `libm`: num-complex's own methods take the platform's functions.

use num_complex::Complex64;

/// From its size and angle.
pub fn polar(size: f64, angle: f64) -> Complex64 {
    Complex64::new(size * libm::cos(angle), size * libm::sin(angle))
}

/// Its size.
pub fn size(value: Complex64) -> f64 {
    libm::hypot(value.re, value.im)
}

/// Its angle, in `(-pi, pi]`.
pub fn angle(value: Complex64) -> f64 {
    libm::atan2(value.im, value.re)
}
