// SPDX-License-Identifier: GPL-3.0-or-later
//! What is spoken with clients.

/// What is spoken with a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// That of `spamc`.
    Spamc,
    /// That of rspamd, over HTTP; the measures are answered there as well.
    Rspamd,
    /// That of Postfix and sendmail.
    Milter,
    /// That of filters on standard input and output.
    Opensmtpd,
    /// The measures, over HTTP.
    Metrics,
    /// The status page, over HTTP.
    Status,
}

impl Protocol {
    /// Those by which mail comes.
    pub(crate) const OF_MAIL: [Self; 4] =
        [Self::Spamc, Self::Rspamd, Self::Milter, Self::Opensmtpd];

    /// Its name in the configuration, in the log and in the measures.
    pub(crate) const fn name(self) -> &'static str {
        ["spamc", "rspamd", "milter", "opensmtpd", "metrics", "status"][self as usize]
    }
}
