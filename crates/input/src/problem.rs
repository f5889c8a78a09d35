//! Mistakes in a scenario.

use std::fmt;

/// A mistake in a scenario, in one sentence: `where: key = value: what is wrong and what is allowed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(pub String);

impl fmt::Display for Problem {
    /// In one line: characters that control a terminal or change the direction of writing are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| {
            if c.is_control() || is_invisible(c) {
                write!(f, "{}", c.escape_default())
            } else {
                write!(f, "{c}")
            }
        })
    }
}

/// Unicode's invisible characters: marks of direction, ends of lines, joiners.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' |
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

impl std::error::Error for Problem {}

/// A step towards a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Into a table.
    Name(String),
    /// Into a list.
    Index(usize),
}

/// The path to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(pub Vec<Key>);

impl KeyPath {
    /// The whole scenario.
    pub fn root() -> Self {
        Self::default()
    }
    /// An element of a list at the top, such as `[[flows]]`.
    pub fn element(list: &str, index: usize) -> Self {
        Self::root().key(list).index(index)
    }
    /// One step into a table.
    pub fn key(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Key::Name(name.to_owned()));
        path
    }
    /// One step into a list.
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Key::Index(index));
        path
    }
    /// The dotted key; elements of lists go by `name` in place of their number.
    pub fn shown(&self, name: &str) -> String {
        let step = |key: &Key| match key {
            Key::Name(name) => name.clone(),
            Key::Index(_) => name.to_owned(),
        };
        self.0.iter().map(step).collect::<Vec<_>>().join(".")
    }
    /// A fault at this path.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { path: self.clone(), message: message.into() }
    }
}

/// What is wrong with which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The value.
    pub path: KeyPath,
    /// What is wrong with it, and what is allowed.
    pub message: String,
}
