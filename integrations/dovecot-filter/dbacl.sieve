# SPDX-License-Identifier: GPL-3.0-or-later
require ["vnd.dovecot.filter", "fileinto", "mailbox"];
filter "dbacl";
if header :matches "X-DBACL" "spam *" {
  fileinto :create "Junk";
} elsif header :matches "X-DBACL" "unsure * spam" {
  fileinto :create "Maybe";
}
