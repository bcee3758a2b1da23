// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as one HTML page without scripts, which loads nothing; all text is escaped.

mod chart;
mod curves;
mod details;

use crate::measures::{Binary, RATES, Rate};
use crate::report::{Entry, Report, interval, percent};
use crate::text;
use chart::class;
use curves::curves;
use dbacl_engine::report::html::{self, escape};
use details::details;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn write(report: &Report) -> String {
    let mut page = format!(
        "<h1>How good is the filter?</h1>\n<p class=\"soft\">{}</p>\n",
        escape(text::heading(report).trim())
    );
    let best = &report.entries[report.best()];
    if report.entries.len() > 1 {
        let _ = write!(page, "<p>{}: <strong>{}</strong>", report.place(), escape(&best.name));
        if best.is_mail_filter() {
            let commands = report.filter_commands().join("\n");
            let _ = writeln!(page, "</p>\n<pre><code>{}</code></pre>", escape(&commands));
        } else {
            let _ = writeln!(page, " &nbsp;<code>{}</code></p>", escape(&best.options));
        }
        let rivals: Vec<String> = report.rivals().iter().map(|it| escape(&it.name)).collect();
        if !rivals.is_empty() {
            let rivals = rivals.join("; ");
            let _ = writeln!(page, "<p class=\"soft\">Within chance of it: {rivals}</p>");
        }
    } else {
        let _ = writeln!(page, "<p>Options: <code>{}</code></p>", escape(&best.options));
    }
    tiles(&mut page, report, best);
    if report.entries.len() > 1 {
        page.push_str("<h2>Option sets</h2>\n");
        overview(&mut page, report);
    }
    for entry in &report.entries {
        for warning in &entry.findings.warnings {
            let (name, warning) = (escape(&entry.name), escape(warning));
            let _ = writeln!(page, "<p class=\"soft\">Note on {name}: {warning}</p>");
        }
    }
    curves(&mut page, report);
    for at in 0..report.entries.len() {
        let entry = &report.entries[at];
        let is_best = at == report.best();
        if is_best {
            let _ = writeln!(page, "<h2>In detail: {}</h2>", escape(&entry.name));
            details(&mut page, report, at);
        }
    }
    if report.entries.len() > 1 {
        page.push_str("<h2>The other sets</h2>\n");
        for (at, entry) in report.entries.iter().enumerate().filter(|&(at, _)| at != report.best())
        {
            let _ = writeln!(page, "<details><summary>{}</summary>", escape(&entry.name));
            details(&mut page, report, at);
            page.push_str("</details>\n");
        }
    }
    footer(&mut page, report);
    html::page("Filter evaluation", STYLE, &page)
}

fn tiles(page: &mut String, report: &Report, entry: &Entry) {
    let (positive, negative) = report.sides();
    let with_unit = |rate: Rate| format!("{}\u{a0}%", percent(rate.value));
    let limits = |rate: Rate| format!("95\u{a0}%: {}", interval(rate));
    let measures = &entry.measures;
    let mut all =
        vec![(with_unit(measures.error), "wrong verdicts".to_owned(), limits(measures.error))];
    if let Some(binary) = &measures.binary {
        all.push((
            with_unit(binary.false_positives),
            format!("of {negative} lost"),
            limits(binary.false_positives),
        ));
        all.push((
            with_unit(binary.misses),
            format!("of {positive} missed"),
            limits(binary.misses),
        ));
        if !binary.area.value.is_nan() {
            all.push((with_unit(binary.area), "area above ROC".into(), limits(binary.area)));
            all.push((
                with_unit(binary.recalls[1]),
                format!("of {positive} caught at 0.1\u{a0}% of {negative} lost"),
                limits(binary.recalls[1]),
            ));
        }
    } else {
        all.push((
            format!("{}\u{a0}%", percent(measures.macro_f1)),
            "macro-F1".into(),
            format!("over {} categories", report.corpus.categories.len()),
        ));
    }
    if let Some(calibration) = measures.calibrations.last() {
        all.push((
            format!("{}\u{a0}%", percent(calibration.error)),
            "calibration error".into(),
            calibration.what.to_owned(),
        ));
    }
    page.push_str("<div class=\"tiles\">\n");
    for (value, what, more) in &all {
        let _ = writeln!(
            page,
            "<div class=\"tile\"><b>{}</b><span>{}</span><span>{}</span></div>",
            escape(value),
            escape(what),
            escape(more)
        );
    }
    page.push_str("</div>\n");
}

/// A column of the overview: its head, a cell for each entry, and the entries' values.
type Column = (String, fn(&Entry) -> f64, bool);

