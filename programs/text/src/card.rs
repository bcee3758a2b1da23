// SPDX-License-Identifier: GPL-3.0-or-later
//! `card`: model and labelled documents → a page about the model, in Markdown.

use super::options::CardArguments;
use super::{Failure, open, print, report, test};
use dbacl::text::TextModel;

pub(crate) fn run(arguments: &CardArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let found = test::measure(&model, &arguments.data, false)?;
    let name = arguments.model.file_name().unwrap_or(arguments.model.as_os_str());
    let data = arguments.data.data.file_name().unwrap_or(arguments.data.data.as_os_str());
    print(&format!(
        "# {}\n\nA text classifier of {} labels, learned from {} documents by dbacl-text {}: {} \
         bytes.\n\n## Made by\n\n    dbacl-text train DOCUMENTS -o {}{}\n\nThe same documents and \
         options make the same bytes.\n\n```text\n{}```\n\n## Measured on {}\n\n```text\n{}```\n\n\
         ## Limits\n\nA text of another kind gets one of the labels, too, with the probability \
         that its known words give it. {}\n",
        name.display(),
        model.labels().len(),
        model.documents().iter().sum::<u64>(),
        env!("CARGO_PKG_VERSION"),
        model.to_bytes().len(),
        name.display(),
        options(&model),
        report::info_text(&model),
        data.display(),
        found,
        if model.has_several() {
            "A text without labels is one that none of them fits."
        } else {
            "`predict --at-least P` leaves texts unanswered; the table above says how many."
        }
    ))
}

/// The options that make the model again, each after a blank.
fn options(model: &TextModel) -> String {
    model.recipe().spelling().iter().map(|option| format!(" {option}")).collect()
}
