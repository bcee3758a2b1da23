// SPDX-License-Identifier: GPL-3.0-or-later
//! Usage texts and pictures.

use dbacl_numeric::elementary::log;
use std::fmt::Write;

use super::program::Program;

/// The list of subcommands, as dbacl 1.14.1 prints it.
pub(super) fn usage(program: Program) -> String {
    let own = match program {
        Program::Cross => {
            &["learn", "run", "summarize [LEVEL]", "review TRUECAT PREDCAT", "biplot CAT1 CAT2"][..]
        }
        _ => &["run", "summarize [LEVEL]", "plot [ps|logscale]", "review TRUECAT PREDCAT"],
    };
    let run = if program == Program::Cross { "run" } else { "run [plots]" };
    let mut text = "\nUsage: \n\n".to_owned();
    let mut line = |words: &str| {
        // writing to a String cannot fail
        let _ = writeln!(text, "    {} {words}", program.name());
    };
    line("prepare size");
    line("add category [MBOX]...");
    own.iter().copied().for_each(&mut line);
    line("clean");
    line("killall");
    text.push('\n');
    for words in ["select [FILTER]...", "deselect [FILTER]...", "list", "status", run, "summarize"]
    {
        let _ = writeln!(text, "    {} testsuite {words}", program.name());
    }
    text.push('\n');
    text
}

/// What `--help` prints.
pub(super) fn help(program: Program, options: &str) -> String {
    let what = match program {
        Program::Cross => "Tests a mail filter by cross-validation.",
        Program::Toe => {
            "Tests a mail filter that learns from its errors, in the order of the mail."
        }
        Program::Foot => "Tests a mail filter that learns every message, in the order of the mail.",
    };
    format!("{what}\n{}Options, before the command:\n{options}", usage(program))
}

/// Width and height of a picture, and the margin around its axes, in pixels.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 500.0;
const MARGIN: f64 = 60.0;

/// Curves of errors against messages as an SVG picture, one curve for each repetition.
#[allow(clippy::cast_precision_loss)] // numbers of messages, in pixels
pub(super) fn picture(curves: &[Vec<(usize, usize)>], is_logarithmic: bool) -> String {
    let most = |pick: fn(&(usize, usize)) -> usize| {
        curves.iter().flatten().map(pick).max().unwrap_or(0).max(1)
    };
    let (messages, errors) = (most(|point| point.0), most(|point| point.1));
    let scale = |value: usize, most: usize| {
        if is_logarithmic {
            log(value as f64 + 1.0) / log(most as f64 + 1.0)
        } else {
            value as f64 / most as f64
        }
    };
    let (right, bottom) = (WIDTH - MARGIN, HEIGHT - MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"{MARGIN}\" y=\"{}\">errors: {errors}</text>\n\
         <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">messages: {messages}</text>\n",
        MARGIN - 12.0,
        bottom + 24.0,
    );
    for curve in curves {
        svg.push_str("<polyline fill=\"none\" stroke=\"#1f5fbf\" stroke-opacity=\"0.7\" points=\"");
        for &(count, wrong) in curve {
            let x = MARGIN + scale(count, messages) * (right - MARGIN);
            let y = bottom - scale(wrong, errors) * (bottom - MARGIN);
            let _ = write!(svg, "{x:.1},{y:.1} ");
        }
        svg.push_str("\"/>\n");
    }
    svg.push_str("</svg>\n");
    svg
}
