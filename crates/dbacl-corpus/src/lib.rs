// SPDX-License-Identifier: GPL-3.0-or-later
//! Files and folders → labelled documents, one after the other.
//!
//! | format | a document is | found by |
//! |---|---|---|
//! | `tsv` | a line: label, tab, text | `.tsv`, `.tab`, or a tab in the first line |
//! | `fasttext` | a line with one word that begins with `__label__` | that, in the first line |
//! | `ndjson` | a line: a JSON object with members `label` and `text` | `.ndjson`, `.jsonl`, `{` |
//! | `csv` | a row; the first row names the columns | `.csv` |
//! | `folder` | a file in a folder that is called like its label | it is a folder |
//! | `lines` | a line, without a label | not by itself |
//!
//! Nothing is held in memory but the document at hand, of at most [`LONGEST`] bytes. Errors name
//! file and line.

#![warn(missing_docs)]

mod document;
mod folder;
pub mod label;
mod lines;
mod table;

pub use document::{DataError, Format, LONGEST, Notes, Reading, Record, Sink};
pub use folder::entries;
pub use lines::{Fields, LineFault, read_line};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Reads the documents of the file or folder at `path`, `-` for standard input.
///
/// ```
/// use dbacl_corpus::{Reading, read};
///
/// # let folder = std::env::temp_dir().join(format!("dbacl-corpus-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("sms.tsv");
/// std::fs::write(&path, "ham\tsee you at home\nspam\twin a prize\n")?;
/// let mut labels = Vec::new();
/// read(&path, &Reading::default(), &mut |record| {
///     labels.push(record.label.to_owned());
///     Ok(())
/// })?;
/// assert_eq!(labels, ["ham", "spam"]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the operating system, lines that break the rules of their format, and those of `take`.
pub fn read(path: &Path, reading: &Reading, take: Sink<'_>) -> Result<Notes, DataError> {
    read_noticing(path, reading, take, &mut || {})
}

/// The same; `waits` is called before each time that the program may wait for input.
///
/// # Errors
/// Those of [`read`].
pub fn read_noticing(
    path: &Path,
    reading: &Reading,
    take: Sink<'_>,
    waits: &mut dyn FnMut(),
) -> Result<Notes, DataError> {
    let buffered = |input: &mut dyn Read, waits: &mut dyn FnMut(), path: &Path, take: Sink<'_>| {
        let noticing = Noticing { input, waits };
        read_from(BufReader::with_capacity(1 << 16, noticing), path, reading, take)
    };
    if path.as_os_str() == "-" {
        return buffered(&mut io::stdin().lock(), waits, Path::new("-"), take);
    }
    let is_folder = std::fs::metadata(path).map_err(|error| DataError::io(path, error))?.is_dir();
    match (reading.format, is_folder) {
        (None | Some(Format::Folder), true) => return folder::read(path, take),
        (Some(Format::Folder), false) => {
            return Err(DataError::line(path, 1, "it is no folder of folders"));
        }
        (Some(_), true) => return Err(DataError::line(path, 1, "it is a folder")),
        (_, false) => {}
    }
    let mut file = File::open(path).map_err(|error| DataError::io(path, error))?;
    buffered(&mut file, waits, path, take)
}

/// An input that tells before it is read.
struct Noticing<'a> {
    input: &'a mut dyn Read,
    waits: &'a mut dyn FnMut(),
}

impl Read for Noticing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (self.waits)();
        self.input.read(buffer)
    }
}

/// Reads documents from a stream that is called `path`.
///
/// # Errors
/// Those of [`read`].
pub fn read_from(
    mut input: impl BufRead,
    path: &Path,
    reading: &Reading,
    take: Sink<'_>,
) -> Result<Notes, DataError> {
    let beginning = input.fill_buf().map_err(|error| DataError::io(path, error))?;
    if beginning.is_empty() {
        return Err(DataError::line(path, 1, "it is empty"));
    }
    let format =
        match reading.format.or_else(|| Format::by_name(path)).or_else(|| by_content(beginning)) {
            Some(Format::Folder) | None => {
                return Err(DataError::UnknownFormat { path: path.to_path_buf() });
            }
            Some(format) => format,
        };
    if beginning.starts_with(MARK) {
        input.consume(MARK.len());
    }
    match format {
        Format::Csv => table::read(input, path, reading, take),
        _ => lines::read(input, path, (format, reading), take),
    }
}

