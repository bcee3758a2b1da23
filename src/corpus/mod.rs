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
//! Files may be in UTF-16, and compressed by gzip, bzip2, xz or zstd. Nothing is held in memory but
//! the document at hand, of at most [`LONGEST`] bytes. Errors name file and line.

mod columns;
mod document;
mod folder;
pub mod label;
mod lines;
mod packed;
mod table;
mod utf16;

use dbacl_files::format::UTF8_MARK;
use document::To;
pub use document::{Columns, DataError, Format, Handlers, LONGEST, Notes, Reading, Record, Sink};
pub use folder::entries;
pub use lines::{Fields, LineFault, read_line};
pub use packed::{name_within, read_text};
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// Reads the documents of the file or folder at `path`, `-` for standard input.
///
/// ```
/// use dbacl::corpus::{Reading, read};
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
    read_with(path, reading, Handlers { take, refuse: &mut Err, waits: &mut || {} })
}

/// The same, where the caller says what is done with documents that cannot be read.
///
/// # Errors
/// As for [`read`]. A document that cannot be read is an error only if `refuse` returns one.
pub fn read_with(
    path: &Path,
    reading: &Reading,
    handlers: Handlers<'_>,
) -> Result<Notes, DataError> {
    let Handlers { take, refuse, waits } = handlers;
    let mut to = To { take, refuse };
    let mut buffered = |input: &mut dyn Read, path: &Path| {
        let noticing = Noticing { input, waits };
        read_buffered(packed::buffered(noticing), path, reading, &mut to)
    };
    if path.as_os_str() == "-" {
        return buffered(&mut io::stdin().lock(), Path::new("-"));
    }
    let is_folder = std::fs::metadata(path).map_err(|error| DataError::io(path, error))?.is_dir();
    match (reading.format, is_folder) {
        (None | Some(Format::Folder), true) => return folder::read(path, to.take),
        (Some(Format::Folder), false) => {
            return Err(DataError::line(path, 1, "expected one folder for each label"));
        }
        (Some(_), true) => return Err(DataError::line(path, 1, "it is a folder")),
        (_, false) => {}
    }
    let mut file = File::open(path).map_err(|error| DataError::io(path, error))?;
    buffered(&mut file, path)
}

/// An input that calls `waits` before each read.
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
    input: impl BufRead,
    path: &Path,
    reading: &Reading,
    take: Sink<'_>,
) -> Result<Notes, DataError> {
    read_buffered(input, path, reading, &mut To { take, refuse: &mut Err })
}

fn read_buffered(
    input: impl BufRead,
    path: &Path,
    reading: &Reading,
    to: &mut To<'_>,
) -> Result<Notes, DataError> {
    match packed::open(input).map_err(|error| DataError::io(path, error))? {
        Ok(unpacked) => read_unpacked(unpacked, path, reading, to),
        Err(input) => read_unpacked(input, path, reading, to),
    }
}

/// Reads documents from a stream that is not compressed, in UTF-8 or UTF-16.
fn read_unpacked(
    mut input: impl BufRead,
    path: &Path,
    reading: &Reading,
    to: &mut To<'_>,
) -> Result<Notes, DataError> {
    let beginning = input.fill_buf().map_err(|error| DataError::io(path, error))?;
    if beginning.is_empty() {
        return Err(DataError::line(path, 1, "it is empty"));
    }
    packed::check_text(beginning, path)?;
    if let Some(is_little) = utf16::is_little(beginning) {
        let input = utf16::Utf16 { input, is_little, half: None, ready: Vec::new() };
        return read_plain(packed::buffered(input), path, reading, to);
    }
    read_plain(input, path, reading, to)
}

/// Reads documents from a stream of UTF-8, or of text that is similar.
fn read_plain(
    mut input: impl BufRead,
    path: &Path,
    reading: &Reading,
    to: &mut To<'_>,
) -> Result<Notes, DataError> {
    if input.fill_buf().map_err(|error| DataError::io(path, error))?.starts_with(UTF8_MARK) {
        input.consume(UTF8_MARK.len());
    }
    let beginning = input.fill_buf().map_err(|error| DataError::io(path, error))?;
    if reading.format.is_none() && is_list(beginning) {
        let what = "it is a JSON list; give the output of `jq -c '.[]' FILE` to standard input (-)";
        return Err(DataError::line(path, 1, what));
    }
    let unnamed = || if reading.needs_label { by_content(beginning) } else { Some(Format::Lines) };
    let named = Format::by_name(path).filter(|&own| own != Format::Tsv || reading.needs_label);
    let format = match reading.format.or(named).or_else(unnamed) {
        Some(Format::Folder) | None => {
            return Err(DataError::UnknownFormat { path: path.to_path_buf() });
        }
        Some(format) => format,
    };
    let first = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiters: &[u8] = match (format, reading.format) {
        (Format::Tsv, _) => b"\t",
        (Format::Lines, None) => b"\t,;",
        _ => b"",
    };
    let (mut format, mut reading, mut notes) = (format, reading.clone(), Notes::default());
    let mut layout = None;
    if format == Format::Csv {
        layout = Some(columns::of_table(beginning, path, &reading)?);
    } else if let Some(found) = columns::of_heading(beginning, delimiters, &reading) {
        notes.has_heading = true;
        layout = Some(found);
    } else if format == Format::Lines
        && !delimiters.is_empty()
        && columns::has_texts(first, &reading)
    {
        notes.has_heading = true;
        format = Format::Ndjson;
    } else if format == Format::Ndjson
        && let Some((other, found)) = columns::of_objects(first, &reading)
    {
        (reading, notes.columns) = (other, Some(found));
    } else if format != Format::Ndjson {
        columns::check_unnamed(beginning, path, &reading)?;
    }
    match layout {
        Some(layout) => table::read(input, path, (&reading, layout), to, notes),
        None => lines::read(input, path, (format, &reading), to, notes),
    }
}

