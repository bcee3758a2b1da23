// SPDX-License-Identifier: GPL-3.0-or-later
//! What the kinds of tags are called where people read them (docs/spec/unicode-mail.md, section 7).

/// The kinds of tags, with their names.
const NAMES: &str = "\
    sw=subject ss=subject-shape sf=subject-form s!=subject-! s?=subject-? sl=subject-length \
    fw=from fh=from-host ff=from-form fl=from-shape \
    tw=to th=to-host tf=to-form tn=recipients \
    xm=mailer xp=priority xi=importance og=organization xa=accept-language xo=originating-ip \
    cl=language cc=content-class is=id-shape il=id-length id=id-host \
    dz=date-zone dc=date-comment ds=date-shape oh=origin-host ow=origin of=origin-form \
    rw=received au=check mt=type mc=charset me=encoding mx=disposition mf=file mq=parameter \
    bs=boundary-shape ct=content mr=parts mh=html-parts mp=text-parts \
    ls=link-scheme la=link-with lt=link-domain ld=link-dots lp=link-path ln=links \
    xs=shape xb=bytes xw=words xc=capitals xf=foreign x!=exclamations x$=dollars xl=lines \
    xq=quoted xk=shouting xg=text \
    lk=links-of-sender lr=links-of-relays lm=links-of-id nl=link-hosts rr=relays-of-sender \
    ro=origin-of-sender rp=reply-to pe=named dd=inside fp=provider";

/// A tag with the name of its kind: `link-path:news` for `lp:news`. Other text stays as it is.
pub(crate) fn readable(tag: &[u8]) -> Vec<u8> {
    let named = NAMES.split(' ').filter_map(|row| row.split_once('=')).find_map(|(kind, name)| {
        let rest = tag.strip_prefix(kind.as_bytes()).filter(|rest| rest.starts_with(b":"))?;
        Some([name.as_bytes(), rest].concat())
    });
    named.unwrap_or_else(|| tag.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_specification_has_a_name() {
        let page = include_str!("../../../docs/spec/unicode-mail.md");
        let tables = page
            .split("| kind | of |")
            .skip(1)
            .flat_map(|table| table.lines().skip(2).take_while(|row| row.starts_with('|')));
        let kinds: Vec<&str> = tables
            .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`'))
            .filter(|kind| !kind.trim().is_empty())
            .collect();
        assert_eq!(kinds.len(), NAMES.split(' ').count());
        for kind in kinds {
            let tag = format!("{kind}:a:b");
            let shown = String::from_utf8(readable(tag.as_bytes())).expect("text");
            assert!(shown.ends_with(":a:b") && shown != tag, "{tag}");
        }
        assert_eq!(readable(b"lp:news"), b"link-path:news");
        assert_eq!(readable(b"lpnews"), b"lpnews");
    }
}
