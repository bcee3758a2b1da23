// SPDX-License-Identifier: GPL-3.0-or-later
//! Operands → labelled documents.
//!
//! | operand | documents |
//! |---|---|
//! | `FOLDER` | each folder or file in it is a category of that name |
//! | `NAME=FOLDER` | each file below it, or a mailbox's messages; a Maildir's `cur` and `new` |
//! | `NAME=FILE` | the messages of a mailbox; else every line |
//! | `FILE.tsv`, `FILE.ndjson`, `FILE.csv` | labelled documents, as [`dbacl::corpus`] reads them |
//! | `--index FILE` | every line: category, blank, path |

use crate::mbox::Messages;
use crate::protocol::Document;
use dbacl::corpus::{DataError, Format, Reading, Record};
use dbacl::mail::contents::{Contents, ENOUGH};
use dbacl::mail::from_line::FROM;
use dbacl::mail::reader::{Canonical, parts};
use dbacl::mail::scanner::{Holds, is_mailbox};
use dbacl_cli::status;
use dbacl_files::reading::read_regular;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Labelled documents, and the categories' names in order.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// Names of the categories, sorted.
    pub categories: Vec<String>,
    /// The documents, in the order given.
    pub documents: Vec<Document>,
    /// Documents from this number on are for tests only.
    pub first_test: Option<usize>,
    /// Whether the order of the documents is that of time: of lines, or of an index.
    pub is_ordered: bool,
}

/// Reads documents, category names still as text.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    labels: Vec<String>,
    documents: Vec<Document>,
    first_test: Option<usize>,
    folders: usize,
    /// Paths of categories without documents.
    empty: Vec<String>,
}

/// Why documents cannot be read, after one of [`dbacl_cli::status`] to end with.
pub(crate) type Refusal = (u8, String);

type Outcome<T = ()> = Result<T, Refusal>;

/// A refusal of documents that are not as they should be.
pub(crate) fn unfit(text: impl Into<String>) -> Refusal {
    (status::DATA, text.into())
}

fn refused(error: &DataError) -> Refusal {
    let status = match error {
        DataError::Io { source, .. } => status::of_input(source),
        _ => status::DATA,
    };
    (status, error.to_string())
}

fn about(path: &Path, error: &std::io::Error) -> Refusal {
    (status::of_input(error), format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|error| about(path, &error))
}

fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    dbacl::corpus::entries(folder).map_err(|error| refused(&error))
}

/// The category of a name. Bytes that are not UTF-8 are written as `\xe9`, so that different names
/// stay different categories.
fn label_of(name: &OsStr) -> String {
    name.to_str().map_or_else(|| name.as_bytes().escape_ascii().to_string(), str::to_owned)
}

impl Gatherer {
    /// Documents that follow are for tests only.
    pub(crate) fn begin_tests(&mut self) {
        self.first_test.get_or_insert(self.documents.len());
    }

    fn push(&mut self, label: &str, name: String, bytes: Vec<u8>) {
        self.labels.push(label.to_owned());
        self.documents.push(Document { name, truth: 0, bytes });
    }

    /// Reads one operand.
    pub(crate) fn add(&mut self, operand: &OsStr) -> Outcome {
        let path = Path::new(operand);
        let bytes = operand.as_bytes();
        let equals = bytes.iter().position(|&byte| byte == b'=');
        let operand = operand.display();
        if let Some(at) = equals.filter(|_| !path.exists()) {
            let [label, path] = [&bytes[..at], &bytes[at + 1..]].map(OsStr::from_bytes);
            if label.is_empty() {
                return Err(unfit(format!("{operand}: the category has no name")));
            }
            return self.category(&label_of(label), Path::new(path));
        }
        let data = fs::metadata(path).map_err(|error| about(path, &error))?;
        if data.is_dir() {
            return self.categories(path);
        }
        if Format::by_name(path).is_some() {
            return self.labelled(path);
        }
        Err(unfit(format!(
            "{operand}: which category is it? Say NAME={operand}, or give a .tsv, a .ndjson, a \
             .csv or a folder with one entry for each category"
        )))
    }

    /// A folder with one entry for each category.
    fn categories(&mut self, folder: &Path) -> Outcome {
        let entries = entries(folder)?;
        if entries.iter().any(|path| path.is_dir()) || entries.len() > 1 {
            for path in entries {
                let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
                self.category(&label_of(name.unwrap_or_default()), &path)?;
            }
            return Ok(());
        }
        Err(unfit(format!("{}: no folder with one entry for each category", folder.display())))
    }

