// SPDX-License-Identifier: GPL-3.0-or-later
//! Other filters on the same folds, behind a wrapper (spec tools 3.5).
//!
//! `WRAPPER learn FOLDER/CATEGORY` reads a mailbox; `WRAPPER score FOLDER/CATEGORY...` reads a
//! message and prints its verdict and a number that is larger the more the message looks like the
//! positive category. A wrapper without `score` is asked to `filter`, which prints the verdict
//! alone.

use crate::command::{ShellCommand, about, description};
use crate::protocol::{Findings, Judged, Run};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A document as a mailbox holds it.
fn write_message(out: &mut impl Write, document: &[u8]) -> io::Result<()> {
    if !document.starts_with(b"From ") {
        out.write_all(b"From nobody@localhost Thu Jan  1 00:00:00 1970\n")?;
    }
    for (number, line) in document.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if number > 0 && line.starts_with(b"From ") {
            out.write_all(b">")?;
        }
        out.write_all(line)?;
    }
    out.write_all(if document.ends_with(b"\n") { b"\n" } else { b"\n\n" })
}

/// A verdict and, if there is one, a number.
fn parse(answer: &[u8], categories: &[String]) -> (Option<usize>, f64) {
    let answer = String::from_utf8_lossy(answer);
    let mut words = answer.split_whitespace();
    let verdict = words.next().and_then(|word| categories.iter().position(|name| name == word));
    let score = words.next().and_then(|word| word.parse().ok());
    (verdict, score.unwrap_or(f64::NAN))
}

/// Learns and classifies with the filter of `wrapper`, one message for each thread of the run at a
/// time.
pub(crate) fn perform(
    wrapper: &Path,
    run: &Run<'_>,
    categories: &[String],
) -> io::Result<Findings> {
    let &Run { documents, plan, threads, meter, .. } = run;
    let wrapper = fs::canonicalize(wrapper).map_err(|error| about(wrapper, &error))?;
    let sets = plan
        .parts(documents.len())
        .ok_or_else(|| io::Error::other("other filters are compared with folds or --test only"))?;
    let mut findings = Findings::default();
    let mut silent = 0;
    for (fold, (training, testing)) in sets.into_iter().enumerate() {
        let folder = tempfile::tempdir()?;
        let paths: Vec<PathBuf> = categories.iter().map(|name| folder.path().join(name)).collect();
        for (category, path) in paths.iter().enumerate() {
            let mailbox = folder.path().join(format!("{category}.mailbox"));
            let mut out = BufWriter::new(File::create(&mailbox)?);
            for &document in training.iter().filter(|&&at| documents[at].truth == category) {
                write_message(&mut out, &documents[document].bytes)?;
                meter.fetch_add(1, Ordering::Relaxed);
            }
            out.into_inner().map_err(io::IntoInnerError::into_error)?;
            let learner = ShellCommand::wrapper(&wrapper, "learn");
            if !learner.learn(path, &[], std::slice::from_ref(&mailbox))? {
                let text =
                    format!("{} could not learn \"{}\"", wrapper.display(), categories[category]);
                return Err(io::Error::other(text));
            }
            fs::remove_file(mailbox)?;
        }
        let ask = |verb: &str, chunk: &[usize]| {
            let messages: Vec<Vec<u8>> =
                chunk.iter().map(|&document| documents[document].bytes.clone()).collect();
            ShellCommand::wrapper(&wrapper, verb).ask_all(&paths, &messages, threads)
        };
        let scores = match testing.first() {
            Some(&first) => {
                let answers = ask("score 2>/dev/null", &[first])?;
                answers.first().is_some_and(|answer| parse(answer, categories).0.is_some())
            }
            None => false,
        };
        for chunk in testing.chunks(100) {
            let answers = ask(if scores { "score" } else { "filter" }, chunk)?;
            for (&document, answer) in chunk.iter().zip(&answers) {
                let (verdict, margin) = parse(answer, categories);
                silent += usize::from(verdict.is_none());
                let truth = documents[document].truth;
                let judged = Judged { document, fold, truth, verdict, margin, ..Judged::default() };
                findings.judged.push(judged);
            }
            meter.fetch_add(chunk.len(), Ordering::Relaxed);
        }
    }
    if silent > 0 {
        let text = format!("no verdict on {silent} documents; they count as errors");
        findings.warnings.insert(text);
    }
    findings.judged.sort_by_key(|judged| judged.document);
    Ok(findings)
}

/// What a wrapper's `describe` prints; its file's name if that is nothing.
pub(crate) fn describe(wrapper: &Path) -> String {
    let path = fs::canonicalize(wrapper).unwrap_or_else(|_| wrapper.to_path_buf());
    let said = description(&path).ok().filter(|text| !text.is_empty());
    let name = || path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    String::from_utf8_lossy(&said.unwrap_or_else(name)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Document, Plan};
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn wrapped_filters_are_asked_fold_by_fold() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let wrapper = place.path().join("wrapper's");
        let script = "#!/bin/sh\n\
            command=$1; shift\n\
            case $command in\n\
            learn) cat > \"$1\" ;;\n\
            filter) message=$(cat); for path; do grep -qF \"$message\" \"$path\" && exit; done\n\
            case $message in *lose*) echo spam;; *mum*) echo ham;; esac ;;\n\
            describe) echo mock ;;\n\
            *) exit 1 ;;\n\
            esac\n";
        dbacl_testing::scripts::write(&wrapper, script);
        assert_eq!(describe(&wrapper), "mock");
        let categories = ["ham".to_owned(), "spam".to_owned()];
        let document = |truth, text: &str| Document {
            name: String::new(),
            truth,
            bytes: text.as_bytes().to_vec(),
        };
        let documents = [
            document(0, "mum 1"),
            document(1, "lose 1"),
            document(0, "mum 2"),
            document(1, "lose 2"),
            document(1, "?"),
        ];
        let plan = Plan::Folds { folds: vec![0, 0, 1, 1, 1], count: 2 };
        let (plan, meter) = (&plan, &AtomicUsize::default());
        let run =
            Run { documents: &documents, categories: 2, positive: 1, plan, threads: 2, meter };
        let findings = perform(&wrapper, &run, &categories).expect("findings");
        let verdicts: Vec<Option<usize>> =
            findings.judged.iter().map(|judged| judged.verdict).collect();
        assert_eq!(verdicts, [Some(0), Some(1), Some(0), Some(1), None]);
        assert_eq!(findings.warnings.len(), 1);
    }

    #[test]
    fn messages_stay_whole_in_a_mailbox() {
        for (message, expected) in [
            ("From a\nx\nFrom b", "From a\nx\n>From b\n\n"),
            ("x\n", "From nobody@localhost Thu Jan  1 00:00:00 1970\nx\n\n"),
        ] {
            let mut out = Vec::new();
            write_message(&mut out, message.as_bytes()).expect("memory");
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
