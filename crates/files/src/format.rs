// SPDX-License-Identifier: GPL-3.0-or-later
//! Common formats of files that are not text, by their first bytes.

/// The byte order mark that some programs put before UTF-8.
pub const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// A document of a word processor or spreadsheet.
const OFFICE: &str = "an office document";

/// How the first name in a zip archive begins that is such a document.
const IN_OFFICE: [&[u8]; 6] =
    [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"word/", b"mimetypeapplication/"];

/// How files of common formats begin.
const FORMATS: [(&[u8], &str); 20] = [
    (b"# dbacl mail filter\n", "a file of a mail filter"),
    (b"# dbacl model ", "a model of dbacl-text"),
    (b"# chess odds ", "a model of chess"),
    (b"\xba\x16\x4f\x2f", "a model of fastText"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"\x1f\x9d", "compressed by compress"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ\0", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"\x04\x22\x4d\x18", "compressed by lz4"),
    (b"LZIP", "compressed by lzip"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x89PNG", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OFFICE),
];

/// The format of a file that begins so, in words; `None` for text and for what is not known.
pub fn format_of(beginning: &[u8]) -> Option<&'static str> {
    let is_tar = beginning.get(257..).is_some_and(|rest| rest.starts_with(b"ustar"));
    let named = FORMATS.iter().find(|(magic, _)| beginning.starts_with(magic));
    // In a zip archive the first name follows a header of 30 bytes.
    let name = beginning.get(30..).filter(|_| beginning.starts_with(b"PK\x03\x04"));
    let is_office = name.is_some_and(|name| IN_OFFICE.iter().any(|own| name.starts_with(own)));
    let format = if is_office { Some(OFFICE) } else { named.map(|(_, format)| *format) };
    format.or(is_tar.then_some("a tar archive"))
}

/// What is to be said of a file of a format that [`format_of`] has named: what it is, and for what
/// is packed how a program that reads standard input is given its text.
pub fn advice(format: &str) -> String {
    let unpack = match format {
        "text in UTF-16" => "iconv -f UTF-16 -t UTF-8",
        "compressed by gzip" | "compressed by compress" => "gzip -dc",
        "compressed by bzip2" => "bzip2 -dc",
        "compressed by zstd" => "zstd -dc",
        "compressed by xz" => "xz -dc",
        "compressed by lz4" => "lz4 -dc",
        "compressed by lzip" => "lzip -dc",
        "a zip archive" => "unzip -p",
        "a tar archive" => "tar -xOf",
        OFFICE => return format!("it is {format}; save it as text or CSV"),
        _ => return format!("it is {format}"),
    };
    format!("it is {format}; give the output of `{unpack} FILE` to standard input (-)")
}
