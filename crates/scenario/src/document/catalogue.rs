//! What there is: laws, codecs, quantities, and the schema of a scenario.

use crate::document::format::Document;
use crate::document::transport::{self, Profile};
use knee_input::quantity::{Delay, Rate, Size, Written};
use knee_laws::codecs::Codec;
use knee_laws::laws::Laws;
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::presets::{Preset, Setting};
use knee_laws::sender::Recovery;
use knee_laws::slow_start::rules;
use knee_sim::config::Quantity;
use serde_json::json;

/// The JSON Schema of a scenario.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Document);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Laws with their parameters, presets with what they change, codecs, and quantities that probes sample.
///
/// An object of lists: `senders`, `routers`, `presets`, `slow_starts`, `profiles`, `codecs`, `quantities`. A
/// codec is `explicit` if a sender that reads it cannot do without.
pub fn catalogue(laws: &Laws) -> serde_json::Value {
    let senders: Vec<_> = laws
        .senders
        .iter()
        .map(|law| &law.info)
        .map(|law| {
            json!({
                "name": law.name,
                "title": law.title,
                "source": law.source,
                "codec": law.codec.name(),
                "recovery": recovery(law.recovery),
                "handshake": law.handshake,
                "router": law.router,
                "slow_start": law.slow_start,
                "params": params(&law.params),
            })
        })
        .collect();
    let routers: Vec<_> = laws
        .routers
        .iter()
        .map(|law| &law.info)
        .map(|law| {
            json!({
                "name": law.name,
                "title": law.title,
                "source": law.source,
                "codec": law.codec.name(),
                "queues": law.needs.queues,
                "params": params(&law.params),
            })
        })
        .collect();
    let slow_starts: Vec<_> = rules()
        .iter()
        .map(|rule| {
            json!({
                "name": rule.name,
                "title": rule.title,
                "source": rule.source,
                "params": params(&rule.params),
            })
        })
        .collect();
    let profiles = [
        profile(Profile::Papers, "papers", "as the simulations of papers"),
        profile(Profile::Modern, "modern", "as hosts of today"),
    ];
    let codecs: Vec<_> = Codec::ALL
        .iter()
        .map(|codec| {
            json!({
                "name": codec.name(),
                "title": codec.title(),
                "explicit": !codec.is_optional(),
            })
        })
        .collect();
    let quantities: Vec<_> = Quantity::ALL
        .iter()
        .map(|quantity| {
            let of = if quantity.is_of_links() { "link" } else { "flow" };
            json!({ "name": quantity.name(), "of": of, "title": quantity.help() })
        })
        .collect();
    json!({
        "senders": senders,
        "routers": routers,
        "presets": presets(laws),
        "slow_starts": slow_starts,
        "profiles": profiles,
        "codecs": codecs,
        "quantities": quantities,
    })
}

/// Presets: what each sets of its sender and its router law.
fn presets(laws: &Laws) -> Vec<serde_json::Value> {
    let sets = |setting: &Setting| -> serde_json::Map<String, serde_json::Value> {
        setting.1.iter().map(|(name, value)| ((*name).to_owned(), default(value))).collect()
    };
    let preset = |preset: &Preset| {
        let sender = laws.sender(preset.sender.0).map(|law| &law.info);
        json!({
            "name": preset.name,
            "title": preset.title,
            "source": preset.source,
            "codec": sender.map_or("", |law| law.codec.name()),
            "recovery": sender.map_or("", |law| recovery(law.recovery)),
            "sender": preset.sender.0,
            "router": preset.router.0,
            "sender_params": sets(&preset.sender),
            "router_params": sets(&preset.router),
        })
    };
    laws.presets.iter().map(preset).collect()
}

/// A profile with the keys that it sets, as if they were parameters.
fn profile(profile: Profile, name: &str, title: &str) -> serde_json::Value {
    let keys = json!(transport::profile(profile));
    let why = |key: &str| match profile {
        Profile::Papers => "",
        Profile::Modern => {
            let mut sources = transport::MODERN_SOURCES.iter();
            sources.find(|(name, _)| *name == key).map_or("", |(_, source)| source)
        }
    };
    let params: Vec<_> = keys
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            json!({ "name": key, "unit": "", "default": value, "range": "", "help": why(key) })
        })
        .collect();
    json!({ "name": name, "title": title, "params": params })
}

fn recovery(recovery: Recovery) -> &'static str {
    match recovery {
        Recovery::Reno => "reno",
        Recovery::NewReno => "newreno",
        Recovery::Sack => "sack",
    }
}

fn params(infos: &[ParamInfo]) -> Vec<serde_json::Value> {
    let param = |info: &ParamInfo| {
        json!({
            "name": info.name,
            "kind": kind(&info.kind),
            "unit": unit(&info.kind),
            "default": default(&info.default),
            "range": info.range(),
            "help": info.help,
        })
    };
    infos.iter().map(param).collect()
}

fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Number => "number",
        Kind::Integer => "integer",
        Kind::Flag => "flag",
        Kind::Choice(_) => "choice",
        Kind::Duration => "duration",
        Kind::Rate => "rate",
        Kind::Size => "size",
    }
}

fn unit(kind: &Kind) -> &'static str {
    match kind {
        Kind::Number | Kind::Integer | Kind::Flag | Kind::Choice(_) => "",
        Kind::Duration => "s",
        Kind::Rate => "bps",
        Kind::Size => "B",
    }
}

/// A default as a scenario would write it.
fn default(value: &Value) -> serde_json::Value {
    match value {
        Value::Number(number) => json!(number),
        Value::Integer(number) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::Choice(word) => json!(word),
        Value::Duration(time) => json!(Delay(*time).write()),
        Value::Rate(rate) => json!(Rate(*rate).write()),
        Value::Size(size) => json!(Size(size.count()).write()),
    }
}
