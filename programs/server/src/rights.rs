// SPDX-License-Identifier: GPL-3.0-or-later
//! Who may teach whose filter.

use crate::config::{Config, Learn};
use crate::users::Users;
use dbacl_cli::listen::Peer;
use nix::unistd::{Uid, User};

/// The user whose filter a peer teaches, where its request names `name`; or why it teaches none.
/// The kernel says which user has connected to a socket. This asks the system for names, which may
/// take long.
pub(crate) fn taught_user(
    config: &Config,
    users: &Users,
    peer: Peer,
    name: &str,
) -> Result<String, String> {
    let number = match (config.learn, peer) {
        (Learn::Nowhere, _) | (Learn::Sockets, Peer::Host(_)) => {
            return Err("learning is not allowed here".into());
        }
        (Learn::Everywhere, Peer::Host(_)) => return Ok(name.to_owned()),
        (Learn::Sockets | Learn::Everywhere, Peer::User(number)) => number,
    };
    if number == 0
        || number == Uid::effective().as_raw()
        || config.teacher_numbers.contains(&number)
    {
        return Ok(name.to_owned());
    }
    let own = User::from_uid(Uid::from_raw(number)).ok().flatten().map(|user| user.name);
    let own = own.ok_or_else(|| format!("the user {number} has no name"))?;
    let is_own = name.is_empty()
        || name == own
        || users.folder(name).is_some_and(|folder| Some(folder) == users.folder(&own));
    if is_own { Ok(own) } else { Err(format!("{own} may teach only {own}'s filter")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn the_kernel_says_who_teaches() {
        let host = Peer::Host(IpAddr::V4(Ipv4Addr::LOCALHOST));
        // No user has this number.
        let stranger = u32::MAX - 9;
        let (own, nobody) = (Peer::User(stranger), format!("the user {stranger} has no name"));
        let (root, teacher) = (Peer::User(0), Peer::User(stranger + 1));
        let itself = Peer::User(Uid::effective().as_raw());
        let (all, refused) = (Ok("alice"), Err("learning is not allowed here"));
        for (learn, peer, expected) in [
            (Learn::Sockets, host, refused),
            (Learn::Sockets, root, all),
            (Learn::Sockets, teacher, all),
            (Learn::Sockets, itself, all),
            (Learn::Sockets, own, Err(nobody.as_str())),
            (Learn::Everywhere, own, Err(nobody.as_str())),
            (Learn::Nowhere, root, refused),
            (Learn::Nowhere, teacher, refused),
            (Learn::Everywhere, host, all),
        ] {
            let teacher_numbers = vec![stranger + 1];
            let config = Config { learn, teacher_numbers, ..Config::default() };
            let found = taught_user(&config, &config.users(), peer, "alice");
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{learn:?} {peer:?}");
        }
    }

    #[test]
    fn users_teach_their_own_name_only() {
        let (number, own) = match User::from_name("nobody") {
            Ok(Some(nobody)) => (nobody.uid.as_raw(), nobody.name),
            _ => return dbacl_testing::skip("users teach their own name", "no user nobody"),
        };
        let teaches = |pattern: &str, name: &str| {
            let config = Config { models: Some(pattern.into()), ..Config::default() };
            taught_user(&config, &config.users(), Peer::User(number), name)
        };
        for name in ["", "nobody", "Nobody", "nobody+list"] {
            assert_eq!(teaches("/m/{user}", name), Ok(own.clone()), "{name}");
        }
        for name in ["alice", "nobody@example.org", "root", "../nobody"] {
            let refused = teaches("/m/{user}", name).expect_err(name);
            assert_eq!(refused, "nobody may teach only nobody's filter");
        }
        assert_eq!(teaches("/m/{local}", "nobody@example.org"), Ok(own));
        // Names without a folder are not the same name.
        let refused = teaches("/m/{domain}/{local}", "alice");
        assert_eq!(refused, Err("nobody may teach only nobody's filter".into()));
    }
}
