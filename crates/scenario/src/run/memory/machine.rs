//! What memory there is: of the machine, and of the control groups that this process is in.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that this process may still take, if the system tells: what the machine has available, and what the limits
/// of its control groups (version 1 or 2) leave.
pub fn available() -> Option<u64> {
    available_under(Path::new("/"))
}

fn available_under(root: &Path) -> Option<u64> {
    let groups = groups(root).into_iter().filter_map(|group| group.left());
    groups.chain(machine(root)).min()
}

/// What the machine has available.
fn machine(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The names of a control group's files.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// Of `memory.stat`: file pages, which the kernel takes back when it needs them.
    cached: [&'static str; 2],
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: Files =
    Files { limit: "memory.max", used: "memory.current", cached: ["inactive_file", "active_file"] };

/// A control group that bounds memory.
struct Group {
    folder: PathBuf,
    files: &'static Files,
}

impl Group {
    /// What its limit leaves; nothing if it has none.
    fn left(&self) -> Option<u64> {
        let number = |name| -> Option<u64> {
            fs::read_to_string(self.folder.join(name)).ok()?.trim().parse().ok()
        };
        let limit = number(self.files.limit)?;
        let used = number(self.files.used)?;
        let stat = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let cached = stat.lines().filter_map(|line| line.split_once(' '));
        let cached = cached.filter(|(name, _)| self.files.cached.contains(name));
        let cached: u64 = cached.filter_map(|(_, bytes)| bytes.parse::<u64>().ok()).sum();
        Some(limit.saturating_sub(used.saturating_sub(cached)))
    }
}

/// The control groups of memory that this process is in, and those around them.
fn groups(root: &Path) -> Vec<Group> {
    let memberships = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mut found = Vec::new();
    for membership in memberships.lines() {
        // `number:controllers:path`; version 2 names none.
        let mut fields = membership.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let files = match controllers {
            "" => &VERSION_2,
            some if some.split(',').any(|each| each == "memory") => &VERSION_1,
            _ => continue,
        };
        let Some((mounted, at)) = mounts.lines().find_map(|line| mount(line, files)) else {
            continue;
        };
        let top = root.join(at.trim_start_matches('/'));
        // In a container the path may be one of the host's, which is not seen here: then the mount is its own.
        let inside = path.strip_prefix(mounted.trim_end_matches('/')).unwrap_or(path);
        let own = top.join(inside.trim_start_matches('/'));
        let around = own.ancestors().take_while(|folder| folder.starts_with(&top));
        found.extend(around.map(|folder| Group { folder: folder.to_owned(), files }));
    }
    found
}

/// What a line of mountinfo mounts and where, if it is the hierarchy with these files.
fn mount<'a>(line: &'a str, files: &Files) -> Option<(&'a str, &'a str)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (mounted, at) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let name = kind.next()?;
    let options = kind.nth(1)?;
    let fits = match files.limit == VERSION_2.limit {
        true => name == "cgroup2",
        false => name == "cgroup" && options.split(',').any(|option| option == "memory"),
    };
    fits.then_some((mounted, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("knee-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: (&str, &str) =
        ("proc/meminfo", "MemTotal:       2000000 kB\nMemAvailable:    1000000 kB\n");

    #[test]
    fn without_groups_it_is_what_the_machine_has() {
        let root = Root::new("machine", &[MEMINFO]);
        assert_eq!(available_under(&root.0), Some(1_024_000_000));
        let nothing = Root::new("nothing", &[("proc/version", "")]);
        assert_eq!(available_under(&nothing.0), None);
    }

    #[test]
    fn version_2_counts_the_groups_around_and_not_the_cache() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/user/job\n"),
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/user/memory.max", "500000000\n"),
            ("sys/fs/cgroup/user/memory.current", "300000000\n"),
            (
                "sys/fs/cgroup/user/memory.stat",
                "anon 1\ninactive_file 60000000\nactive_file 40000000\n",
            ),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/job/memory.current", "1000\n"),
        ];
        assert_eq!(available_under(&Root::new("second", &files).0), Some(300_000_000));
    }

    #[test]
    fn version_1_is_found_by_its_controller_also_in_a_container() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/docker/abc\n0::/\n"),
            (
                "proc/self/mountinfo",
                "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                 35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "200000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "50000000\n"),
        ];
        assert_eq!(available_under(&Root::new("first", &files).0), Some(150_000_000));
    }
}
