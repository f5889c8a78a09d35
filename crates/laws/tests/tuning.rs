//! Parameters that change while a law runs.

mod drive;

use drive::{Event, Flow, Link, Step, events, steps, value};
use knee_laws::laws::Laws;
use knee_laws::params::{Kind, ParamError, ParamInfo, Value};
use knee_laws::router::RouterLaw;
use knee_laws::sender::SenderLaw;
use proptest::prelude::*;

const START: &str = "only has a meaning at the start";

/// Parameters of senders that cannot change, and why.
const FIXED_OF_SENDERS: &[(&str, &str, &str)] = &[
    ("reno", "initial_ssthresh", START),
    ("newreno", "initial_ssthresh", START),
    ("sack", "initial_ssthresh", START),
    ("cubic", "initial_ssthresh", START),
    ("hstcp", "initial_ssthresh", START),
    ("scalable", "initial_ssthresh", START),
    ("htcp", "initial_ssthresh", START),
    ("bic", "initial_ssthresh", START),
    ("vegas", "initial_ssthresh", START),
    ("westwood", "initial_ssthresh", START),
    ("vcp", "syn", START),
    ("dctcp", "initial_alpha", START),
    ("dctcp", "initial_ssthresh", START),
];

/// The same of routers.
const FIXED_OF_ROUTERS: &[(&str, &str, &str)] = &[
    ("ared", "max_p", START),
    ("avq", "initial_share", START),
    (
        "vcp",
        "overload_marks",
        "decides which packets may be marked, for which the path was checked",
    ),
    ("rcp", "initial_rtt", START),
    ("rcp", "initial_rate", START),
    ("qi-rcp", "initial_rtt", START),
    ("qi-rcp", "initial_rate", START),
    ("piqi-rcp", "initial_rtt", START),
    ("piqi-rcp", "initial_rate", START),
    ("mlcp", "initial_rtt", START),
];

/// A value within the range, for `share` in [0, 1]. 0.5 gives the default. If both ends have the same sign, the scale is
/// logarithmic. For a flag the other value, for words any.
fn drawn(info: &ParamInfo, share: f64) -> Value {
    match (&info.kind, &info.default) {
        (Kind::Choice(_), _) => value(info, share),
        (Kind::Flag, default) => value(info, 1.0 - default.base()),
        (_, default) => {
            let (from, to) = match default.base() {
                default if share < 0.5 => (default, info.min),
                default => (default, info.max),
            };
            let way = (2.0 * share - 1.0).abs();
            let base = if from.min(to) > 0.0 {
                from * libm::pow(to / from, way)
            } else {
                from + way * (to - from)
            };
            value(info, base.clamp(info.min, info.max))
        }
    }
}

/// Asserts that `tune` refuses just the parameters that are declared as fixed, and that the table has these.
fn check_fixed(
    (law, infos): (&str, &[ParamInfo]),
    table: &[(&str, &str, &str)],
    mut tune: impl FnMut(&str, &Value) -> Result<(), ParamError>,
) {
    for info in infos {
        let reason = table.iter().find(|(of, name, _)| (*of, *name) == (law, &info.name));
        let answer = if reason.is_some() { Err(ParamError::Fixed) } else { Ok(()) };
        assert_eq!(info.fixed, reason.is_some(), "{law}: {}", info.name);
        assert_eq!(tune(&info.name, &info.default), answer, "{law}: {}", info.name);
    }
    assert_eq!(tune("no-such-name", &Value::Flag(true)), Err(ParamError::UnknownName), "{law}");
}

/// Every fixed parameter has a reason in the tables, and every entry of the tables is of a fixed parameter.
#[test]
fn what_is_fixed_has_a_reason() {
    let laws = Laws::shipped();
    for entry in &laws.senders {
        let mut flow = Flow::new(entry, &[]);
        let law = (entry.info.name.as_str(), &entry.info.params[..]);
        check_fixed(law, FIXED_OF_SENDERS, |name, value| flow.law.tune(name, value));
    }
    for entry in &laws.routers {
        let mut link = Link::new(entry, &[]);
        let law = (entry.info.name.as_str(), &entry.info.params[..]);
        check_fixed(law, FIXED_OF_ROUTERS, |name, value| link.law.tune(name, value));
    }
    for (law, name, _) in FIXED_OF_SENDERS {
        let entry = laws.sender(law).expect("a sender");
        assert!(entry.info.params.iter().any(|info| info.name == *name), "{law}: {name}");
    }
    for (law, name, _) in FIXED_OF_ROUTERS {
        let entry = laws.router(law).expect("a router");
        assert!(entry.info.params.iter().any(|info| info.name == *name), "{law}: {name}");
    }
}

/// A change of a parameter: which one, and where in its range.
type Tune = (prop::sample::Index, f64);

