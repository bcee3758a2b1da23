// SPDX-License-Identifier: GPL-3.0-or-later
//! What the process may do: becoming another user, and how many files it may open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Gid, Group, Uid, User, initgroups, setgid, setgroups, setuid};
use std::ffi::CString;

/// The user and the group that the process becomes.
#[derive(Debug, Clone)]
pub struct Identity {
    name: CString,
    uid: Uid,
    gid: Gid,
}

impl Identity {
    /// Looks up a user and a group; without a group, the user's.
    pub fn find(user: &str, group: Option<&str>) -> Result<Self, String> {
        let found = User::from_name(user).map_err(|error| format!("user {user}: {error}"))?;
        let found = found.ok_or_else(|| format!("there is no user {user}"))?;
        let gid = match group {
            None => found.gid,
            Some(group) => {
                let found =
                    Group::from_name(group).map_err(|error| format!("group {group}: {error}"))?;
                found.ok_or_else(|| format!("there is no group {group}"))?.gid
            }
        };
        let name = CString::new(user).map_err(|_| "a name holds a zero byte".to_owned())?;
        Ok(Self { name, uid: found.uid, gid })
    }

    /// Becomes that user and gives up all other rights for good. The process must have one thread.
    pub fn assume(&self) -> Result<(), String> {
        if Uid::effective() == self.uid && Gid::effective() == self.gid {
            return Ok(());
        }
        let failed = |what: &str, error| format!("cannot {what}: {error}");
        initgroups(&self.name, self.gid)
            .or_else(|_| setgroups(&[self.gid]))
            .map_err(|error| failed("give up groups", error))?;
        setgid(self.gid).map_err(|error| failed("change the group", error))?;
        setuid(self.uid).map_err(|error| failed("change the user", error))?;
        if !self.uid.is_root() && setuid(Uid::from_raw(0)).is_ok() {
            return Err("the rights of root could be had back".into());
        }
        Ok(())
    }
}

/// The limit of open files that is asked for. Connections and filters need some thousand.
const FILES: u64 = 65_536;

/// Raises the limit of open files as far as the system allows. Connections beyond it wait.
pub fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let wanted = hard.min(FILES).max(soft);
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// Whether this process runs as the superuser.
pub fn is_root() -> bool {
    Uid::effective().is_root()
}
