//! The scenario's text: it is read into a tree, overridden, and searched for the line of a fault.

use crate::fields;
use crate::nearest::listed;
use crate::problem::{Fault, Key, KeyPath, Problem};
use crate::source::{Format, Source};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use toml::Spanned;
use toml::Value;
use toml::de::{DeTable, DeValue};

/// The most bytes of a scenario: some hundred thousand links or groups of flows.
pub const MOST_TEXT: usize = 8_000_000;
/// The longest value that a message repeats.
const SHOWN_CHARACTERS: usize = 60;
/// The longest setting from outside that a message repeats.
const LABEL_CHARACTERS: usize = 120;
/// The most names of a dotted key. No setting lies as deep.
const MOST_PARTS: usize = 16;

/// A setting from outside of the text.
pub struct Override {
    /// How the user wrote it.
    label: String,
    path: KeyPath,
}

/// A scenario's tree and where its parts come from.
pub struct Text<'a> {
    source: Source<'a>,
    tree: Value,
    overrides: Vec<Override>,
}

impl<'a> Text<'a> {
    /// Reads the text and applies its overrides.
    pub fn read(source: &Source<'a>) -> Result<Self, Problem> {
        let settings = source.overrides.iter().map(|(key, value)| key.len() + value.len());
        let bytes = source.text.len() + settings.sum::<usize>();
        if bytes > MOST_TEXT {
            return Err(Problem::new(format!(
                "{}: a scenario has at most {} MB of text, this one {:.1} MB",
                source.name,
                MOST_TEXT / 1_000_000,
                bytes as f64 / 1e6
            )));
        }
        let tree = match source.format {
            Format::Toml => toml::from_str(source.text).map_err(|error: toml::de::Error| {
                let at = error.span().map(|span| line_of(source.text, span.start));
                syntax(source, at, error.message())
            })?,
            Format::Json => {
                let json = serde_json::from_str(source.text).map_err(|error| {
                    let message = error.to_string();
                    let message = message.split(" at line ").next().unwrap_or_default();
                    syntax(source, Some(error.line()), message)
                })?;
                from_json(json).map_err(|message| syntax(source, None, &message))?
            }
        };
        if !tree.is_table() {
            return Err(syntax(source, None, "a scenario is a table"));
        }
        let mut text = Self { source: *source, tree, overrides: Vec::new() };
        for (key, value) in source.overrides {
            text.set(key, value, format!("--set {key}={value}"))?;
        }
        Ok(text)
    }

