//! Laws by name with their parameters, checked against the registry.

use crate::document::choice::{LawSpec, ParamValue};
use knee_input::measure::{Measure, PERIOD, RATE, SIZE};
use knee_input::nearest::{hint, listed};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Delay, Rate, Size, Written};
use knee_laws::codecs::Codec;
use knee_laws::laws::{Laws, RouterEntry, SenderEntry};
use knee_laws::params::{Kind, ParamInfo, Refusal, Value};
use knee_laws::presets::Setting;
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{LinkView, RouterInfo};
use knee_laws::sender::{Opening, SenderInfo};
use knee_laws::slow_start::{Rule, rules};

/// A sender law with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct SenderChoice {
    law: SenderEntry,
    /// The name it was chosen by: the law's, or a preset's.
    pub name: String,
    /// The router that goes with it: a law's name, or the preset's own.
    pub router: String,
    pub params: Vec<(String, Value)>,
}

impl SenderChoice {
    /// What there is to know of the law.
    pub fn info(&self) -> &SenderInfo {
        &self.law.info
    }

    /// The hash of the law.
    pub fn fingerprint(&self) -> &str {
        &self.law.fingerprint
    }

    /// Starts a flow.
    pub fn build(&self, opening: &Opening) -> Result<Sender, Refusal> {
        self.law.build(&self.params, opening)
    }
}

/// A router law with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct RouterChoice {
    law: RouterEntry,
    /// The name it was chosen by: the law's, or a preset's.
    pub name: String,
    pub params: Vec<(String, Value)>,
    /// Does it mark packets of RFC 3168's ECN besides those of its codec?
    marks_ecn: bool,
}

impl RouterChoice {
    /// What there is to know of the law.
    pub fn info(&self) -> &RouterInfo {
        &self.law.info
    }

    /// The hash of the law.
    pub fn fingerprint(&self) -> &str {
        &self.law.fingerprint
    }

    /// Sets up a link.
    pub fn build(&self, link: &LinkView) -> Result<Router, Refusal> {
        self.law.build(&self.params, link)
    }

    /// Does it write what a sender of this codec reads?
    pub fn writes(&self, codec: Codec) -> bool {
        let ecn = self.marks_ecn && Codec::Ecn.is_read_as(codec);
        ecn || self.info().codec.is_read_as(codec)
    }
}

/// The sender of this name, a law's or a preset's, with what `spec` sets on top.
pub(crate) fn sender(
    laws: &Laws,
    (name, at): (&str, &KeyPath),
    (spec, spec_at): (Option<&LawSpec>, &KeyPath),
) -> Result<SenderChoice, Fault> {
    let found = laws.preset(name);
    let Some(law) = laws.sender(found.map_or(name, |preset| preset.sender.0)) else {
        let names = laws.senders.iter().map(|law| law.info.name.as_str());
        return Err(unknown("sender", name, named(names, laws), at));
    };
    let name = found.map_or(&*law.info.name, |preset| preset.name);
    let router = found.map_or(&*law.info.router, |preset| preset.name);
    let preset = found.map(|preset| &preset.sender);
    let params = settled(preset, (name, &law.info.params), (spec, spec_at))?;
    Ok(SenderChoice { law: law.clone(), name: name.into(), router: router.into(), params })
}

/// The router of this name, a law's or a preset's, with what `spec` sets on top.
pub(crate) fn router(
    laws: &Laws,
    (name, at): (&str, &KeyPath),
    (spec, spec_at): (Option<&LawSpec>, &KeyPath),
) -> Result<RouterChoice, Fault> {
    let found = laws.preset(name);
    let Some(law) = laws.router(found.map_or(name, |preset| preset.router.0)) else {
        let names = laws.routers.iter().map(|law| law.info.name.as_str());
        return Err(unknown("router", name, named(names, laws), at));
    };
    let name = found.map_or(&*law.info.name, |preset| preset.name);
    let preset = found.map(|preset| &preset.router);
    let params = settled(preset, (name, &law.info.params), (spec, spec_at))?;
    let marks_ecn = law.marks_ecn(&params);
    Ok(RouterChoice { law: law.clone(), name: name.into(), params, marks_ecn })
}

/// Names of laws, and of presets.
fn named<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    laws: &'a Laws,
) -> impl Iterator<Item = &'a str> + Clone {
    names.chain(laws.presets.iter().map(|preset| preset.name))
}

fn unknown<'a>(
    role: &str,
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    at: &KeyPath,
) -> Fault {
    at.fault(format!("there is no {role} law `{name}`")).among("there are", name, names)
}

/// A preset's parameters, then those of `spec`: the last of a name holds.
fn settled(
    preset: Option<&Setting>,
    (law, infos): (&str, &[ParamInfo]),
    (spec, at): (Option<&LawSpec>, &KeyPath),
) -> Result<Vec<(String, Value)>, Fault> {
    let preset = preset.map_or(&[][..], |(_, set)| set);
    let mut values: Vec<_> =
        preset.iter().map(|(name, set)| ((*name).to_owned(), set.clone())).collect();
    if let Some(spec) = spec {
        values.extend(params(law, infos, (spec, at))?);
    }
    Ok(values)
}

