// SPDX-License-Identifier: GPL-3.0-or-later
//! Other IMAP servers than Dovecot, from Debian's packages. Each is a script in `tests/servers`;
//! without its programs it is skipped.

dbacl_testing::scripts! {
    "programs/imap/tests/servers":
    courier_has_no_extensions = "courier";
    cyrus_has_all_extensions = "cyrus";
}
