//! Text that is to be read.

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON with the same keys.
    Json,
}

/// A text with settings on top.
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
