//! Input text.

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON with the same keys.
    Json,
}

/// A text, and settings that override it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text itself.
    pub text: &'a str,
    /// Its file's name, for messages.
    pub name: &'a str,
    /// Its format.
    pub format: Format,
    /// `--set key=value`: a dotted key, and a value in TOML syntax or a bare string.
    pub overrides: &'a [(String, String)],
}
