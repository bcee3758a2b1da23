// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as JSON (`--json`), and verdicts one a line (`--verdicts`).

use crate::measures::{Calibration, RATES, Rate};
use crate::report::Report;
use dbacl::mail::subject::subject;
use dbacl_cli::json::Json;

/// Version of the JSON that `--json` and `--verdicts` print.
const FORM: u8 = 1;

fn count(json: &mut Json, name: &str, number: usize) {
    json.key(name).integer(number as u64);
}

fn rate(json: &mut Json, name: &str, Rate { value, low, high }: Rate) {
    json.key(name).object(|json| json.members([("rate", value), ("low", low), ("high", high)]));
}

pub(crate) fn write(report: &Report) -> String {
    Json::line(|json| {
        json.key("version").integer(FORM);
        json.key("plan").string(&report.plan);
        json.key("categories").objects(
            report.corpus.categories.iter().enumerate(),
            |json, (number, name)| {
                let own = report.corpus.documents.iter().filter(|one| one.truth == number);
                json.key("name").string(name);
                count(json, "documents", own.count());
                count(json, "judged", report.judged_of(number));
            },
        );
        if report.corpus.categories.len() == 2 {
            json.key("positive").string(report.sides().0);
        }
        json.key("best").string(&report.entries[report.best()].name);
        json.key("within_chance_of_best").array(|json| {
            report.rivals().iter().for_each(|entry| json.string(&entry.name));
        });
        json.key("sets").objects(0..report.entries.len(), |json, at| entry(json, report, at));
    })
}

fn entry(json: &mut Json, report: &Report, at: usize) {
    let entry = &report.entries[at];
    let measures = &entry.measures;
    json.key("name").string(&entry.name);
    json.key("options").string(&entry.options);
    rate(json, "error", measures.error);
    json.key("macro_f1").number(measures.macro_f1);
    if let Some(binary) = &measures.binary {
        json.key("binary").object(|json| {
            rate(json, "false_positives", binary.false_positives);
            rate(json, "misses", binary.misses);
            json.key("lam").number(binary.lam);
            rate(json, "one_minus_auc", binary.area);
            let recalls = RATES.iter().zip(&binary.recalls);
            json.key("recall_at").objects(recalls, |json, (&wanted, &found)| {
                json.key("false_positive_rate").number(wanted);
                rate(json, "recall", found);
            });
        });
    }
    json.key("confusion").array(|json| {
        for row in measures.confusion.rows() {
            json.array(|json| row.iter().for_each(|&cell| json.integer(cell as u64)));
        }
    });
    let classes = report.corpus.categories.iter().zip(&measures.classes);
    json.key("classes").objects(classes, |json, (name, class)| {
        json.key("name").string(name);
        count(json, "documents", class.documents);
        let (recall, precision) = (class.recall.value, class.precision.value);
        json.members([("recall", recall), ("precision", precision), ("f1", class.f1)]);
    });
    json.key("calibrations").objects(&measures.calibrations, |json, found| {
        let &Calibration { what, ref bins, error, log_loss, brier } = found;
        json.key("what").string(what);
        json.members([("error", error), ("log_loss_bits", log_loss), ("brier", brier)]);
        json.key("bins").objects(bins, |json, bin| {
            json.key("claimed").number(bin.claimed);
            rate(json, "found", bin.found);
            count(json, "documents", bin.count);
        });
    });
    json.key("curve").objects(&entry.findings.curve, |json, point| {
        json.key("learned").number(point.learned);
        count(json, "judged", point.judged);
        count(json, "errors", point.errors);
    });
    if at != report.best() {
        let found = report.against_best(at);
        json.key("against_best").object(|json| {
            count(json, "only_this_wrong", found.only_first);
            count(json, "only_best_wrong", found.only_second);
            json.key("chance").number(found.chance);
        });
    }
    json.key("warnings").array(|json| {
        entry.findings.warnings.iter().for_each(|warning| json.string(warning));
    });
}

/// One line for each document and option set.
pub(crate) fn verdicts(report: &Report) -> String {
    let mut text = String::new();
    for entry in &report.entries {
        for judged in &entry.findings.judged {
            let document = &report.corpus.documents[judged.document];
            text.push_str(&Json::line(|json| {
                json.key("set").string(&entry.name);
                json.key("document").string(&document.name);
                if let Some(subject) = subject(&document.bytes) {
                    json.key("subject").string(&subject);
                }
                count(json, "fold", judged.fold);
                json.key("true").string(report.category(Some(judged.truth)));
                json.key("verdict").string(report.category(judged.verdict));
                if !judged.margin.is_nan() {
                    json.key("margin_bits").number(judged.margin);
                }
                if !judged.means.is_empty() {
                    json.key("scores_nats").numbers(&judged.means);
                    json.key("probabilities").numbers(&judged.shares);
                }
            }));
        }
    }
    text
}