    fn category(&mut self, label: &str, path: &Path) -> Outcome {
        let before = self.documents.len();
        self.documents_of(label, path)?;
        if self.documents.len() == before {
            self.empty.push(path.display().to_string());
        }
        Ok(())
    }

    fn documents_of(&mut self, label: &str, path: &Path) -> Outcome {
        let data = fs::metadata(path).map_err(|error| about(path, &error))?;
        if data.is_dir() {
            self.folders += 1;
            return self.folder(label, path);
        }
        let bytes = read(path)?;
        let place = path.display();
        if bytes.starts_with(FROM) || is_mailbox(&bytes) {
            self.folders += 1;
            return self.mailbox(label, path, &bytes);
        }
        for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                self.push(label, format!("{place}:{}", number + 1), line.to_vec());
            }
        }
        Ok(())
    }

    fn mailbox(&mut self, label: &str, path: &Path, bytes: &[u8]) -> Outcome {
        let place = path.display();
        let mailbox = BufReader::new(Canonical::new(bytes, Holds::Mailbox).quoting_all());
        for (message, number) in Messages::new(mailbox).zip(1..) {
            let message = message.map_err(|error| about(path, &error))?;
            self.push(label, format!("{place}#{number}"), message);
        }
        Ok(())
    }

    fn folder(&mut self, label: &str, folder: &Path) -> Outcome {
        for path in entries(folder)? {
            if path.is_dir() {
                // Mail in `tmp` of a Maildir is still being delivered and is left out.
                let is_tmp = path.file_name().is_some_and(|name| name == "tmp")
                    && folder.join("cur").is_dir();
                if !is_tmp {
                    self.folder(label, &path)?;
                }
            } else {
                let bytes = read_regular(&path).map_err(|error| about(&path, &error))?;
                match Contents::of(&bytes[..bytes.len().min(ENOUGH)]) {
                    // A single message stays as it is.
                    Contents::Mailbox if parts(&bytes).len() > 1 => {
                        self.mailbox(label, &path, &bytes)?;
                    }
                    _ => self.push(label, path.display().to_string(), bytes),
                }
            }
        }
        Ok(())
    }

    /// A file of labelled documents.
    fn labelled(&mut self, path: &Path) -> Outcome {
        let mut take = |record: Record<'_>| {
            let name = format!("{}:{}", path.display(), record.line);
            self.push(record.label, name, [record.text, b"\n"].concat());
            Ok(())
        };
        let reading = Reading { finds_columns: true, ..Reading::default() };
        dbacl::corpus::read(path, &reading, &mut take).map(drop).map_err(|error| refused(&error))
    }

    /// Reads an index: lines of category, blank, path below the index's folder.
    pub(crate) fn index(&mut self, path: &Path) -> Outcome {
        let bytes = read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let Some(label) = words.next() else { continue };
            let Some(name) = words.next().map(OsStr::from_bytes) else {
                return Err(unfit(format!("{}:{}: no path", path.display(), number + 1)));
            };
            let label = label_of(OsStr::from_bytes(label));
            let file = folder.join(name);
            let bytes = read(&file)?;
            self.push(&label, file.display().to_string(), bytes);
        }
        Ok(())
    }

    /// The corpus.
    pub(crate) fn finish(self) -> Outcome<Corpus> {
        let Self { labels, mut documents, first_test, folders, empty } = self;
        let mut numbers: BTreeMap<&str, usize> =
            labels.iter().map(|label| (label.as_str(), 0)).collect();
        for (number, value) in numbers.values_mut().enumerate() {
            *value = number;
        }
        for (document, label) in documents.iter_mut().zip(&labels) {
            document.truth = numbers[label.as_str()];
        }
        let categories: Vec<String> = numbers.keys().map(|&label| label.to_owned()).collect();
        if categories.len() < 2 {
            return Err(unfit(format!(
                "at least two categories are needed, and there is {}{}",
                categories.first().map_or("none".to_owned(), |only| format!("only \"{only}\"")),
                empty.iter().map(|path| format!("; {path} has no documents")).collect::<String>()
            )));
        }
        if categories.len() > 255 {
            let text = format!("{} categories are too many; 255 are possible", categories.len());
            return Err(unfit(text));
        }
        if let Some(first) = first_test {
            for (number, name) in categories.iter().enumerate() {
                if !documents[..first].iter().any(|document| document.truth == number) {
                    return Err(unfit(format!("category \"{name}\" has no documents to learn")));
                }
            }
            if first == documents.len() {
                return Err(unfit("there are no test documents"));
            }
        }
        Ok(Corpus { categories, documents, first_test, is_ordered: folders == 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_testing::Scratch;

    /// Writes a file; returns its path.
    fn written(scratch: &Scratch, name: &str, text: &str) -> String {
        scratch.write(name, text);
        scratch.path(name).display().to_string()
    }

    #[test]
    fn every_kind_of_operand_is_read() {
        let scratch = Scratch::new();
        let write = |name: &str, text: &str| written(&scratch, name, text);
        write("mail/ham/cur/2", "b");
        write("mail/ham/new/1", "a");
        write("mail/ham/tmp/1", "not yet");
        write("mail/ham/.x", "hidden");
        let first = "From a Mon Jan  1 00:00:00 2024";
        write("several/ham/old", &format!("{first}\n\nx\n\n{first}\n\ny\n"));
        write("several/ham/one", &format!("{first}\n\nx"));
        write("several/spam/From the beginning", "From the beginning\n");
        let second = "From b Mon Jan  1 00:00:00 2024";
        write("mail/spam.mbox", &format!("From a\n\nx\n\n{second}\n\nFrom y\n"));
        let lines = write("lines", "one\n\ntwo\n");
        let table = write("x.tsv", "spam\tbuy\there\nham\thello\n");
        let json = write(
            "x.ndjson",
            "{\"label\":\"ham\",\"text\":\"h\\u00e4 \\\"x\\\"\"}\n{\"text\":\"\",\"label\":7}\n",
        );
        let index = write("index", "spam lines user genre\nham mail/ham/cur/2\n");
        let messages = format!("ham:b ham:a spam:From a\n\nx\n\n spam:{second}\n\n>From y\n\n");
        let several = format!(
            "ham:{first}\n\nx\n\n ham:{first}\n\ny\n\n ham:{first}\n\nx spam:From the beginning\n"
        );
        for (operand, expected) in [
            (scratch.path("mail").display().to_string(), messages.as_str()),
            (scratch.path("several").display().to_string(), several.as_str()),
            (format!("ham={lines}"), "ham:one\n ham:two\n"),
            (table, "spam:buy\there\n ham:hello\n"),
            (json, "ham:h\u{e4} \"x\"\n 7:\n"),
        ] {
            let mut gatherer = Gatherer::default();
            gatherer.add(operand.as_ref()).expect("readable");
            assert_eq!(show(&gatherer), expected, "{operand}");
        }
        let mut gatherer = Gatherer::default();
        gatherer.index(Path::new(&index)).expect("readable");
        assert_eq!(show(&gatherer), "spam:one\n\ntwo\n ham:b");
        let corpus = gatherer.finish().expect("two categories");
        assert_eq!(corpus.categories, ["ham", "spam"]);
        assert_eq!(corpus.documents[0].truth, 1);
        assert!(corpus.is_ordered);
    }

    fn show(gatherer: &Gatherer) -> String {
        let shown = gatherer.labels.iter().zip(&gatherer.documents).map(|(label, document)| {
            format!("{label}:{}", String::from_utf8_lossy(&document.bytes))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn missing_operands_are_named_in_errors() {
        let scratch = Scratch::new();
        let write = |name: &str, text: &str| written(&scratch, name, text);
        let complaint = |operand: &str| {
            let mut gatherer = Gatherer::default();
            let done = gatherer.add(operand.as_ref()).and_then(|()| gatherer.finish().map(|_| ()));
            let (status, text) = done.expect_err(operand);
            let expected = if operand == "/nowhere" { status::NO_INPUT } else { status::DATA };
            assert_eq!(status, expected, "{text}");
            text
        };
        assert!(complaint("/nowhere").contains("/nowhere"));
        assert!(complaint(&write("a.txt", "x")).contains("which category"));
        assert!(
            complaint(&write("a.tsv", "ham\tx\nspam x\n")).contains("a.tsv:2: there is no tab")
        );
        assert!(complaint(&write("b.tsv", "ham\tx\n")).contains("only \"ham\""));
        assert!(complaint(&write("a.jsonl", "{\"text\":\"x\"}\n")).contains("label"));
        assert!(complaint(&write("b.jsonl", "{\n")).contains("b.jsonl:1:"));
    }
}