/// Whether a JSON list of objects begins so.
fn is_list(beginning: &[u8]) -> bool {
    let visible = beginning.iter().filter(|byte| !byte.is_ascii_whitespace());
    visible.take(3).eq(b"[{\"")
}

/// What the first line that is not empty looks like.
fn by_content(beginning: &[u8]) -> Option<Format> {
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
        out.extend(notes.has_heading.then(|| "heading".to_owned()));
        out.extend(notes.columns.map(|own| format!("columns {} and {}", own.label, own.text)));
        Ok(out.join(" "))
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let reading = Reading { needs_label: false, ..Reading::default() };
        let tar = [b"a.tsv".as_slice(), &[0; 252], b"ustar\0", &[0; 249]].concat();
        let sheet = [b"PK\x03\x04".as_slice(), &[0; 26], b"xl/workbook.xml"].concat();
        for (text, expected) in [
            (&b"PK\x03\x04\x14\0"[..], "x:1: it is a zip archive; give the output of `unzip"),
            (&tar[..], "x:1: it is a tar archive; give the output of `tar"),
            (b"\x89PNG\r\n\x1a\n", "x:1: it is a picture"),
            (&sheet[..], "x:1: it is an office document; save it as text or CSV"),
            (b"BZh is a way to pack\n", "=BZh is a way to pack@1"),
            (b"[\n {\"text\":\"b\"}]\n", "x:1: it is a JSON list; give the output of `jq"),
            (b"[{b} c\n", "=[{b} c@1"),
        ] {
            let found = documents(text, "x", &reading).unwrap_or_else(|fault| fault);
            assert!(found.starts_with(expected), "{found}");
        }
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
                "x.ndjson:1: the member \"label\" is not a string",
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
    fn what_can_be_read_is_read_after_what_cannot() {
        let long = "x".repeat(10_000_000);
        for (name, text, expected) in [
            ("x.ndjson", "{\n{\"label\":\"a\",\"text\":\"b\"}\n[]\n".to_owned(), "1 a=b@2 3"),
            ("x.tsv", "a\tb\nc\na\td\n".into(), "a=b@1 2 a=d@3"),
            ("x.tsv", format!("a\tb\n{long}\na\td\n"), "a=b@1 2 a=d@3"),
            ("x.csv", "label,text\na\na,b,c\na,b\n,d\n".into(), "2 3 a=b@4 5"),
            ("x.csv", "label,text\na,\"b\nc\"\nd\na,\"b\n\"\n".into(), "a=b\nc@2 4 a=b\n@5"),
        ] {
            let found = std::cell::RefCell::new(Vec::new());
            let mut take = |record: Record<'_>| {
                let text = String::from_utf8_lossy(record.text);
                found.borrow_mut().push(format!("{}={text}@{}", record.label, record.line));
                Ok(())
            };
            let mut refuse = |error: DataError| match error {
                DataError::Line { line, .. } => {
                    found.borrow_mut().push(line.to_string());
                    Ok(())
                }
                other => Err(other),
            };
            let mut to = To { take: &mut take, refuse: &mut refuse };
            read_buffered(text.as_bytes(), Path::new(name), &Reading::default(), &mut to).unwrap();
            assert_eq!(found.into_inner().join(" "), expected);
        }
    }

    #[test]
    fn a_field_that_does_not_end_is_no_document() {
        let mut taken = Vec::new();
        let mut take = |record: Record<'_>| {
            taken.push(record.text.to_vec());
            Ok(())
        };
        let mut to = To { take: &mut take, refuse: &mut |error| Err(error) };
        let table = b"label,text\na,\"b\nc\"\na,\"d\na,e\n".as_slice();
        let read = read_buffered(table, Path::new("x.csv"), &Reading::default(), &mut to);
        assert!(read.is_err());
        assert_eq!(taken, [b"b\nc"]);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
        for line in [
            &br#"{"label":"a","text":"b"#[..],
            br#"{"label":"a","text":"b"} x"#,
            br#"{"a":,"text":"b"}"#,
            br#"{"label":"a","text":"\u12"}"#,
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
            ("x.ndjson", r#"{"label":"a","text":-1.5}"#, "a=-1.5@1"),
            (
                "x.ndjson",
                r#"{"label":"\udc00","text":"\ud83cb\ud83c\udf89\\ud83c \ude00\ud83d"}"#,
                "\u{fffd}=\u{fffd}b\u{1f389}\\ud83c \u{fffd}\u{fffd}@1",
            ),
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