/// A way for slow start to grow; a transport that paces has other defaults.
pub(crate) fn slow_start(spec: &LawSpec, is_paced: bool, at: &KeyPath) -> Result<Rule, Fault> {
    let rules = rules();
    let names = || rules.iter().map(|rule| rule.name);
    let name = spec.law().ok_or_else(|| {
        at.fault(format!("missing key `law`, the way to grow: {}", listed(names())))
    })?;
    let rule = rules.iter().find(|rule| rule.name == name).ok_or_else(|| {
        let fault = name_at(spec, at).fault(format!("there is no slow start `{name}`"));
        fault.among("there are", name, names())
    })?;
    let params = params(rule.name, &rule.params, (spec, at))?;
    let unfit = |refusal: Refusal| at.key(&refusal.name).fault("slow start refuses it".to_owned());
    Rule::build(rule.name, &params, is_paced).map_err(unfit)
}

/// Where a law's name stands.
pub(crate) fn name_at(spec: &LawSpec, at: &KeyPath) -> KeyPath {
    match spec {
        LawSpec::Name(_) => at.clone(),
        LawSpec::Table(_) => at.key("law"),
    }
}

/// The value of a parameter of a law.
pub(crate) fn parameter(
    (law, infos): (&str, &[ParamInfo]),
    name: &str,
    given: &ParamValue,
    at: &KeyPath,
) -> Result<Value, Fault> {
    let Some(info) = infos.iter().find(|info| info.name == name) else {
        let names = || infos.iter().map(|info| info.name.as_ref());
        if infos.is_empty() {
            return Err(at.fault(format!("`{law}` has no parameters")));
        }
        let fault = at.fault(format!("`{law}` has no such parameter"));
        return Err(fault.among("it has", name, names()));
    };
    let value = value(info, given).map_err(|message| match (&info.kind, given) {
        (Kind::Choice(words), ParamValue::Text(text)) => {
            at.fault(message).of_names(text, words.iter().map(|word| word.as_ref()))
        }
        _ => at.fault(message),
    })?;
    if !info.allows(&value) {
        return Err(at.fault(format!("`{name}` of `{law}` must be {}", info.range())));
    }
    Ok(value)
}

/// The parameters of `law` that `spec` sets.
fn params(
    law: &str,
    infos: &[ParamInfo],
    (spec, at): (&LawSpec, &KeyPath),
) -> Result<Vec<(String, Value)>, Fault> {
    let mut values = Vec::new();
    for (name, given) in spec.params() {
        let value = parameter((law, infos), name, given, &at.key(name))?;
        values.push((name.clone(), value));
    }
    Ok(values)
}

/// A parameter's value from how it is written.
fn value(info: &ParamInfo, given: &ParamValue) -> Result<Value, String> {
    let expected = |what: &str| format!("expected {what}, {}", info.range());
    let quantity = |measure: &Measure| format!("{} must be {}", measure.noun, info.range());
    match (&info.kind, given) {
        (Kind::Number, ParamValue::Number(number)) => Ok(Value::Number(*number)),
        (Kind::Number, ParamValue::Integer(number)) => Ok(Value::Number(*number as f64)),
        (Kind::Number, _) => Err(expected("a number")),
        (Kind::Integer, ParamValue::Integer(number)) => {
            u64::try_from(*number).map(Value::Integer).map_err(|_| expected("a whole number"))
        }
        (Kind::Integer, _) => Err(expected("a whole number")),
        (Kind::Flag, ParamValue::Flag(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Flag, _) => Err("expected true or false".to_owned()),
        (Kind::Choice(words), ParamValue::Text(text)) => {
            let word = words.iter().find(|word| *word == text).cloned();
            word.map(Value::Choice).ok_or_else(|| {
                let names = words.iter().map(|word| word.as_ref());
                format!("it must be {}{}", info.range(), hint(text, names))
            })
        }
        (Kind::Choice(_), _) => Err(expected("a word")),
        (Kind::Duration, ParamValue::Text(text)) => {
            Delay::read(text).map(|time| Value::Duration(time.0))
        }
        (Kind::Rate, ParamValue::Text(text)) => match RATE.number(text) {
            Ok(bps) => Ok(Value::Rate(knee_laws::quantities::BitRate::from_bps(bps))),
            Err(message) => Err(message),
        },
        (Kind::Size, ParamValue::Text(text)) => {
            Size::read(text).map(|size| Value::Size(knee_laws::quantities::Bytes(size.0)))
        }
        (Kind::Duration, other) => PERIOD.number(&plain(other)).and(Err(quantity(&PERIOD))),
        (Kind::Rate, other) => Rate::read(&plain(other)).and(Err(quantity(&RATE))),
        (Kind::Size, other) => Size::read(&plain(other)).and(Err(quantity(&SIZE))),
    }
}

/// A value without unit, so that the message about units fits.
fn plain(value: &ParamValue) -> String {
    match value {
        ParamValue::Flag(flag) => flag.to_string(),
        ParamValue::Integer(number) => number.to_string(),
        ParamValue::Number(number) => number.to_string(),
        ParamValue::Text(text) => text.clone(),
    }
}
