# SPDX-License-Identifier: GPL-3.0-or-later
# A mail that a person moves out of the junk folder is none, unless it is thrown away.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];
if environment :matches "imap.mailbox" "*" {
  set "mailbox" "${1}";
}
if string :matches "${mailbox}" ["Trash", "*/Trash", "*.Trash", "Bin", "Deleted", "Deleted Items",
    "Deleted Messages", "Papierkorb", "Corbeille", "Papelera", "Cestino"] {
  stop;
}
if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy :try "dbacl-learn" ["ham", "${user}"];
