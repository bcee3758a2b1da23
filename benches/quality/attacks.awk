# SPDX-License-Identifier: GPL-3.0-or-later
# Disguises a mail of one part that is not encoded: puts good words where a reader sees them or not.
#
#   awk -v kind=KIND -v words=FILE -v good=MAIL2 -f attacks.awk MAIL
#
# The words are one a line. Each mail gets them in another order. MAIL2 is a good mail, whose headers
# some disguises borrow.

function good_words(    text, at) {
    for (at = 1; at <= count; at++) {
        text = text word[(at * 7 + start) % count] (at % 12 ? " " : "\n")
    }
    return text "\n"
}

function random_words(many,    text, at, letter) {
    for (at = 1; at <= many; at++) {
        for (letter = 0; letter < 7; letter++) text = text substr("abcdefghijklmnopqrstuvwxyz", 1 + int(26 * rand()), 1)
        text = text (at % 12 ? " " : "\n")
    }
    return text "\n"
}

function part(type, text) {
    return "--=_b\nContent-Type: " type "\n\n" text "\n"
}

# The text as a page, if it is none.
function page(inside) {
    return is_page ? inside body : "<html><body>" inside "<p>" escaped(body) "</p></body></html>"
}

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

# Each long word outside tags in another way: with a tag or a comment in the middle, with blanks between
# its letters (with is " "), or with other characters that look alike: letters of Cyrillic (with is
# "alike"), small capitals ("capitals") or digits ("digits").
function split_words(text, with,    out, piece, at, tag) {
    while (match(text, /<[^>]*>|[A-Za-z][A-Za-z][A-Za-z][A-Za-z]+/)) {
        piece = substr(text, RSTART, RLENGTH)
        tag = piece ~ /^</
        out = out substr(text, 1, RSTART - 1)
        if (!tag && with == " ") gsub(/./, "& ", piece)
        else if (!tag && with in look_alikes) piece = replaced(piece, look_alikes[with])
        else if (!tag) piece = substr(piece, 1, 2) with substr(piece, 3)
        out = out piece
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}

# The text with characters replaced; pairs are what is replaced and what stands in its place.
function replaced(text, pairs,    pair, count, at) {
    count = split(pairs, pair, " ")
    for (at = 1; at < count; at += 2) gsub(pair[at], pair[at + 1], text)
    return text
}

# The headers of the good mail, but for those that the mail has to keep and those about its parts;
# with all of them, those that a sender can write, too, whoever receives the mail.
function good_headers(all,    line, lines, keeps, left) {
    left = "^(from |subject:|" (all ? "" : "to:|date:|received:|") "return-path:|delivered-to:|content-|mime-version:)"
    while ((getline line < good) > 0 && line !~ /^\r?$/) {
        sub(/\r$/, "", line)
        if (line !~ /^[ \t]/) keeps = tolower(line) !~ left
        if (keeps) lines = lines line "\n"
    }
    return lines
}

# The text of the good mail as a quotation. Its headers were read.
function quotation(    line, text) {
    while ((getline line < good) > 0) text = text "> " line "\n"
    return (is_page ? "<pre>" escaped(text) "</pre>" : text)
}

# The mail with the headers of the good mail.
function forged(    subject) {
    match(header, /(^|\n)[Ss][Uu][Bb][Jj][Ee][Cc][Tt]:[^\n]*/)
    subject = substr(header, RSTART, RLENGTH)
    sub(/^\n/, "", subject)
    return good_headers(1) (subject == "" ? "" : subject "\n") plain body
}

# A long References header of names such as good mail has.
function references(    at, text) {
    text = "References:"
    for (at = 0; at < 60; at++) {
        text = text "\n <" 1000 + at "." word[(at * 3 + start) % count] "@" word[(at * 5 + start) % count] ".example.org>"
    }
    return text "\n"
}

BEGIN {
    while ((getline line < words) > 0) word[count++] = line
    in_header = 1
    type = "text/plain"
    look_alikes["alike"] = "a \\&#1072; e \\&#1077; o \\&#1086; p \\&#1088; c \\&#1089;"
    look_alikes["capitals"] = "a \\&#7424; c \\&#7428; e \\&#7431; i \\&#618; l \\&#671; o \\&#7439; t \\&#7451;"
    look_alikes["digits"] = "a 4 e 3 i 1 o 0 s 5"
}

{ sub(/\r$/, "") }

in_header && /^$/ { in_header = 0; next }

in_header {
    if ($0 !~ /^[ \t]/) skips = tolower($0) ~ /^(content-type|content-transfer-encoding|mime-version):/
    if (tolower($0) ~ /text\/html/ && skips) is_page = 1
    if (skips) type_lines = type_lines $0 "\n"
    else header = header $0 "\n"
    next
}

{ body = body $0 "\n" }

END {
    start = length(body) % count
    srand(length(body))
    if (is_page) type = "text/html"
    many = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"=_b\"\n\n"
    either = "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=\"=_b\"\n\n"
    html = "MIME-Version: 1.0\nContent-Type: text/html\n\n"
    plain = type_lines == "" ? "\n" : type_lines "\n"
    end = "--=_b--\n"
    if (kind !~ /^forged/) printf "%s", header
    if (kind == "none") printf "%s", plain body
    else if (kind == "preamble") printf "%s", many good_words() part(type, body) end
    else if (kind == "epilogue") printf "%s", many part(type, body) end good_words()
    else if (kind == "alternative") printf "%s", either part("text/plain", good_words()) part("text/html", page("")) end
    else if (kind == "display") printf "%s", html page("<div style=\"display:none\">" good_words() "</div>")
    else if (kind == "class") printf "%s", html page("<style>.a{display:none}</style><div class=a>" good_words() "</div>")
    else if (kind == "tiny") printf "%s", html page("<span style=\"font-size:1px\">" good_words() "</span>")
    else if (kind == "rgba") printf "%s", html page("<p style=\"color:rgba(0,0,0,0)\">" good_words() "</p>")
    else if (kind == "font") printf "%s", html page("<p style=\"font:0/0 a\">" good_words() "</p>")
    else if (kind == "left") printf "%s", html page("<p style=\"position:absolute;left:-100vw\">" good_words() "</p>")
    else if (kind == "clip") printf "%s", html page("<p style=\"position:absolute;clip:rect(0,0,0,0)\">" good_words() "</p>")
    else if (kind == "escape") printf "%s", html page("<p style=\"d\\69splay:none\">" good_words() "</p>")
    else if (kind == "media") printf "%s", html page("<style>@media all{.a{display:none}}</style><p class=a>" good_words() "</p>")
    else if (kind == "deep") {
        printf "%s", html
        for (at = 0; at < 300; at++) printf "<div>"
        printf "%s", page("<p style=\"display:none\">" good_words() "</p>")
    }
    else if (kind == "white") printf "%s", html page("<font color=\"#ffffff\">" good_words() "</font>")
    else if (kind == "title") printf "%s", html page("<title>" good_words() "</title>")
    else if (kind == "comment") printf "%s", html page("<!-- " good_words() " -->")
    else if (kind == "attachment") printf "%s", many part(type, body) part("text/plain; name=a.txt\nContent-Disposition: attachment", good_words()) end
    else if (kind == "message") printf "%s", many part(type, body) part("message/rfc822", "Subject: meeting\n\n" good_words()) end
    else if (kind == "tags") printf "%s", html split_words(page(""), "<b></b>")
    else if (kind == "comments") printf "%s", html split_words(page(""), "<!-- x -->")
    else if (kind == "zero-width") printf "%s", html split_words(page(""), "&#8203;")
    else if (kind == "homoglyphs") printf "%s", html split_words(page(""), "alike")
    else if (kind == "capitals") printf "%s", html split_words(page(""), "capitals")
    else if (kind == "digits") printf "%s", html split_words(page(""), "digits")
    else if (kind == "split") printf "%s", html split_words(page(""), " ")
    else if (kind == "headers") printf "%s", good_headers() plain body
    else if (kind == "forged") printf "%s", forged()
    else if (kind == "forged-thread") printf "%s", forged() quotation()
    else if (kind == "references") printf "%s", references() plain body
    else if (kind == "image") printf "%s", many part("text/html", "<img src=\"cid:a\">") part("image/png\nContent-Transfer-Encoding: base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==") end
    else if (kind == "base64") {
        printf "%s", "MIME-Version: 1.0\nContent-Type: " type "\nContent-Transfer-Encoding: base64\n\n"
        fflush()
        printf "%s", body | "base64"
        close("base64")
    } else if (kind == "before") printf "%s", plain (is_page ? "<p>" : "") good_words() (is_page ? "<p>" : "") body
    else if (kind == "random-1000") printf "%s", plain body (is_page ? "<p>" : "") random_words(1000)
    else if (kind == "random-5000") printf "%s", plain body (is_page ? "<p>" : "") random_words(5000)
    else if (kind == "repeated") {
        printf "%s", plain body (is_page ? "<p>" : "")
        for (at = 0; at < 100000; at++) printf "%s", word[start] (at % 12 ? " " : "\n")
        print ""
    } else if (kind == "visible") printf "%s", plain body (is_page ? "<p>" : "") good_words()
    else exit 1
}
