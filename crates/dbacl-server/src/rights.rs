// SPDX-License-Identifier: GPL-3.0-or-later
//! Who may teach whose filter.

use crate::budget::Peer;
use crate::config::{Config, Learn};
use crate::users::Users;
use nix::unistd::{Uid, User};

/// What somebody who has connected may teach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    Nothing,
    /// Everybody's filters.
    All,
    /// The filter of the user with this number.
    Own(u32),
}

impl Rights {
    /// The rights of a peer. The kernel says which user has connected to a socket.
    pub fn of(config: &Config, peer: Peer) -> Self {
        match (config.learn, peer) {
            (Learn::Nowhere, _) | (Learn::Sockets, Peer::Host(_)) => Self::Nothing,
            (Learn::Everywhere, Peer::Host(_)) => Self::All,
            (Learn::Sockets | Learn::Everywhere, Peer::User(user)) => {
                let is_trusted = user == 0
                    || user == Uid::effective().as_raw()
                    || config.teacher_numbers.contains(&user);
                if is_trusted { Self::All } else { Self::Own(user) }
            }
        }
    }

    /// The user whose filter is taught, where a request names `name`. This asks the system for
    /// names, which may take long.
    pub fn user(self, users: &Users, name: &str) -> Result<String, String> {
        let number = match self {
            Self::Nothing => return Err("learning is not allowed here".into()),
            Self::All => return Ok(name.to_owned()),
            Self::Own(number) => number,
        };
        let own = User::from_uid(Uid::from_raw(number)).ok().flatten().map(|user| user.name);
        let own = own.ok_or_else(|| format!("the user {number} has no name"))?;
        let is_own = name.is_empty()
            || name == own
            || users.folder(name).is_some_and(|folder| Some(folder) == users.folder(&own));
        if is_own { Ok(own) } else { Err(format!("{own} may teach only {own}'s filter")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn the_kernel_says_who_teaches() {
        let host = Peer::Host(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let stranger = Uid::effective().as_raw() + 4321;
        let mut config = Config { teacher_numbers: vec![stranger + 1], ..Config::default() };
        assert_eq!(Rights::of(&config, host), Rights::Nothing);
        assert_eq!(Rights::of(&config, Peer::User(0)), Rights::All);
        assert_eq!(Rights::of(&config, Peer::User(stranger + 1)), Rights::All);
        assert_eq!(Rights::of(&config, Peer::User(stranger)), Rights::Own(stranger));
        config.learn = Learn::Nowhere;
        assert_eq!(Rights::of(&config, Peer::User(0)), Rights::Nothing);
        config.learn = Learn::Everywhere;
        assert_eq!(Rights::of(&config, host), Rights::All);
    }

    #[test]
    fn users_teach_their_own_name_only() {
        let (number, own) = match User::from_name("nobody") {
            Ok(Some(nobody)) => (nobody.uid.as_raw(), nobody.name),
            _ => return dbacl_testing::skip("users teach their own name", "no user nobody"),
        };
        let users = Users { delimiter: Some('+'), ..Users::default() };
        let teaches = |pattern: &str, name: &str| {
            let users = Users { pattern: Some(pattern.into()), ..users.clone() };
            Rights::Own(number).user(&users, name)
        };
        for name in ["", "nobody", "Nobody", "nobody+list"] {
            assert_eq!(teaches("/m/{user}", name), Ok(own.clone()), "{name}");
        }
        for name in ["alice", "nobody@example.org", "root", "../nobody"] {
            let refused = teaches("/m/{user}", name).expect_err(name);
            assert_eq!(refused, "nobody may teach only nobody's filter");
        }
        assert_eq!(teaches("/m/{local}", "nobody@example.org"), Ok(own));
        assert_eq!(Rights::All.user(&users, "alice"), Ok("alice".into()));
        assert!(Rights::Nothing.user(&users, "alice").is_err());
    }
}
