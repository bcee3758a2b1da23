// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as JSON (`--json`), and verdicts one a line (`--verdicts`).

use crate::measures::{Binary, Calibration, RATES, Rate};
use crate::protocol::Point;
use crate::report::Report;
use dbacl_cli::json::Json;
use dbacl_mail::subject::subject;

/// Version of the JSON that `--json` and `--verdicts` print.
const FORM: u8 = 1;

/// Whole numbers of documents fit in 64 bits.
fn count(json: &mut Json, number: usize) {
    json.integer(i128::try_from(number).unwrap_or(i128::MAX));
}

fn rate(json: &mut Json, rate: Rate) {
    json.object(|json| {
        json.key("rate").number(rate.value);
        json.key("low").number(rate.low);
        json.key("high").number(rate.high);
    });
}

pub fn write(report: &Report) -> String {
    let mut json = Json::new();
    json.object(|json| {
        json.key("version").integer(FORM);
        json.key("plan").string(&report.plan);
        json.key("categories").array(|json| {
            for (number, name) in report.corpus.categories.iter().enumerate() {
                let all = &report.corpus.documents;
                json.object(|json| {
                    json.key("name").string(name);
                    count(
                        json.key("documents"),
                        all.iter().filter(|one| one.truth == number).count(),
                    );
                    count(json.key("judged"), report.judged_of(number));
                });
            }
        });
        if report.corpus.categories.len() == 2 {
            json.key("positive").string(report.sides().0);
        }
        json.key("best").string(&report.entries[report.best()].name);
        json.key("within_chance_of_best").array(|json| {
            report.rivals().iter().for_each(|entry| json.string(&entry.name));
        });
        json.key("sets").array(|json| {
            for at in 0..report.entries.len() {
                entry(json, report, at);
            }
        });
    });
    let mut text = json.into_text();
    text.push('\n');
    text
}

fn entry(json: &mut Json, report: &Report, at: usize) {
    let entry = &report.entries[at];
    let measures = &entry.measures;
    json.object(|json| {
        json.key("name").string(&entry.name);
        json.key("options").string(&entry.options);
        rate(json.key("error"), measures.error);
        json.key("macro_f1").number(measures.macro_f1);
        if let Some(found) = &measures.binary {
            json.key("binary");
            binary(json, found);
        }
        json.key("confusion").array(|json| {
            for row in measures.confusion.rows() {
                json.array(|json| row.iter().for_each(|&cell| count(json, cell)));
            }
        });
        json.key("classes").array(|json| {
            for (name, class) in report.corpus.categories.iter().zip(&measures.classes) {
                json.object(|json| {
                    json.key("name").string(name);
                    count(json.key("documents"), class.documents);
                    json.key("recall").number(class.recall.value);
                    json.key("precision").number(class.precision.value);
                    json.key("f1").number(class.f1);
                });
            }
        });
        json.key("calibrations").array(|json| {
            measures.calibrations.iter().for_each(|found| calibration(json, found));
        });
        json.key("curve").array(|json| entry.findings.curve.iter().for_each(|p| point(json, p)));
        if at != report.best() {
            let found = report.against_best(at);
            json.key("against_best").object(|json| {
                count(json.key("only_this_wrong"), found.only_first);
                count(json.key("only_best_wrong"), found.only_second);
                json.key("chance").number(found.chance);
            });
        }
        json.key("warnings").array(|json| {
            entry.findings.warnings.iter().for_each(|warning| json.string(warning));
        });
    });
}

fn binary(json: &mut Json, binary: &Binary) {
    json.object(|json| {
        rate(json.key("false_positives"), binary.false_positives);
        rate(json.key("misses"), binary.misses);
        json.key("lam").number(binary.lam);
        rate(json.key("one_minus_auc"), binary.area);
        json.key("recall_at").array(|json| {
            for (&wanted, &found) in RATES.iter().zip(&binary.recalls) {
                json.object(|json| {
                    json.key("false_positive_rate").number(wanted);
                    rate(json.key("recall"), found);
                });
            }
        });
    });
}

fn calibration(json: &mut Json, found: &Calibration) {
    json.object(|json| {
        json.key("what").string(found.what);
        json.key("error").number(found.error);
        json.key("log_loss_bits").number(found.log_loss);
        json.key("brier").number(found.brier);
        json.key("bins").array(|json| {
            for bin in &found.bins {
                json.object(|json| {
                    json.key("claimed").number(bin.claimed);
                    rate(json.key("found"), bin.found);
                    count(json.key("documents"), bin.count);
                });
            }
        });
    });
}

fn point(json: &mut Json, point: &Point) {
    json.object(|json| {
        json.key("learned").number(point.learned);
        count(json.key("judged"), point.judged);
        count(json.key("errors"), point.errors);
    });
}

/// One line for each document and option set.
pub fn verdicts(report: &Report) -> String {
    let mut text = String::new();
    for entry in &report.entries {
        for judged in &entry.findings.judged {
            let mut json = Json::new();
            json.object(|json| {
                json.key("set").string(&entry.name);
                let document = &report.corpus.documents[judged.document];
                json.key("document").string(&document.name);
                if let Some(subject) = subject(&document.bytes) {
                    json.key("subject").string(&subject);
                }
                count(json.key("fold"), judged.fold);
                json.key("true").string(report.category(Some(judged.truth)));
                json.key("verdict").string(report.category(judged.verdict));
                if !judged.margin.is_nan() {
                    json.key("margin_bits").number(judged.margin);
                }
                if !judged.means.is_empty() {
                    json.key("scores_nats").numbers(&judged.means);
                    json.key("probabilities").numbers(&judged.shares);
                }
            });
            text.push_str(&json.into_text());
            text.push('\n');
        }
    }
    text
}
