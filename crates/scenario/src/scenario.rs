//! A checked scenario.

use crate::Problem;

/// How a scenario is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON with the same keys.
    Json,
}

/// A scenario as text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text itself.
    pub text: &'a str,
    /// Its file's name, for messages.
    pub name: &'a str,
    /// How it is written.
    pub format: Format,
    /// `--set key=value`: a dotted key, and a value in TOML syntax or a bare string.
    pub overrides: &'a [(String, String)],
}

/// A checked scenario: it can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
}

impl Scenario {
    /// Parses and checks.
    pub fn parse(_source: &Source) -> Result<Self, Problem> {
        Ok(Self { name: String::new() })
    }
    /// The scenario as run: every default and seed written out, with knee's version.
    pub fn to_toml(&self) -> String {
        String::new()
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Names of its variants, in order.
    pub fn variants(&self) -> Vec<String> {
        Vec::new()
    }
    /// Its seeds, in order.
    pub fn seeds(&self) -> Vec<u64> {
        Vec::new()
    }
}
