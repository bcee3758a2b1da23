#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How well a mail filter carries over to mail of other times and sources (docs/lab/mail.md).
#
#   mail-transfers.sh CORPORA [--caution NAME] [--draws N] [ROW...]
#
# CORPORA is a folder with unpacked corpora: spamassassin, lingspam, laterserver, enron, phishing,
# list2019. Rows are later list stay older home test few copies arrival wrong phishing enron ling
# words headers stream.
set -eu
exec cargo run --quiet --profile quick --example mail_transfers -- "$@"
