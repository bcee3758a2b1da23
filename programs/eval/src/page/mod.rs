// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as one HTML page without scripts, which loads nothing; all text is escaped.

mod chart;
mod details;
mod markup;

use crate::measures::{RATES, Rate};
use crate::report::{Entry, Report, interval, percent};
use crate::text;
use chart::{class, curves};
use dbacl::html;
use details::details;
use markup::{t, table};
use maud::Markup;

const STYLE: &str = include_str!("page.css");

pub(crate) fn write(report: &Report) -> String {
    let best = &report.entries[report.best()];
    let others = || report.entries.iter().enumerate().filter(|&(at, _)| at != report.best());
    let has_others = report.entries.len() > 1;
    let rivals: Vec<&str> = report.rivals().iter().map(|it| it.name.as_str()).collect();
    let page = maud::html! {
        h1 { "How good is the filter?" }
        p.soft { (t(text::heading(report).trim())) }
        @if !has_others {
            p { "Options: " code { (t(&best.options)) } }
        } @else if best.is_mail_filter() {
            p { (report.place()) ": " strong { (t(&best.name)) } }
            pre { code { (t(&report.filter_commands().join("\n"))) } }
        } @else {
            p {
                (report.place()) ": " strong { (t(&best.name)) } " \u{a0}"
                code { (t(&best.options)) }
            }
        }
        @if !rivals.is_empty() {
            p.soft { "Within chance of it: " (t(&rivals.join("; "))) }
        }
        (tiles(report, best))
        @if has_others {
            h2 { "Option sets" }
            (overview(report))
        }
        @for entry in &report.entries {
            @for warning in &entry.findings.warnings {
                p.soft { "Note on " (t(&entry.name)) ": " (t(warning)) }
            }
        }
        (curves(report))
        h2 { "In detail: " (t(&best.name)) }
        (details(report, report.best()))
        @if has_others {
            h2 { "The other sets" }
            @for (at, entry) in others() {
                details { summary { (t(&entry.name)) } (details(report, at)) }
            }
        }
        (footer(report))
    };
    html::page("Filter evaluation", STYLE, &page.into_string())
}

fn tiles(report: &Report, entry: &Entry) -> Markup {
    let (positive, negative) = report.sides();
    let of = |rate: Rate, what: String| {
        let limits = format!("95\u{a0}%: {}", interval(rate));
        (percent(rate.value), what, limits)
    };
    let measures = &entry.measures;
    let mut all = vec![of(measures.error, "wrong verdicts".into())];
    if let Some(binary) = &measures.binary {
        all.push(of(binary.false_positives, format!("of {negative} lost")));
        all.push(of(binary.misses, format!("of {positive} missed")));
        if !binary.area.value.is_nan() {
            let caught = format!("of {positive} caught at 0.1\u{a0}% of {negative} lost");
            all.push(of(binary.area, "area above ROC".into()));
            all.push(of(binary.recalls[1], caught));
        }
    } else {
        let over = format!("over {} categories", report.corpus.categories.len());
        all.push((percent(measures.macro_f1), "macro-F1".into(), over));
    }
    if let Some(calibration) = measures.calibrations.last() {
        let what = calibration.what.to_owned();
        all.push((percent(calibration.error), "calibration error".into(), what));
    }
    maud::html! {
        div.tiles { @for (value, what, more) in &all {
            div.tile { b { (value) "\u{a0}%" } span { (t(what)) } span { (t(more)) } }
        } }
    }
}

fn overview(report: &Report) -> Markup {
    let columns = report.columns();
    let tops: Vec<f64> = columns
        .iter()
        .map(|column| {
            let values = report.entries.iter().map(column.value).filter(|value| !value.is_nan());
            let top = if column.is_more_better { f64::max } else { f64::min };
            values.fold(f64::NAN, top)
        })
        .collect();
    let mut heads = vec!["options"];
    heads.extend(columns.iter().map(|column| column.head.as_str()));
    heads.push("against the best");
    let rows = report.entries.iter().enumerate().map(|(at, entry)| {
        let mut row = vec![maud::html! {
            span class={ "key " (class(at)) } {} (t(&entry.name)) br; code { (t(&entry.options)) }
        }];
        row.extend(columns.iter().zip(&tops).enumerate().map(|(number, (column, &top))| {
            let value = (column.value)(entry);
            maud::html! {
                span.best[value == top] { (percent(value)) }
                @if number == 0 { br; small { (interval(entry.measures.error)) } }
            }
        }));
        row.push(if at == report.best() {
            maud::html! { "the best" }
        } else {
            let found = report.against_best(at);
            maud::html! {
                (found.only_first) " : " (found.only_second)
                br; small { "p " (found.chance_text()) }
            }
        });
        row
    });
    maud::html! {
        div.card { (table(1, &heads, rows)) }
        p.soft {
            "Green: best of its column. Against the best: documents that only this set, and that \
             only the best set, got wrong; p is the probability of so uneven numbers if both were \
             equally good (McNemar's test)."
        }
    }
}

fn footer(report: &Report) -> Markup {
    let (positive, negative) = report.sides();
    let rates: Vec<String> = RATES[1..].iter().map(|&rate| format!("{} %", 100.0 * rate)).collect();
    let rates = rates.join(" or ");
    maud::html! {
        footer {
            dl {
                dt { "Intervals" }
                dd {
                    "hold with 95 % if the documents are a random choice of what is to come \
                     (Wilson; for the area Hanley and McNeil)."
                }
                @if report.corpus.categories.len() == 2 {
                    dt { "Caught at ..." }
                    dd {
                        "share of " (t(positive)) " caught when the threshold is set so that at \
                         most " (rates) " of " (t(negative)) " is taken for " (t(positive)) "."
                    }
                    dt { "(1-AUC) %" }
                    dd {
                        "how often a random " (t(negative)) " looks more like " (t(positive))
                        " than a random " (t(positive)) " does."
                    }
                    dt { "lam %" }
                    dd { "logistic average of both error rates; 0 if one of them is 0." }
                }
                dt { "Calibration error" }
                dd {
                    "average distance between the probability claimed and the share that came true."
                }
            }
            p { "Made by dbacl-eval " (env!("CARGO_PKG_VERSION")) "." }
        }
    }
}
