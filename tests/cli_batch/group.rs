//! Memory cgroups, where this process may make them: as root, outside of most containers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A group with a limit, for processes that join it; removed in the end.
pub struct Group {
    folder: PathBuf,
    /// The file with the group's highest use of memory, page cache included.
    peak: &'static str,
}

impl Group {
    /// `None` where no group can be made: without the right to, or without the memory controller.
    pub fn new(name: &str, limit: u64) -> Option<Self> {
        let name = format!("cuzk-test-{name}-{}", std::process::id());
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let places = groups.lines().flat_map(places);
        places.into_iter().find_map(|(parent, limit_file, peak)| {
            let folder = parent.join(&name);
            fs::create_dir(&folder).ok()?;
            // Removed where the limit cannot be set: of the second version's groups, those without the controller.
            let group = Self { folder, peak };
            fs::write(group.folder.join(limit_file), limit.to_string()).ok()?;
            // No way out through swap; not every kernel has these files.
            for (file, value) in [("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", limit)] {
                let _ = fs::write(group.folder.join(file), value.to_string());
            }
            Some(group)
        })
    }

    /// What a shell writes its process's number to in order to join.
    pub fn procs(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// The most that the group ever used, page cache included; `None` where the kernel does not tell.
    pub fn peak(&self) -> Option<u64> {
        fs::read_to_string(self.folder.join(self.peak)).ok()?.trim().parse().ok()
    }
}

/// Where a group might be made, with the names of its files for the limit and the peak: below this process's own group, or at the
/// top where that is not to be seen. `line` is one of /proc/self/cgroup.
fn places(line: &str) -> Vec<(PathBuf, &'static str, &'static str)> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return Vec::new() };
    let (root, limit, peak) = match controllers {
        "" => (Path::new("/sys/fs/cgroup"), "memory.max", "memory.peak"),
        v1 if v1.split(',').any(|controller| controller == "memory") => {
            (Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.max_usage_in_bytes")
        }
        _ => return Vec::new(),
    };
    let own = root.join(path.trim_start_matches('/'));
    [own, root.into()].into_iter().map(|parent| (parent, limit, peak)).collect()
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may have ended only just now.
        let start = Instant::now();
        while fs::remove_dir(&self.folder).is_err() && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
