//! Scenario text.

use knee_scenario::{Format, Interrupt, Laws, Scenario, Source};
use std::sync::atomic::{AtomicU32, Ordering};

/// How often a check may ask whether to go on: millions of flows are fine, but slow.
const PATIENCE: u32 = 100_000;

/// Parses and checks a text as TOML and as JSON. What is refused is refused in one line that names the file; what is
/// accepted means the same once written and read again.
pub fn scenario(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for (name, format) in [("fuzz.toml", Format::Toml), ("fuzz.json", Format::Json)] {
        if let Some(written) = checked(text, name, format) {
            let again = checked(&written, name, Format::Toml).expect("it has been accepted before");
            assert_eq!(again, written, "written and read, it is another");
        }
    }
}

/// The text as run, if it is accepted.
fn checked(text: &str, name: &str, format: Format) -> Option<String> {
    let asked = AtomicU32::new(0);
    let is_enough = || asked.fetch_add(1, Ordering::Relaxed) > PATIENCE;
    let source = Source { text, name, format, overrides: &[] };
    match Scenario::parse_with(&source, Laws::shipped(), Interrupt::new(&is_enough)) {
        Ok(scenario) => {
            let lines = scenario.warnings().iter().map(ToString::to_string);
            lines.for_each(|line| assert!(!line.contains('\n'), "{line:?}"));
            Some(scenario.to_toml())
        }
        Err(stopped) => {
            let said = stopped.to_string();
            assert!(!said.contains('\n'), "{said:?}");
            assert!(said.starts_with(name) || is_enough(), "{said:?}");
            None
        }
    }
}