/// The mark that some programs put before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What the first line that is not empty looks like.
fn by_content(beginning: &[u8]) -> Option<Format> {
    let beginning = beginning.strip_prefix(MARK).unwrap_or(beginning);
    let line = beginning.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    if line.trim_ascii_start().starts_with(b"{") {
        Some(Format::Ndjson)
    } else if lines::labels(line).next().is_some() {
        Some(Format::FastText)
    } else {
        line.contains(&b'\t').then_some(Format::Tsv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documents of a text as `LABEL=TEXT@LINE`, or the error.
    pub(super) fn documents(text: &[u8], name: &str, reading: &Reading) -> Result<String, String> {
        let mut out = Vec::new();
        let mut take = |record: Record<'_>| {
            let text = String::from_utf8_lossy(record.text).replace('\n', "|");
            let label = record.label.replace('\n', "|");
            out.push(format!("{label}={text}@{}", record.line));
            Ok(())
        };
        let notes = read_from(text, Path::new(name), reading, &mut take);
        let notes = notes.map_err(|error| error.to_string())?;
        out.extend(notes.text(Path::new(name)));
        Ok(out.join(" "))
    }

    #[test]
    fn formats_are_told_by_name_and_content() {
        let reading = Reading::default();
        for (name, text, expected) in [
            ("x.tsv", "__label__a b\tc\n", "__label__a b=c@1"),
            ("x", "a b\tc d\r\n\r\nb\te", "a b=c d@1 b=e@3 x:2: 1 empty line was passed over"),
            ("x.txt", "\u{feff}__label__a good day\n", "a=good day@1"),
            ("-", "{\"text\":\"t\",\"label\":7}\n", "7=t@1"),
            ("x.csv", "text,label\n\"a, b\",c\n", "c=a, b@2"),
            ("x.jsonl", "{\"label\":\"\\u00e4\",\"text\":\"\"}", "\u{e4}=@1"),
        ] {
            assert_eq!(documents(text.as_bytes(), name, &reading).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        let reading = Reading::default();
        for (name, text, expected) in [
            ("x", "", "x:1: it is empty"),
            ("x", "hello\n", "x:1: the format is not known by its name or first line"),
            ("x.tsv", "a\tb\nno tab\n", "x.tsv:2: there is no tab between label and text"),
            ("x.tsv", "a\tb\n\tno label\n", "x.tsv:2: the label is empty"),
            ("x.tsv", "a\tb\n\u{7}a\tno label\n", "x.tsv:2: the label holds a control character"),
            ("x", "__label__a b\nplain\n", "x:2: there is no label"),
            (
                "x",
                "__label__a b\n\n__label__b __label__c d\n",
                "x:3: there are 2 labels, b and c, not one only",
            ),
            (
                "x.ndjson",
                "{\"label\":\"a\",\"text\":\"b\"}\n{\"label\":\"a\"}\n",
                "x.ndjson:2: there is no member \"text\", but \"label\"",
            ),
            ("x.ndjson", "[1]\n", "x.ndjson:1: it is no JSON object"),
            (
                "x.ndjson",
                "{\"label\":[],\"text\":\"b\"}\n",
                "x.ndjson:1: the member \"label\" is no string",
            ),
            (
                "x.csv",
                "class,text\na,b\n",
                "x.csv:1: there is no column \"label\", but \"class\", \"text\"",
            ),
            (
                "x.csv",
                "label,text\na,b\nc,d,e\n",
                "x.csv:3: the row has 3 fields, the first one has 2",
            ),
            ("x.csv", "label,text\na,\"b\nc,d\n", "x.csv:2: a quoted field does not end"),
        ] {
            assert_eq!(documents(text.as_bytes(), name, &reading), Err(expected.into()), "{text}");
        }
        let long = [b"a\tb\nc\t".as_slice(), &vec![b'x'; 10_000_000], b"\n"].concat();
        let expected = "x.tsv:2: the document is longer than 8 MiB";
        assert_eq!(documents(&long, "x.tsv", &reading), Err(expected.into()));
        let long = [b"label,text\nc,\"".as_slice(), &vec![b'x'; 10_000_000], b"\"\n"].concat();
        let expected = "x.csv:2: the document is longer than 8 MiB";
        assert_eq!(documents(&long, "x.csv", &reading), Err(expected.into()));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
        for line in [
            &br#"{"label":"a","text":"b"#[..],
            br#"{"label":"a","text":"b"} x"#,
            br#"{"a":,"text":"b"}"#,
            br#"{"label":"a","text":"\u12"}"#,
            br#"{"label":"a","text":"\ud800"}"#,
            b"{\"label\":\"a\",\"text\":\"b\tc\"}",
            b"{\"label\":\"a\",\"text\":\"\xff\"}",
            b"label",
            deep.as_bytes(),
        ] {
            let fault = documents(line, "x.ndjson", &Reading::default()).expect_err("not JSON");
            assert!(fault.starts_with("x.ndjson:1: it is no JSON: "), "{fault}");
        }
    }

    #[test]
    fn members_that_are_not_asked_for_and_blanks_around_labels_do_not_count() {
        for (name, text, expected) in [
            (
                "x.ndjson",
                r#"{"id":[1,{"a":"}"}],"n":-1.5e3,"t":null,"label":"a","text":""}"#,
                "a=@1",
            ),
            ("x.ndjson", r#"{"label":"a","text":"b","text":"c"}"#, "a=c@1"),
            ("x.ndjson", r#"{"label":false,"text":null}"#, "false=@1"),
            ("x.tsv", " a \t b\n  \nc\t\n", "a= b@1 c=@3 x.tsv:2: 1 empty line was passed over"),
            (
                "x.csv",
                "label, text\n a, b\n",
                "x.csv:1: there is no column \"text\", but \"label\", \" text\"",
            ),
            ("x.csv", "label,text\n a , b\n", "a= b@2"),
        ] {
            let found = documents(text.as_bytes(), name, &Reading::default());
            assert_eq!(found.unwrap_or_else(|fault| fault), expected);
        }
    }

    #[test]
    fn documents_may_have_several_labels_or_none() {
        let reading = Reading { has_several: true, ..Reading::default() };
        for (name, text, expected) in [
            ("x.tsv", "b, a\tc\n\td\n", "b|a=c@1 =d@2"),
            ("x", "__label__a x __label__b\ny\n", "a|b=x@1 =y@2"),
            ("x.ndjson", "{\"label\":[\"a\",2],\"text\":\"t\"}\n", "a|2=t@1"),
            ("x.ndjson", "{\"label\":[],\"text\":\"t\"}\n", "=t@1"),
            ("x.csv", "label,text\n\"a,b\",t\n", "a|b=t@2"),
        ] {
            assert_eq!(documents(text.as_bytes(), name, &reading).as_deref(), Ok(expected));
        }
        let given = Reading { separator: "/".into(), ..reading };
        assert_eq!(documents(b"a,b/c\tx\n", "x.tsv", &given).as_deref(), Ok("a,b|c=x@1"));
        let fault = documents(b"a//b\tx\n", "x.tsv", &given);
        assert_eq!(fault, Err("x.tsv:1: the label is empty".into()));
    }

    #[test]
    fn documents_may_be_named() {
        let reading = Reading { id: Some("key".into()), needs_label: false, ..Reading::default() };
        for (name, text) in
            [("x.csv", "key,text\nk7,t\n"), ("x.ndjson", "{\"key\":\"k7\",\"text\":\"t\"}")]
        {
            let mut found = String::new();
            let mut take = |record: Record<'_>| {
                found.push_str(record.id);
                Ok(())
            };
            read_from(text.as_bytes(), Path::new(name), &reading, &mut take).unwrap();
            assert_eq!(found, "k7");
        }
    }

    #[test]
    fn columns_have_names() {
        let text = ["title".to_owned(), "body".to_owned()];
        let reading = Reading { label: "class".into(), text: text.into(), ..Reading::default() };
        let csv = "title,class,body\nT,c,\"B\nb\"\nU,d,\n";
        let expected = "c=T|B|b@2 d=U|@4";
        assert_eq!(documents(csv.as_bytes(), "x.csv", &reading).as_deref(), Ok(expected));
        let ndjson = "{\"title\":\"T\",\"body\":\"B\",\"class\":true}\n";
        assert_eq!(documents(ndjson.as_bytes(), "x", &reading).as_deref(), Ok("true=T|B@1"));
    }

    #[test]
    fn texts_alone_need_no_label() {
        let reading = |format| Reading { format, needs_label: false, ..Reading::default() };
        for (name, format, text, expected) in [
            ("-", Some(Format::Lines), "a\tb\n\nc\n", "=a\tb@1 =@2 =c@3"),
            ("-", Some(Format::Tsv), "a\tb\n", "=b@1"),
            ("-", Some(Format::FastText), "__label__a b c\nd\n", "=b c@1 =d@2"),
            ("x.ndjson", None, "{\"text\":\"b\"}\n", "=b@1"),
            ("x.csv", None, "text\nb\n", "=b@2"),
        ] {
            let found = documents(text.as_bytes(), name, &reading(format));
            assert_eq!(found.as_deref(), Ok(expected));
        }
    }
}
