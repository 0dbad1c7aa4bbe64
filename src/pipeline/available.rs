//! How much memory a run may use: what the machine, the control group this process is in, and its own limits really leave.

use std::fs;
use std::path::{Path, PathBuf};

/// Left to everybody else: a sixteenth, at least this much.
const MARGIN: u64 = 256 << 20;

/// Bytes that can be used, less a margin; None where the system does not tell. What this process has counts as left to it.
/// `mapped` is what it will map beside them, parameters above all: one of its limits counts that too.
pub fn available(mapped: u64) -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(meminfo_available);
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|groups| group_available(&groups, Path::new("/sys/fs/cgroup")));
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).ok();
    let own =
        read("limits").zip(read("status")).and_then(|(limits, status)| limits_available(&limits, &status, mapped));
    let free = [machine, group, own].into_iter().flatten().min()?;
    Some(free - (free / 16).max(MARGIN).min(free / 2))
}

fn meminfo_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    kibibytes(line)
}

/// What `ulimit -d` and `ulimit -v` leave, with what is resident already: they count what is mapped, whether it is resident or
/// not, and the latter files too. `limits` and `status` are the files of these names in /proc/self.
fn limits_available(limits: &str, status: &str, mapped: u64) -> Option<u64> {
    let field = |name: &str| status.lines().find_map(|line| kibibytes(line.strip_prefix(name)?.strip_prefix(':')?));
    let resident = field("RssAnon")?;
    let left = |limit: &str, counted: &str, more: u64| {
        // The soft limit; "unlimited" is no number.
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(field(counted)?.saturating_sub(resident)).saturating_sub(more))
    };
    [left("Max data size", "VmData", 0), left("Max address space", "VmSize", mapped)].into_iter().flatten().min()
}

fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least that this group and those above it have left. `groups` is /proc/self/cgroup, `root` where the hierarchies are.
fn group_available(groups: &str, root: &Path) -> Option<u64> {
    groups.lines().filter_map(|line| hierarchy_available(line, root)).min()
}

fn hierarchy_available(line: &str, root: &Path) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (controllers, path) = (fields.nth(1)?, fields.next()?);
    let (root, limit, used): (PathBuf, _, _) = match controllers {
        "" => (root.into(), "memory.max", "memory.current"),
        v1 if v1.split(',').any(|c| c == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let number = |folder: &Path, name| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let mut left = None;
    let mut folder = root.join(path.trim_start_matches('/'));
    while folder.starts_with(&root) {
        // "max" is no number: no limit here.
        if let Some(limit) = number(&folder, limit) {
            // Page cache counts as used, and is given up when memory is short.
            let cache =
                fs::read_to_string(folder.join("memory.stat")).ok().as_deref().and_then(inactive_file).unwrap_or(0);
            let used = number(&folder, used).unwrap_or(0).saturating_sub(cache);
            let here = limit.saturating_sub(used);
            left = Some(left.map_or(here, |left: u64| left.min(here)));
        }
        if !folder.pop() {
            break;
        }
    }
    left
}

/// Bytes of page cache that nobody has touched for long.
fn inactive_file(stat: &str) -> Option<u64> {
    let value = |name| stat.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
    value("total_inactive_file").or_else(|| value("inactive_file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory() {
        assert_eq!(meminfo_available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(meminfo_available("MemTotal: 9 kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(available(0).unwrap() > MARGIN);
        }
    }

    #[test]
    fn limits_leave_what_is_not_mapped_yet() {
        let limits = |data: &str, space: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max data size             {data}               unlimited            bytes\n\
                 Max address space         {space}              unlimited            bytes\n"
            )
        };
        let status = "VmSize:\t    9000 kB\nVmData:\t    3000 kB\nRssAnon:\t    1000 kB\n";
        let left = |data: &str, space: &str| limits_available(&limits(data, space), status, 7000);
        assert_eq!(left("unlimited", "unlimited"), None);
        assert_eq!(left("10240000", "unlimited"), Some(10_240_000 - 2000 * 1024));
        assert_eq!(left("unlimited", "20480000"), Some(20_480_000 - 8000 * 1024 - 7000));
        assert_eq!(left("10240000", "10240000"), Some(10_240_000 - 8000 * 1024 - 7000));
        assert_eq!(left("1000", "unlimited"), Some(0));
        assert_eq!(limits_available("", status, 0), None);
        assert_eq!(limits_available(&limits("1", "1"), "", 0), None);
    }

    #[test]
    fn the_tightest_group_counts_less_its_idle_cache() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 5\ninactive_file 200\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "600\n");
        assert_eq!(group_available("0::/a/b\n", root.path()), Some(500));
        write("a/b/memory.max", "650\n");
        assert_eq!(group_available("0::/a/b\n", root.path()), Some(50));
        assert_eq!(group_available("0::/elsewhere\n", root.path()), None);
        write("memory/x/memory.limit_in_bytes", "90\n");
        write("memory/x/memory.usage_in_bytes", "30\n");
        assert_eq!(group_available("4:cpu,memory:/x\n3:pids:/x\n0::/\n", root.path()), Some(60));
    }
}