    /// Replaces the value at a dotted key; elements of lists go by their number from 0 or their name.
    pub fn set(&mut self, key: &str, value: &str, label: String) -> Result<(), Problem> {
        let value = toml::from_str::<toml::Table>(&format!("value = {value}"))
            .ok()
            .filter(|table| table.len() == 1)
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(value.to_owned()));
        let label = shortened(label);
        let fail = |message: &str| Problem {
            path: Some(key.to_owned()),
            ..Problem::new(format!("{label}: {message}"))
        };
        let parts = key.split('.').count();
        if parts > MOST_PARTS {
            let most =
                format!("a key is at most {MOST_PARTS} names with dots between, not {parts}");
            return Err(fail(&most));
        }
        let mut path = KeyPath::root();
        let mut place = &mut self.tree;
        for part in key.split('.').map(str::trim) {
            if part.is_empty() {
                return Err(fail("a key is names with dots between, such as bottleneck.rate"));
            }
            place = match place {
                Value::Table(table) => {
                    path = path.key(part);
                    table.entry(part).or_insert_with(|| Value::Table(toml::Table::new()))
                }
                Value::Array(list) => {
                    let named =
                        |value: &Value| value.get("name").and_then(Value::as_str) == Some(part);
                    let Some(index) = part.parse().ok().or_else(|| list.iter().position(named))
                    else {
                        let names = list.iter().filter_map(|value| value.get("name")?.as_str());
                        let names = listed(names);
                        return Err(fail(&format!(
                            "there is no `{part}` in {path}; there are {names} (or a number from 0)",
                            path = self.overrides_name(&path)
                        )));
                    };
                    path = path.index(index);
                    let count = list.len();
                    list.get_mut(index).ok_or_else(|| {
                        fail(&format!("there is no element {index}; there are {count}, from 0"))
                    })?
                }
                _ => {
                    return Err(fail(&format!("`{part}` lies below a value that is no table")));
                }
            };
        }
        *place = value;
        self.overrides.push(Override { label, path });
        Ok(())
    }

    /// The scenario's typed document, or what does not fit it.
    pub fn document<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let document = self.typed()?;
        lists(&self.tree, &KeyPath::root()).map_err(|fault| self.problem(&fault))?;
        Ok(document)
    }

    /// The tree as a `T`, or what does not fit it.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        self.read_as(self.tree.clone())
    }

    /// The top of the tree as two structs, each with some of its keys, or what does not fit them. (serde's `flatten`
    /// would lose the place of a fault.)
    pub fn typed_parts<A: DeserializeOwned, B: DeserializeOwned>(&self) -> Result<(A, B), Problem> {
        let parts = [fields::of::<A>(), fields::of::<B>()];
        let known = || parts.into_iter().flatten().copied();
        let keys = self.tree.as_table().into_iter().flat_map(toml::Table::keys);
        if let Some(key) = keys.into_iter().find(|key| known().all(|name| name != *key)) {
            let fault = KeyPath::root().key(key).fault("unknown key");
            return Err(self.problem(&fault.among("allowed are", key, known())));
        }
        let part = |names: &[&str]| {
            let mut tree = self.tree.clone();
            if let Value::Table(table) = &mut tree {
                table.retain(|key, _| names.contains(&key));
            }
            tree
        };
        Ok((self.read_as(part(parts[0]))?, self.read_as(part(parts[1]))?))
    }

    fn read_as<T: DeserializeOwned>(&self, tree: Value) -> Result<T, Problem> {
        serde_path_to_error::deserialize(tree).map_err(|error| {
            let mut path = KeyPath::root();
            for segment in error.path() {
                path = match segment {
                    Segment::Seq { index } => path.index(*index),
                    Segment::Map { key } => path.key(key),
                    Segment::Enum { variant } if self.value(&path.key(variant)).is_some() => {
                        path.key(variant)
                    }
                    Segment::Enum { .. } | Segment::Unknown => path,
                };
            }
            let inner: &toml::de::Error = error.inner();
            self.problem(&reworded(path, inner.message()))
        })
    }

    /// The sentence for a fault.
    pub fn problem(&self, fault: &Fault) -> Problem {
        self.told(fault, self.document_of_lines().as_ref())
    }

    /// The sentences for several.
    pub fn problems(&self, faults: &[Fault]) -> Vec<Problem> {
        let document = if faults.is_empty() { None } else { self.document_of_lines() };
        faults.iter().map(|fault| self.told(fault, document.as_ref())).collect()
    }

    fn told(&self, fault: &Fault, document: Option<&Spanned<DeTable>>) -> Problem {
        let message = &fault.message;
        let line = |path: &KeyPath| document.and_then(|table| self.line(table, path));
        let caused = |setting: &&Override| {
            let (long, short) = (&fault.path.0, &setting.path.0);
            long.starts_with(short)
                || (short.starts_with(long) && !long.is_empty() && line(&setting.path).is_none())
        };
        let path = (!fault.path.0.is_empty()).then(|| names(&self.tree, &fault.path));
        let given = self.value(&fault.path).filter(|value| !value.is_table());
        let problem = |sentence: String, line| Problem {
            sentence,
            line,
            path: path.clone(),
            given: given.map(ToString::to_string),
            allowed: fault.allowed.clone(),
            nearest: fault.nearest.clone(),
        };
        if let Some(setting) = self.overrides.iter().rev().find(caused) {
            if setting.path == fault.path {
                return problem(format!("{}: {message}", setting.label), None);
            }
            let shown = self.shown(&fault.path);
            return problem(format!("{}: {shown}: {message}", setting.label), None);
        }
        let line = line(&fault.path);
        let place = match line {
            Some(line) => format!("{}:{line}", self.source.name),
            None => self.source.name.to_owned(),
        };
        if path.is_none() {
            return problem(format!("{place}: {message}"), line);
        }
        problem(format!("{place}: {}: {message}", self.shown(&fault.path)), line)
    }

    /// A list's name in messages.
    fn overrides_name(&self, path: &KeyPath) -> String {
        names(&self.tree, path)
    }

    fn value(&self, path: &KeyPath) -> Option<&Value> {
        path.0.iter().try_fold(&self.tree, |value, key| match key {
            Key::Name(name) => value.get(name),
            Key::Index(index) => value.get(index),
        })
    }

    /// The key, and its value if that is short.
    fn shown(&self, path: &KeyPath) -> String {
        let key = names(&self.tree, path);
        match self.value(path) {
            None | Some(Value::Table(_)) => key,
            Some(value) => {
                let value = value.to_string();
                if value.contains('{') || value.chars().count() > SHOWN_CHARACTERS {
                    return key;
                }
                format!("{key} = {value}")
            }
        }
    }

    /// The text with the places of its parts, if it has several lines.
    fn document_of_lines(&self) -> Option<Spanned<DeTable<'a>>> {
        let is_toml = self.source.format == Format::Toml;
        is_toml.then(|| DeTable::parse(self.source.text).ok()).flatten()
    }

    /// The line of the deepest part of `path` that the text has.
    fn line(&self, document: &Spanned<DeTable>, path: &KeyPath) -> Option<usize> {
        if path.0.is_empty() {
            return None;
        }
        let mut at = None;
        let mut table = Some(document.get_ref());
        let mut list = None;
        for key in &path.0 {
            let value = match key {
                Key::Name(name) => {
                    let Some((key, value)) = table.and_then(|t| t.get_key_value(name.as_str()))
                    else {
                        break;
                    };
                    at = Some(key.span().start);
                    value
                }
                Key::Index(index) => {
                    let Some(value) = list.and_then(|l: &toml::de::DeArray| l.get(*index)) else {
                        break;
                    };
                    at = Some(value.span().start);
                    value
                }
            };
            (table, list) = match value.get_ref() {
                DeValue::Table(table) => (Some(table), None),
                DeValue::Array(list) => (None, Some(list)),
                _ => (None, None),
            };
        }
        at.map(|at| line_of(self.source.text, at))
    }
}

