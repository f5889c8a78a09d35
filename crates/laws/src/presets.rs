//! Presets: laws with other parameters, under a name. A new one is an entry of [`PRESETS`].
//!
//! A preset's name may be used wherever a law's may: for its sender, its router, or both.

use crate::params::Value;
use crate::quantities::Span;

/// A law and the parameters that differ from its defaults.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// The sender law and its parameters.
    pub sender: Setting,
    /// The router law and its parameters.
    pub router: Setting,
}

/// A law's name, and its parameters that differ from their defaults.
pub type Setting = (&'static str, &'static [(&'static str, Value)]);

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "vcp-authors",
        title: "VCP as in its authors' ns-2 code, which made the paper's figures",
        source: "Xia et al., ns-2 code of 2005",
        sender: (
            "vcp",
            &[
                ("ai_scaling", Value::word("authors")),
                ("ai_limit", Value::word("table")),
                ("mi_limit", Value::word("table")),
                ("new_acks_only", Value::Flag(true)),
                ("after_cut", Value::word("conditional")),
                ("rtt_from", Value::word("ticks")),
                ("syn", Value::Flag(true)),
                ("sparse_pacing", Value::Flag(true)),
            ],
        ),
        router: (
            "vcp",
            &[
                ("gamma_rule", Value::word("authors")),
                ("rounding", Value::word("percent")),
                ("queue_average", Value::word("sixteenth-of-mean")),
                ("one_less", Value::Flag(true)),
            ],
        ),
    },
    Preset {
        name: "vcp-500ms",
        title: "VCP with t_rho = 500 ms at both ends, for RTTs above 800 ms",
        source: "Xia et al., IEEE/ACM ToN 16(6), 2008, footnote 3",
        sender: ("vcp", &[("t_rho", Value::Duration(Span::from_millis(500)))]),
        router: ("vcp", &[("t_rho", Value::Duration(Span::from_millis(500)))]),
    },
    Preset {
        name: "vcp-friendly",
        title: "VCP beside TCP: AI and cuts like TCP's in the long run, random marks at overload",
        source: "Xia et al., IEEE/ACM ToN 16(6), 2008, VI-C",
        sender: ("vcp", &[("alpha", Value::Number(0.2)), ("ai_scaling", Value::word("none"))]),
        router: ("vcp", &[("overload_marks", Value::word("random"))]),
    },
    scheme(
        "mlcp-2bit",
        "MLCP's law of increase with 2 bits of load, 1 level of MI and one cut",
        "Qazi, PhD dissertation, 2010, 3.2.1",
        &[
            ("mi_levels", Value::Integer(1)),
            ("md_levels", Value::Integer(1)),
            ("ii", Value::Flag(false)),
        ],
    ),
    scheme(
        "mlcp-3bit",
        "MLCP's law of increase with 3 bits of load, 5 levels of MI and one cut",
        "Qazi, PhD dissertation, 2010, 3.2.1",
        &[("md_levels", Value::Integer(1)), ("ii", Value::Flag(false))],
    ),
    scheme(
        "mlcp-4bit",
        "MLCP's law of increase with 4 bits of load, 13 levels of MI and one cut",
        "Qazi, PhD dissertation, 2010, 3.2.1",
        &[
            ("mi_levels", Value::Integer(13)),
            ("md_levels", Value::Integer(1)),
            ("ii", Value::Flag(false)),
        ],
    ),
    scheme(
        "mlcp-15bit",
        "MLCP's law of increase with 15 bits of load, 32765 levels of MI and one cut",
        "Qazi, PhD dissertation, 2010, 3.2.1",
        &[
            ("mi_levels", Value::Integer(32765)),
            ("md_levels", Value::Integer(1)),
            ("ii", Value::Flag(false)),
        ],
    ),
    scheme(
        "mlcp-a",
        "MLCP with scheme A of cuts: to 0.675 in any overload",
        "Qazi, PhD dissertation, 2010, 3.2.2.2",
        &[("md_levels", Value::Integer(1)), ("beta_max", Value::Number(0.675))],
    ),
    scheme(
        "mlcp-b",
        "MLCP with scheme B of cuts: to 0.875 in any overload",
        "Qazi, PhD dissertation, 2010, 3.2.2.2",
        &[("md_levels", Value::Integer(1))],
    ),
    scheme(
        "mlcp-c",
        "MLCP with scheme C of cuts: to 0.875, or 0.675 from 120 % on",
        "Qazi, PhD dissertation, 2010, 3.2.2.2",
        &[("md_levels", Value::Integer(2))],
    ),
    Preset {
        name: "bmcc-shared",
        title: "BMCC for paths shared with TCP: cuts on Adaptive RED's marks, SACK where load is low",
        source: "Qazi, PhD dissertation, 2010, 5.4",
        sender: ("bmcc", &[("marked_cuts", Value::Flag(true)), ("fallback", Value::Flag(true))]),
        router: ("bmcc-ared", &[]),
    },
];

/// A scheme of MLCP. The sender chooses it.
const fn scheme(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    set: &'static [(&'static str, Value)],
) -> Preset {
    Preset { name, title, source, sender: ("mlcp", set), router: ("mlcp", &[]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Laws;
    use crate::params::ParamInfo;

    /// Every parameter is there, within its range, and not at its default.
    fn check(preset: &Preset, set: &[(&str, Value)], infos: &[ParamInfo]) {
        for (at, (name, value)) in set.iter().enumerate() {
            let of = format!("{name} of {}", preset.name);
            let info = infos.iter().find(|info| info.name == *name);
            let info = info.unwrap_or_else(|| panic!("no {of}"));
            assert!(info.allows(value) && info.default != *value, "{of}");
            assert_eq!(
                std::mem::discriminant(value),
                std::mem::discriminant(&info.default),
                "kind of {of}"
            );
            assert!(set[..at].iter().all(|(other, _)| other != name), "{of} twice");
        }
    }

    #[test]
    fn entries_are_tidy() {
        let laws = Laws::default();
        for (at, preset) in PRESETS.iter().enumerate() {
            let name = preset.name;
            assert!(name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-')), "{name}");
            assert!(PRESETS[..at].iter().all(|other| other.name != name), "{name} twice");
            assert!(laws.sender(name).is_none(), "{name} is a sender");
            assert!(laws.router(name).is_none(), "{name} is a router");
            assert!(!preset.title.is_empty() && !preset.source.is_empty(), "{name}");
            let sender = laws.sender(preset.sender.0).expect("a sender");
            check(preset, preset.sender.1, &sender.info.params);
            let router = laws.router(preset.router.0).expect("a router");
            check(preset, preset.router.1, &router.info.params);
        }
    }
}
