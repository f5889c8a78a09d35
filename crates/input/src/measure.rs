//! Numbers with units: their units and ranges, and how they are read.

use crate::nearest::hint;

/// What kind of quantity a text gives: its units, its range and an example.
pub struct Measure {
    /// With an article: "a rate".
    pub noun: &'static str,
    /// Unit names with their size in the base unit.
    pub units: &'static [(&'static str, f64)],
    /// Smallest allowed value in the base unit.
    pub min: f64,
    /// Largest allowed value in the base unit.
    pub max: f64,
    /// The range in words.
    pub range: &'static str,
    /// An example.
    pub example: &'static str,
    /// A word that may stand in place of an amount, if there is one.
    pub word: Option<&'static str>,
}

/// Units of rates, in bits a second.
pub const RATE_UNITS: &[(&str, f64)] =
    &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)];
const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
/// Units of sizes, in bytes, after others.
macro_rules! size_units {
    ($($other:expr),*) => {
        &[$($other,)* ("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)]
    };
}
/// Units of sizes, in bytes.
pub const SIZE_UNITS: &[(&str, f64)] = size_units!();

/// A day, the longest time there is.
const DAY: f64 = 86_400.0;

/// A rate, in bits a second.
pub const RATE: Measure = Measure {
    noun: "a rate",
    units: RATE_UNITS,
    min: 1.0,
    max: 1e14,
    range: "1 bps to 100 Tbps",
    example: "150 Mbps",
    word: None,
};
/// A time that may be zero, in seconds.
pub const DELAY: Measure = Measure {
    noun: "a time",
    units: TIME_UNITS,
    min: 0.0,
    max: DAY,
    range: "0 s to 24 h",
    example: "80 ms",
    word: None,
};
/// A time above zero, in seconds.
pub const PERIOD: Measure = Measure {
    noun: "a time",
    units: TIME_UNITS,
    min: 1e-9,
    max: DAY,
    range: "1 ns to 24 h",
    example: "80 ms",
    word: None,
};
/// A size, in bytes.
pub const SIZE: Measure = Measure {
    noun: "a size",
    units: SIZE_UNITS,
    min: 1.0,
    max: 1e12,
    range: "1 B to 1 TB",
    example: "1000 B",
    word: None,
};
/// An amount of memory, in bytes.
pub const MEMORY: Measure = Measure {
    noun: "an amount of memory",
    units: SIZE_UNITS,
    min: 1e6,
    max: 1e15,
    range: "1 MB to 1000 TB",
    example: "8 GB",
    word: None,
};
/// A buffer: packets, bytes or bandwidth-delay products.
pub const BUFFER: Measure = Measure {
    noun: "a buffer",
    units: size_units!(("BDP", 1.0), ("packets", 1.0), ("packet", 1.0)),
    min: 1e-9,
    max: 1e12,
    range: "more than 0 and at most 1 TB",
    example: "1 BDP",
    word: Some("unlimited"),
};
/// A flow's size: packets or bytes.
pub const FLOW_SIZE: Measure = Measure {
    noun: "a flow's size",
    units: size_units!(("packets", 1.0), ("packet", 1.0)),
    min: 1.0,
    max: 1e12,
    range: "at least 1 packet or 1 B, and at most 1 TB",
    example: "30 packets",
    word: Some("endless"),
};

/// The length of the number at the beginning of `text`, with sign and exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count()
    };
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

impl Measure {
    /// Its units, separated by commas.
    pub fn unit_names(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        self.word.map_or_else(|| names.clone(), |word| format!("{names}, or \"{word}\""))
    }

    /// The number (in the base unit) and the unit of `text`, or what is wrong with it.
    pub fn parse(&self, text: &str) -> Result<(f64, &'static str), String> {
        let (value, name) = self.split(text)?;
        if !(self.min..=self.max).contains(&value) {
            return Err(format!("{} must be {}", self.noun, self.range));
        }
        Ok((value, name))
    }

    /// The number, without a check of its range.
    pub fn number(&self, text: &str) -> Result<f64, String> {
        self.split(text).map(|(value, _)| value)
    }

    fn split(&self, text: &str) -> Result<(f64, &'static str), String> {
        let text = text.trim();
        let (number, unit) = text.split_at(number_length(text));
        let unit = unit.trim_start();
        let Ok(number) = number.replace('_', "").parse::<f64>() else {
            return Err(format!(
                "{} is a number and a unit ({}), such as \"{}\"",
                self.noun,
                self.unit_names(),
                self.example
            ));
        };
        if unit.is_empty() {
            return Err(format!(
                "{} needs a unit ({}), such as \"{}\"",
                self.noun,
                self.unit_names(),
                self.example
            ));
        }
        let spelled = if unit == "µs" || unit == "μs" { "us" } else { unit };
        let Some((name, scale)) = self.units.iter().find(|(name, _)| *name == spelled) else {
            let hint = hint(unit, self.units.iter().map(|(name, _)| *name));
            return Err(format!(
                "unknown unit \"{unit}\"; units of {} are {}{hint}",
                self.noun,
                self.unit_names()
            ));
        };
        Ok((number * scale, name))
    }
}
