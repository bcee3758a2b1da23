// SPDX-License-Identifier: GPL-3.0-or-later
//! Who speaks.

use std::net::{IpAddr, Ipv6Addr};

/// Who sends: a host, or a user of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A host by its address, or by its network of 64 bits for IPv6.
    Host(IpAddr),
    /// A user by number.
    User(u32),
}

impl Peer {
    /// The host with this address.
    pub fn host(address: IpAddr) -> Self {
        Self::Host(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            IpAddr::V4(address) => IpAddr::V4(address),
        })
    }
}
