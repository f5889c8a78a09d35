//! Laws by name with their parameters, checked against the registry.

use crate::choice::{LawSpec, ParamValue};
use crate::measure::{Measure, PERIOD, RATE, SIZE};
use crate::nearest::{listed, nearest};
use crate::problem::{Fault, KeyPath};
use crate::quantity::{Delay, Rate, Size, Written};
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::registry::{RouterInfo, SenderInfo, router_laws, sender_laws};

/// A sender law with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct SenderChoice {
    pub info: SenderInfo,
    pub params: Vec<(String, Value)>,
}

/// A router law with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct RouterChoice {
    pub info: RouterInfo,
    pub params: Vec<(String, Value)>,
}

/// The sender law of this name.
pub(crate) fn sender(name: &str, at: &KeyPath) -> Result<SenderInfo, Fault> {
    let laws = sender_laws();
    let names = || laws.iter().map(|law| law.name);
    laws.iter().find(|law| law.name == name).cloned().ok_or_else(|| {
        let hint = nearest(name, names());
        at.fault(format!("there is no sender law `{name}`; there are {}{hint}", listed(names())))
    })
}

/// The router law of this name.
pub(crate) fn router(name: &str, at: &KeyPath) -> Result<RouterInfo, Fault> {
    let laws = router_laws();
    let names = || laws.iter().map(|law| law.name);
    laws.iter().find(|law| law.name == name).cloned().ok_or_else(|| {
        let hint = nearest(name, names());
        at.fault(format!("there is no router law `{name}`; there are {}{hint}", listed(names())))
    })
}

/// Where a law's name stands.
pub(crate) fn name_at(spec: &LawSpec, at: &KeyPath) -> KeyPath {
    match spec {
        LawSpec::Name(_) => at.clone(),
        LawSpec::Table(_) => at.key("law"),
    }
}

/// The parameters of `law` that `spec` sets.
pub(crate) fn params(
    law: &str,
    infos: &[ParamInfo],
    (spec, at): (&LawSpec, &KeyPath),
) -> Result<Vec<(String, Value)>, Fault> {
    let mut values = Vec::new();
    for (name, given) in spec.params() {
        let at = at.key(name);
        let Some(info) = infos.iter().find(|info| info.name == name) else {
            let names = || infos.iter().map(|info| info.name);
            if infos.is_empty() {
                return Err(at.fault(format!("`{law}` has no parameters")));
            }
            let hint = nearest(name, names());
            let names = listed(names());
            return Err(at.fault(format!("`{law}` has no such parameter; it has {names}{hint}")));
        };
        let value = value(info, given).map_err(|message| at.fault(message))?;
        if !info.allows(value) {
            return Err(at.fault(format!("`{name}` of `{law}` must be {}", info.range())));
        }
        values.push((name.clone(), value));
    }
    Ok(values)
}

/// A parameter's value from how it is written.
fn value(info: &ParamInfo, given: &ParamValue) -> Result<Value, String> {
    let expected = |what: &str| format!("expected {what}, {}", info.range());
    let quantity = |measure: &Measure| format!("{} must be {}", measure.noun, info.range());
    match (info.kind, given) {
        (Kind::Number, ParamValue::Number(number)) => Ok(Value::Number(*number)),
        (Kind::Number, ParamValue::Integer(number)) => Ok(Value::Number(*number as f64)),
        (Kind::Number, _) => Err(expected("a number")),
        (Kind::Integer, ParamValue::Integer(number)) => {
            u64::try_from(*number).map(Value::Integer).map_err(|_| expected("a whole number"))
        }
        (Kind::Integer, _) => Err(expected("a whole number")),
        (Kind::Flag, ParamValue::Flag(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Flag, _) => Err("expected true or false".to_owned()),
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
