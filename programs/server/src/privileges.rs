// SPDX-License-Identifier: GPL-3.0-or-later
//! What the process may do: becoming another user, and how many files it may open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Gid, Group, Uid, User, initgroups, setgid, setgroups, setuid};
use std::ffi::CString;

/// Looks up a user, with this group in place of the user's if there is one.
pub(crate) fn find_user(user: &str, group: Option<&str>) -> Result<User, String> {
    let found = User::from_name(user).map_err(|error| format!("user {user}: {error}"))?;
    let mut found = found.ok_or_else(|| format!("there is no user {user}"))?;
    if let Some(group) = group {
        let own = Group::from_name(group).map_err(|error| format!("group {group}: {error}"))?;
        found.gid = own.ok_or_else(|| format!("there is no group {group}"))?.gid;
    }
    Ok(found)
}

/// Becomes that user and gives up all other rights for good. The process must have one thread.
pub(crate) fn become_user(User { name, uid, gid, .. }: &User) -> Result<(), String> {
    if Uid::effective() == *uid && Gid::effective() == *gid {
        return Ok(());
    }
    let failed = |what: &str, error| format!("cannot {what}: {error}");
    let name = CString::new(name.as_str()).map_err(|_| "a name holds a zero byte".to_owned())?;
    initgroups(&name, *gid)
        .or_else(|_| setgroups(&[*gid]))
        .map_err(|error| failed("give up groups", error))?;
    setgid(*gid).map_err(|error| failed("change the group", error))?;
    setuid(*uid).map_err(|error| failed("change the user", error))?;
    if !uid.is_root() && setuid(Uid::from_raw(0)).is_ok() {
        return Err("the rights of root could be had back".into());
    }
    Ok(())
}

/// The limit of open files that is asked for. Connections and filters need some thousand.
const FILES: u64 = 65_536;

/// Raises the limit of open files as far as the system allows. Connections beyond it wait.
pub(crate) fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let wanted = hard.min(FILES).max(soft);
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// Whether this process runs as the superuser.
pub(crate) fn is_root() -> bool {
    Uid::effective().is_root()
}