fn overview(page: &mut String, report: &Report) {
    let (positive, negative) = report.sides();
    let is_binary = report.corpus.categories.len() == 2;
    let mut columns: Vec<Column> =
        vec![("error %".into(), |entry| entry.measures.error.value, false)];
    if is_binary {
        fn of(entry: &Entry, pick: fn(&Binary) -> f64) -> f64 {
            entry.measures.binary.as_ref().map_or(f64::NAN, pick)
        }
        columns.push((format!("{negative} lost %"), |e| of(e, |b| b.false_positives.value), false));
        columns.push((format!("{positive} missed %"), |e| of(e, |b| b.misses.value), false));
        columns.push(("lam %".into(), |e| of(e, |b| b.lam), false));
        columns.push(("(1\u{2212}AUC) %".into(), |e| of(e, |b| b.area.value), false));
        columns.push(("caught at 0.1\u{a0}% lost".into(), |e| of(e, |b| b.recalls[1].value), true));
        columns.push(("caught at 1\u{a0}% lost".into(), |e| of(e, |b| b.recalls[2].value), true));
    }
    columns.push(("macro-F1 %".into(), |entry| entry.measures.macro_f1, true));
    page.push_str("<div class=\"card scroll\"><table>\n<tr><th>options</th>");
    for (head, ..) in &columns {
        let _ = write!(page, "<th>{}</th>", escape(head));
    }
    page.push_str("<th>against the best</th></tr>\n");
    let tops: Vec<f64> = columns
        .iter()
        .map(|&(_, value, larger)| {
            let values = report.entries.iter().map(value).filter(|value| !value.is_nan());
            if larger { values.fold(f64::NAN, f64::max) } else { values.fold(f64::NAN, f64::min) }
        })
        .collect();
    for (at, entry) in report.entries.iter().enumerate() {
        let _ = write!(
            page,
            "<tr><td><span class=\"key {}\"></span>{}<br><code>{}</code></td>",
            class(at),
            escape(&entry.name),
            escape(&entry.options)
        );
        for (number, (&(_, value, _), &top)) in columns.iter().zip(&tops).enumerate() {
            let value = value(entry);
            let mark = if value == top { " class=\"best\"" } else { "" };
            let _ = write!(page, "<td{mark}>{}", percent(value));
            if number == 0 {
                let _ = write!(page, "<br><small>{}</small>", interval(entry.measures.error));
            }
            page.push_str("</td>");
        }
        if at == report.best() {
            page.push_str("<td>the best</td></tr>\n");
        } else {
            let found = report.against_best(at);
            let _ = writeln!(
                page,
                "<td>{} : {}<br><small>p {}</small></td></tr>",
                found.only_this,
                found.only_best,
                if found.chance < 1e-4 {
                    "&lt; 0.0001".to_owned()
                } else {
                    format!("= {:.4}", found.chance)
                }
            );
        }
    }
    page.push_str(
        "</table></div>\n<p class=\"soft\">Green: best of its column. Against the best: documents \
         that only this set, and that only the best set, got wrong; p is the probability of so \
         uneven numbers if both were equally good (McNemar's test).</p>\n",
    );
}

fn footer(page: &mut String, report: &Report) {
    page.push_str("<footer><dl>\n");
    let (positive, negative) = report.sides();
    let rates: Vec<String> = RATES[1..].iter().map(|&rate| format!("{} %", 100.0 * rate)).collect();
    let mut terms = vec![(
        "Intervals",
        "hold with 95 % if the documents are a random choice of what is to come (Wilson; for the \
         area Hanley and McNeil)."
            .to_owned(),
    )];
    if report.corpus.categories.len() == 2 {
        terms.push((
            "Caught at ... lost",
            format!(
                "share of {positive} caught when the threshold is set so that at most {} of \
                 {negative} is taken for {positive}.",
                rates.join(" or ")
            ),
        ));
        terms.push((
            "(1\u{2212}AUC) %",
            format!(
                "how often a random {negative} looks more like {positive} than a random \
                     {positive} does."
            ),
        ));
        terms.push((
            "lam %",
            "logistic average of both error rates; 0 if one of them is 0.".to_owned(),
        ));
    }
    terms.push((
        "Calibration error",
        "average distance between the probability claimed and the share that came true.".to_owned(),
    ));
    for (term, meaning) in terms {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(&meaning));
    }
    let _ =
        writeln!(page, "</dl><p>Made by dbacl-eval {}.</p></footer>", env!("CARGO_PKG_VERSION"));
}
