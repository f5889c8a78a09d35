//! Memory: what a scenario needs, what there is, and whether and how its runs go together.

mod machine;
mod need;
mod packets;
mod part;

use crate::scenario::Scenario;
use crate::warning::Warning;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_input::problem::Problem;
pub use machine::available;
pub(crate) use need::Need;

impl Scenario {
    /// About how much memory its runs take, so many at a time: bytes at the peak.
    pub fn memory(&self, threads: usize) -> u64 {
        let need = Need::of(self, Interrupt::NEVER);
        need.map_or(u64::MAX, |need| need.bytes(threads))
    }
}

/// How much memory runs may take together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MemoryLimit {
    /// What the machine, or the control group that this process is in, has to give.
    #[default]
    Available,
    /// So many bytes, whatever there is.
    Bytes(u64),
}

impl MemoryLimit {
    /// Reads a limit such as `8 GB`.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let parsed = knee_input::measure::MEMORY.parse(text);
        let (bytes, _) =
            parsed.map_err(|said| Problem::new(format!("memory limit {text}: {said}")))?;
        Ok(Self::Bytes(bytes as u64))
    }
}

/// Runs that fit: how many go side by side, and what there is to say about that.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    pub threads: usize,
    pub warning: Option<Warning>,
}

/// So many runs side by side, or as many as fit into the memory that there is.
pub(crate) fn admit(
    scenario: &Scenario,
    wanted: usize,
    limit: MemoryLimit,
    interrupt: Interrupt,
) -> Result<Admission, Stopped> {
    let room = match limit {
        MemoryLimit::Bytes(bytes) => Some(bytes),
        MemoryLimit::Available => available(),
    };
    let Some(room) = room else { return Ok(Admission { threads: wanted, warning: None }) };
    let need = Need::of(scenario, interrupt)?;
    fit(&need, wanted, room).map_err(|message| {
        let at = need.largest(1).map_or_else(String::new, |(part, _)| format!("{}: ", part.at));
        Problem::new(format!("{}: {at}{message}", scenario.source)).into()
    })
}

/// As many runs side by side as there is room for, or why not even one.
fn fit(need: &Need, wanted: usize, room: u64) -> Result<Admission, String> {
    if need.bytes(1) > room {
        let largest = need.largest(1).map_or_else(String::new, |(part, bytes)| {
            format!(", {} of it for {}; {}", amount(bytes as u64), part.what, part.remedy)
        });
        return Err(format!(
            "it would take about {} of memory where there are {}{largest}, or raise the memory limit",
            amount(need.bytes(1)),
            amount(room),
        ));
    }
    let threads = (1..=wanted).rev().find(|threads| need.bytes(*threads) <= room).unwrap_or(1);
    let warning = (threads < wanted).then(|| {
        Warning::new(format!(
            "{threads} of {wanted} runs go side by side, since each takes about {} of memory and there are {}",
            amount(need.each() as u64),
            amount(room),
        ))
    });
    Ok(Admission { threads, warning })
}

/// An amount of memory in words.
pub(crate) fn amount(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e9 => format!("{:.0} MB", (bytes / 1e6).max(1.0)),
        bytes if bytes < 1e10 => format!("{:.1} GB", bytes / 1e9),
        bytes => format!("{:.0} GB", bytes / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::part::{Part, Phase};
    use super::*;

    fn need(each: f64, once: f64) -> Need {
        let part = |bytes, phase| Part {
            bytes,
            phase,
            at: "flows".to_owned(),
            what: "3000000 flows".to_owned(),
            remedy: "take fewer",
        };
        Need::from(vec![part(each, Phase::Run), part(once, Phase::Kept)])
    }

    #[test]
    fn runs_go_side_by_side_as_far_as_there_is_room() {
        let fits = |room| fit(&need(1e9, 1e8), 8, room).unwrap();
        assert_eq!(fits(9_000_000_000).threads, 8);
        assert!(fits(9_000_000_000).warning.is_none());
        assert_eq!(fits(3_200_000_000).threads, 3);
        let said = fits(3_200_000_000).warning.unwrap().to_string();
        assert!(
            said.starts_with("3 of 8 runs go side by side") && said.contains("1.0 GB"),
            "{said}"
        );
        assert_eq!(fits(1_110_000_000).threads, 1);
    }

    #[test]
    fn what_does_not_fit_names_its_largest_part_and_what_to_change() {
        let said = fit(&need(9e9, 1e8), 8, 8_000_000_000).unwrap_err();
        assert_eq!(
            said,
            "it would take about 9.1 GB of memory where there are 8.0 GB, 9.0 GB of it for 3000000 flows; take \
             fewer, or raise the memory limit"
        );
    }

    #[test]
    fn limits_are_sizes_with_their_unit() {
        assert_eq!(MemoryLimit::read("8 GB").unwrap(), MemoryLimit::Bytes(8_000_000_000));
        let said = MemoryLimit::read("8").unwrap_err().to_string();
        assert_eq!(
            said,
            "memory limit 8: an amount of memory needs a unit (B, kB, MB, GB, TB), such as \"8 GB\""
        );
    }
}
