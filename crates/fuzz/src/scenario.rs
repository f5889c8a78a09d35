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
        let Ok(written) = checked(text, name, format) else { continue };
        let again = checked(&written, name, Format::Toml);
        assert_eq!(again.as_ref(), Ok(&written), "what is written is another scenario");
    }
}

/// The text as run, or what is said of it.
fn checked(text: &str, name: &str, format: Format) -> Result<String, String> {
    let asked = AtomicU32::new(0);
    let is_enough = || asked.fetch_add(1, Ordering::Relaxed) > PATIENCE;
    let source = Source { text, name, format, overrides: &[] };
    let scenario = Scenario::parse_with(&source, Laws::shipped(), Interrupt::new(&is_enough));
    let scenario = scenario.map_err(|stopped| {
        let said = stopped.to_string();
        assert!(!said.contains('\n'), "{said:?}");
        assert!(said.starts_with(name) || is_enough(), "{said:?}");
        said
    })?;
    for warning in scenario.warnings() {
        assert!(!warning.to_string().contains('\n'), "{warning}");
    }
    Ok(scenario.to_toml())
}
