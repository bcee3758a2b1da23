// SPDX-License-Identifier: GPL-3.0-or-later
//! Code pages of DOS, which the Encoding Standard of the WHATWG lacks. Each byte is a character;
//! bytes below 80 (hexadecimal) are ASCII.

/// A code page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its name, which is also a label.
    pub name: &'static str,
    /// The characters of bytes from 80 up.
    upper: &'static str,
}

/// The first one, of the United States.
pub(crate) const CP437: Page = Page {
    name: "IBM437",
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
            └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
};

/// Western Europe.
pub(crate) const CP850: Page = Page {
    name: "IBM850",
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
            └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
};

/// Central Europe.
pub(crate) const CP852: Page = Page {
    name: "IBM852",
    upper: "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐\
            └┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
};

/// Code page to UTF-16, big-endian.
#[derive(Debug)]
pub(crate) struct FromPage(Box<[[u8; 2]]>);

impl FromPage {
    /// The conversion of a page.
    pub(crate) fn new(page: Page) -> Self {
        let ascii = (0..128_u16).map(u16::to_be_bytes);
        let upper = page.upper.encode_utf16().map(u16::to_be_bytes);
        Self(ascii.chain(upper).collect())
    }

    /// Appends what `bytes` stand for.
    pub(crate) fn write_utf16(&self, bytes: &[u8], output: &mut Vec<u8>) {
        for &byte in bytes {
            output.extend_from_slice(&self.0[usize::from(byte)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_one_character_of_one_unit() {
        for page in [CP437, CP850, CP852] {
            assert_eq!(FromPage::new(page).0.len(), 256, "{}", page.name);
        }
    }
}
