//! Mistakes in a scenario.

use crate::nearest::{hint, listed, nearest};
use std::fmt;

/// A mistake in a scenario: a sentence, and its parts for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The sentence: `where: key = value: what is wrong and what is allowed`.
    pub sentence: String,
    /// The line of the text, from 1.
    pub line: Option<usize>,
    /// The dotted key; elements of lists go by their name.
    pub path: Option<String>,
    /// The value that was given, as TOML.
    pub given: Option<String>,
    /// The names that are allowed, sorted; empty if the value is not a name.
    pub allowed: Vec<String>,
    /// The allowed name that is nearest to the given one.
    pub nearest: Option<String>,
}

impl Problem {
    /// A problem that is not about a value of a text.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }
}

impl From<Fault> for Problem {
    /// A problem without a text: the sentence is the fault's message.
    fn from(fault: Fault) -> Self {
        let Fault { message, allowed, nearest, .. } = fault;
        Self { allowed, nearest, ..Self::new(message) }
    }
}

impl fmt::Display for Problem {
    /// The sentence in one line: characters that control a terminal or change the direction of writing are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence.chars().try_for_each(|c| {
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
        let (path, message) = (self.clone(), message.into());
        Fault { path, message, allowed: Vec::new(), nearest: None }
    }
}

/// What is wrong with which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The value.
    pub path: KeyPath,
    /// What is wrong with it, and what is allowed.
    pub message: String,
    /// See [`Problem::allowed`].
    pub allowed: Vec<String>,
    /// See [`Problem::nearest`].
    pub nearest: Option<String>,
}

impl Fault {
    /// Notes which names are allowed in place of `given`, without a word.
    pub fn of_names<'a>(mut self, given: &str, names: impl Iterator<Item = &'a str>) -> Self {
        self.allowed = names.map(str::to_owned).collect();
        self.allowed.sort_unstable();
        let near = nearest(given, self.allowed.iter().map(String::as_str));
        self.nearest = near.map(str::to_owned);
        self
    }

    /// Notes which names are allowed in place of `given`, and says so: `message; intro a, b; did you mean `b`?`.
    pub fn among<'a>(
        self,
        intro: &str,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let mut fault = self.of_names(given, names.clone());
        let known = fault.nearest.iter().map(String::as_str);
        let (all, hint) = (listed(names), hint(given, known));
        fault.message.push_str(&format!("; {intro} {all}{hint}"));
        fault
    }
}