/// The events with a change before some of them.
fn mixed<T: std::fmt::Debug + Clone + 'static>(
    events: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = Vec<(Option<Tune>, T)>> {
    events.prop_flat_map(|events| {
        let tune = prop::option::weighted(0.2, (any::<prop::sample::Index>(), 0.0..=1.0));
        prop::collection::vec(tune, events.len())
            .prop_map(move |tunes| tunes.into_iter().zip(events.clone()).collect())
    })
}

/// The parameter that changes, and its value.
fn chosen(infos: &[ParamInfo], (which, share): Tune) -> Option<(&ParamInfo, Value)> {
    let open: Vec<_> = infos.iter().filter(|info| !info.fixed).collect();
    let info = *open.get(which.index(open.len().max(1)))?;
    Some((info, drawn(info, share)))
}

/// Values that a law must refuse.
fn refused(info: &ParamInfo) -> Vec<Value> {
    let beyond = match info.kind {
        Kind::Number => Some(Value::Number(info.max + 1.0)),
        Kind::Integer => Some(Value::Integer(info.max as u64 + 1)),
        _ => None,
    };
    let other = match info.kind {
        Kind::Flag => Value::Number(1.0),
        _ => Value::Flag(true),
    };
    beyond.into_iter().chain([other, Value::word("no-such-word")]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A sender that is tuned before its first event answers like one that was built with the value.
    #[test]
    fn a_sender_tuned_at_once_is_one_built_so(events in events(), share in 0.0..=1.0) {
        for entry in &Laws::shipped().senders {
            for info in entry.info.params.iter().filter(|info| !info.fixed) {
                let (name, value) = (info.name.to_string(), drawn(info, share));
                let mut tuned = Flow::new(entry, &[]);
                tuned.tune(&name, &value);
                tuned.answers.clear();
                let mut built = Flow::new(entry, &[(name, value.clone())]);
                tuned.run(&events);
                built.run(&events);
                let law = &entry.info.name;
                prop_assert!(tuned.answers == built.answers, "{law}: {} = {value}", info.name);
            }
        }
    }

    /// The same of routers.
    #[test]
    fn a_router_tuned_at_once_is_one_built_so(steps in steps(), share in 0.0..=1.0) {
        for entry in &Laws::shipped().routers {
            for info in entry.info.params.iter().filter(|info| !info.fixed) {
                let (name, value) = (info.name.to_string(), drawn(info, share));
                let mut tuned = Link::new(entry, &[]);
                tuned.tune(&name, &value);
                tuned.answers.clear();
                let mut built = Link::new(entry, &[(name, value.clone())]);
                tuned.run(&steps);
                built.run(&steps);
                let law = &entry.info.name;
                prop_assert!(tuned.answers == built.answers, "{law}: {} = {value}", info.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever changes at any time, windows and rates stay finite, and losses never grow a window.
    #[test]
    fn senders_stand_any_change(events in mixed(events())) {
        for entry in &Laws::shipped().senders {
            let mut flow = Flow::new(entry, &[]);
            for (tune, event) in &events {
                if let Some((info, value)) = tune.and_then(|tune| chosen(&entry.info.params, tune)) {
                    flow.tune(&info.name, &value);
                }
                flow.step(event);
            }
        }
    }

    /// Whatever changes at any time, signals stay finite, ticks go on, and the law writes only its own codec.
    #[test]
    fn routers_stand_any_change(steps in mixed(steps())) {
        for entry in &Laws::shipped().routers {
            let mut link = Link::new(entry, &[]);
            for (tune, step) in &steps {
                if let Some((info, value)) = tune.and_then(|tune| chosen(&entry.info.params, tune)) {
                    link.tune(&info.name, &value);
                }
                link.step(step);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// A law that refuses a value goes on as if it had not been asked.
    #[test]
    fn a_refused_value_changes_nothing(events in events(), steps in steps()) {
        fn halves<T>(all: &[T]) -> (&[T], &[T]) {
            all.split_at(all.len() / 2)
        }
        let (first, second): (&[Event], &[Event]) = halves(&events);
        for entry in &Laws::shipped().senders {
            let (mut asked, mut alone) = (Flow::new(entry, &[]), Flow::new(entry, &[]));
            asked.run(first);
            for info in &entry.info.params {
                for value in refused(info) {
                    prop_assert!(asked.law.tune(&info.name, &value).is_err());
                }
            }
            asked.run(second);
            alone.run(&events);
            prop_assert!(asked.answers == alone.answers, "{}", entry.info.name);
        }
        let (first, second): (&[Step], &[Step]) = halves(&steps);
        for entry in &Laws::shipped().routers {
            let (mut asked, mut alone) = (Link::new(entry, &[]), Link::new(entry, &[]));
            asked.run(first);
            for info in &entry.info.params {
                for value in refused(info) {
                    prop_assert!(asked.law.tune(&info.name, &value).is_err());
                }
            }
            asked.run(second);
            alone.run(&steps);
            prop_assert!(asked.answers == alone.answers, "{}", entry.info.name);
        }
    }
}