/// The dotted key; elements of lists by name where they have one.
fn names(tree: &Value, path: &KeyPath) -> String {
    let mut shown = String::new();
    let mut value = Some(tree);
    for key in &path.0 {
        if !shown.is_empty() {
            shown.push('.');
        }
        match key {
            Key::Name(name) => {
                shown.push_str(name);
                value = value.and_then(|value| value.get(name));
            }
            Key::Index(index) => {
                value = value.and_then(|value| value.get(index));
                let name = value.and_then(|value| value.get("name")?.as_str());
                match name {
                    Some(name) if !name.is_empty() => shown.push_str(name),
                    _ => shown.push_str(&index.to_string()),
                }
            }
        }
    }
    shown
}

/// Keys that take lists of tables.
const TABLE_LISTS: [&str; 8] =
    ["variant", "link", "wlan", "station", "aggregate", "flows", "probe", "rate_changes"];
/// Keys that take lists of values.
const VALUE_LISTS: [&str; 7] = ["seeds", "rates", "path", "back", "uniform", "from", "to"];

/// Are lists only where lists belong? (serde would also read a table from a list of its values.)
fn lists(value: &Value, at: &KeyPath) -> Result<(), Fault> {
    match value {
        Value::Table(table) => {
            table.iter().try_for_each(|(name, value)| lists(value, &at.key(name)))
        }
        Value::Array(list) => {
            let Some(Key::Name(name)) = at.0.last() else {
                return Err(at.fault("a list of lists has no meaning here"));
            };
            let of_tables = TABLE_LISTS.contains(&name.as_str());
            if !of_tables && !VALUE_LISTS.contains(&name.as_str()) {
                return Err(at.fault("a list has no meaning here"));
            }
            for (index, value) in list.iter().enumerate() {
                let at = at.index(index);
                if of_tables && !value.is_table() {
                    return Err(at.fault("expected a table"));
                }
                lists(value, &at)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A setting as messages repeat it: in one line, and shortened.
fn shortened(label: String) -> String {
    if label.chars().count() <= LABEL_CHARACTERS {
        return label;
    }
    let kept: String = label.chars().take(LABEL_CHARACTERS - 1).collect();
    format!("{kept}…")
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn syntax(source: &Source, line: Option<usize>, message: &str) -> Problem {
    let format = match source.format {
        Format::Toml => "TOML",
        Format::Json => "JSON",
    };
    let message = message.replace('\n', " ");
    let place = match line {
        Some(line) => format!("{}:{line}", source.name),
        None => source.name.to_owned(),
    };
    Problem { line, ..Problem::new(format!("{place}: not valid {format}: {message}")) }
}

/// JSON as TOML; keys with null are left out.
fn from_json(json: serde_json::Value) -> Result<Value, String> {
    use serde_json::Value as Json;
    Ok(match json {
        Json::Null => return Err("null stands for nothing here".to_owned()),
        Json::Bool(flag) => Value::Boolean(flag),
        Json::String(text) => Value::String(text),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(number)) => Value::Float(number),
            (None, None) => return Err(format!("{number} is too large a number")),
        },
        Json::Array(list) => {
            Value::Array(list.into_iter().map(from_json).collect::<Result<_, _>>()?)
        }
        Json::Object(object) => Value::Table(
            object
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| Ok((key, from_json(value)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

/// Names between backquotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// serde's message in plain words.
fn reworded(path: KeyPath, message: &str) -> Fault {
    let message = message.trim();
    let found = |rest: &str| {
        let mut names = quoted(rest);
        let given = names.next().unwrap_or_default().to_owned();
        (given, names.map(str::to_owned).collect::<Vec<_>>())
    };
    let allowed = |path: KeyPath, what: &str, (given, names): &(String, Vec<String>)| {
        path.fault(what).among("allowed are", given, names.iter().map(String::as_str))
    };
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let found = found(rest);
        let named = path.0.last() == Some(&Key::Name(found.0.clone()));
        let path = if named { path } else { path.key(&found.0) };
        return allowed(path, "unknown key", &found);
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        return allowed(path, "unknown name", &found(rest));
    }
    if message.starts_with("missing field ") {
        let name = quoted(message).next().unwrap_or_default();
        return path.fault(format!("missing key `{name}`"));
    }
    let expected = message.strip_prefix("invalid ").and_then(|rest| rest.split_once(", expected "));
    if let Some((_, expected)) = expected {
        let expected = expected
            .replace("a sequence", "a list")
            .replace("an array of length", "a list of")
            .replace("a map", "a table")
            .replace("fewer elements in map", "one of its keys, not several");
        let expected = if expected.starts_with("struct ") { "a table" } else { &expected };
        return path.fault(format!("expected {expected}"));
    }
    path.fault(message)
}
