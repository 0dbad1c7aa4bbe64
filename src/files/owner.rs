//! Files that are believed: what one of them says is taken for checked. As ssh does with its keys, they are taken from this user
//! and from root alone.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::process::geteuid;

/// Write permission of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder with this bit only a file's owner may remove or rename it.
const STICKY: u32 = 0o1000;

/// Why what an open file says is not to be believed: another user than this one and root owns it or can write to it.
pub fn distrust_file(metadata: &Metadata) -> Option<String> {
    distrust(metadata.uid(), metadata.mode(), geteuid().as_raw())
}

/// Why a file in this folder is not to be believed: another user owns the folder, or can put another file in the file's place.
/// None of a folder that is not there.
pub fn distrust_folder(folder: &Path) -> Option<String> {
    let metadata = fs::metadata(folder).ok()?;
    let mode = metadata.mode();
    let mode = if mode & STICKY == 0 { mode } else { mode & !OTHERS_WRITE };
    distrust(metadata.uid(), mode, geteuid().as_raw())
}

/// Makes a folder, and those above it, that only this user can write to, whatever the umask; one that is there stays as it is.
///
/// # Errors
/// Those of the file system.
pub fn create_own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn distrust(owner: u32, mode: u32, own: u32) -> Option<String> {
    if owner != own && owner != 0 {
        return Some(format!("it belongs to user {owner}, and is believed only of this user ({own}) and root"));
    }
    let mode = mode & 0o7777;
    (mode & OTHERS_WRITE != 0).then(|| format!("others can write to it (mode {mode:04o}), so it is not believed"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn this_users_and_roots_are_believed_where_nobody_else_can_write() {
        for (owner, mode, believed) in [
            (1000, 0o100_600, true),
            (1000, 0o100_644, true),
            (0, 0o100_644, true),
            (1001, 0o100_600, false),
            (1001, 0o100_644, false),
            (1000, 0o100_664, false),
            (1000, 0o100_602, false),
            (0, 0o100_666, false),
        ] {
            assert_eq!(distrust(owner, mode, 1000).is_none(), believed, "{owner} {mode:o}");
        }
        assert!(distrust(1000, 0o600, 0).is_some(), "root does not believe users");
    }

    #[test]
    fn a_folder_for_all_is_believed_with_the_sticky_bit() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, believed) in
            [(0o700, true), (0o755, true), (0o775, false), (0o777, false), (0o1777, true), (0o1770, true)]
        {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let reason = distrust_folder(folder.path());
            assert_eq!(reason.is_none(), believed, "{mode:o}: {reason:?}");
        }
        let own = folder.path().join("none/below");
        assert_eq!(distrust_folder(&own), None);
        create_own_folder(&own).unwrap();
        for made in [&own, &folder.path().join("none")] {
            assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700);
        }
        create_own_folder(&own).unwrap();
    }
}
