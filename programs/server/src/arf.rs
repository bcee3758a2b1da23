// SPDX-License-Identifier: GPL-3.0-or-later
//! Reports about mail, as mail programs and providers send them (ARF, RFC 5965): the mail in a
//! report and what it is.

use dbacl::MailRole;
use mail_parser::{Message, MessageParser, MimeHeaders as _, PartType};

/// What a report says, and the mail of which it does.
pub(crate) fn read(report: &[u8]) -> Result<(MailRole, Vec<u8>), &'static str> {
    let message = MessageParser::default().parse(report).ok_or("the report is not a message")?;
    let found = reported(&message);
    drop_flat(message);
    found
}

/// Drops messages within messages one after the other: each of them within the drop of the one
/// around it would take the whole stack where many are nested.
fn drop_flat(message: Message<'_>) {
    let mut messages = vec![message];
    while let Some(message) = messages.pop() {
        messages.extend(message.parts.into_iter().filter_map(|part| match part.body {
            PartType::Message(inner) => Some(inner),
            _ => None,
        }));
    }
}

fn reported(message: &Message<'_>) -> Result<(MailRole, Vec<u8>), &'static str> {
    let is = |part: &mail_parser::MessagePart<'_>, main: &str, sub: &str| {
        part.content_type().is_some_and(|kind| {
            kind.ctype().eq_ignore_ascii_case(main)
                && kind.subtype().is_some_and(|own| own.eq_ignore_ascii_case(sub))
        })
    };
    let mut parts = message.parts.iter();
    let feedback = parts.find(|part| is(part, "message", "feedback-report"));
    let feedback = feedback.ok_or("the message is not a report in the Abuse Reporting Format")?;
    let text = String::from_utf8_lossy(feedback.contents()).into_owned();
    let kind = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("feedback-type").then(|| value.trim().to_lowercase())
    });
    let role = match kind.as_deref() {
        Some("abuse" | "fraud" | "virus") => MailRole::Spam,
        Some("not-spam") => MailRole::Ham,
        _ => return Err("the report does not say whether the mail is spam"),
    };
    let reported = message.parts.iter().find_map(|part| match &part.body {
        PartType::Message(mail) => Some(mail.raw_message().to_vec()),
        _ => None,
    });
    // A report with the header alone teaches nothing that mail has.
    let mail = reported.filter(|mail| !mail.is_empty());
    Ok((role, mail.ok_or("the report does not hold the mail")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of this type, with a part of this type that holds a message.
    fn report(kind: &str, part: &str) -> String {
        format!(
            "From: abuse@example.net\r\nSubject: report\r\nMIME-Version: 1.0\r\n\
             Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n\
             --b\r\nContent-Type: text/plain\r\n\r\nThis is a report.\r\n\
             --b\r\nContent-Type: message/feedback-report\r\n\r\n\
             Feedback-Type: {kind}\r\nUser-Agent: x/1\r\nVersion: 1\r\n\r\n\
             --b\r\nContent-Type: {part}\r\n\r\n\
             From: a@shop.example\r\nSubject: pills\r\n\r\ncheap pills\r\n--b--\r\n"
        )
    }

    #[test]
    fn reports_hold_a_mail_and_say_what_it_is() {
        for (kind, role) in
            [("abuse", MailRole::Spam), ("Fraud", MailRole::Spam), ("not-spam", MailRole::Ham)]
        {
            let (found, mail) = read(report(kind, "message/rfc822").as_bytes()).expect(kind);
            assert_eq!(found, role);
            let mail = String::from_utf8(mail).expect("text");
            assert!(mail.starts_with("From: a@shop.example\r\n"), "{mail}");
            assert!(mail.trim_end().ends_with("cheap pills"), "{mail}");
        }
        // Messages within the message, and parts within its parts.
        for (nested, depth) in [
            ("Content-Type: message/rfc822\r\n\r\n", 120_000),
            ("Content-Type: multipart/digest; boundary=c\r\n\r\n--c\r\n\r\n", 20_000),
        ] {
            let report = report(
                "abuse",
                &format!("message/rfc822\r\n\r\n{}Subject: a", nested.repeat(depth)),
            );
            assert!(read(report.as_bytes()).is_ok_and(|(role, _)| role == MailRole::Spam));
        }
        for (mail, why) in [
            (report("other", "message/rfc822"), "does not say"),
            (report("abuse", "text/rfc822-headers"), "does not hold"),
            ("Subject: a\n\nb\n".to_owned(), "is not a report"),
            (String::new(), "not a message"),
            (format!("{}\n", "Content-Type:message/rfc822\n\n".repeat(120_000)), "is not a report"),
        ] {
            let refused = read(mail.as_bytes()).expect_err(why);
            assert!(refused.contains(why), "{refused}");
        }
    }
}
