# SPDX-License-Identifier: GPL-3.0-or-later
# A mail that a person moves into the junk folder is spam. A mail that cannot be learned is moved
# all the same.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];
if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy :try "dbacl-learn" ["spam", "${user}"];
