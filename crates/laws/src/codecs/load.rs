//! A region of the load factor, [VCP III-B].

/// A region of the load factor rho.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Load {
    /// `(01)`: rho below 80 %.
    Low = 0b01,
    /// `(10)`: rho from 80 % to below 100 %.
    High = 0b10,
    /// `(11)`: rho of 100 % and more.
    Over = 0b11,
}

impl Load {
    /// Encodes a load factor, 1 being full ([VCP III-B]). `low_below` is 0.8 in the paper.
    #[inline]
    pub fn encode(load_factor: f64, low_below: f64) -> Self {
        if load_factor >= 1.0 {
            Self::Over
        } else if load_factor >= low_below {
            Self::High
        } else {
            Self::Low
        }
    }

    /// From the ECN field. `(00)`, which no sender of this codec emits, is read as `High`, to be careful.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits {
            0b01 => Self::Low,
            0b11 => Self::Over,
            _ => Self::High,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_change_at_80_and_100_per_cent() {
        assert_eq!(Load::encode(0.0, 0.8), Load::Low);
        assert_eq!(Load::encode(0.799_999, 0.8), Load::Low);
        assert_eq!(Load::encode(0.8, 0.8), Load::High);
        assert_eq!(Load::encode(0.999_999, 0.8), Load::High);
        assert_eq!(Load::encode(1.0, 0.8), Load::Over);
        assert_eq!(Load::encode(7.0, 0.8), Load::Over);
    }
}
