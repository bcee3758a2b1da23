// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded cases of `testdata/golden`, as its README describes them.

use dbacl_testing::{Scratch, command, root};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Seconds that a case may take.
const LIMIT: &str = "300";

#[test]
fn recorded_cases_come_out_the_same_but_for_the_accepted_differences() {
    let folder = root().join("testdata/golden");
    let wanted = std::env::var("GOLDEN").unwrap_or_default();
    let cases: Vec<String> =
        cases(&folder).into_iter().filter(|name| name.contains(&wanted)).collect();
    assert!(!cases.is_empty(), "no case is called like {wanted}");
    let accepted = accepted_differences();
    let complaint = |name: &String| match (run(&folder, name), accepted.contains(name)) {
        (Some(difference), false) => Some(format!("{name}: {difference}")),
        (None, true) => Some(format!("{name}: listed as a difference, but it passes")),
        _ => None,
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first: usize| -> Vec<String> {
        cases.iter().skip(first).step_by(processors).filter_map(complaint).collect()
    };
    let complaints = std::thread::scope(|scope| {
        let threads = (0..processors).map(|first| scope.spawn(move || share(first)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(
        complaints.is_empty(),
        "{} of {} recorded cases:\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
}

#[test]
fn accepted_differences_name_recorded_cases() {
    for name in accepted_differences() {
        assert!(root().join("testdata/golden").join(&name).join("cmd").is_file(), "{name}");
    }
}

/// Names of the cases, `AREA/NAME`, sorted.
fn cases(folder: &Path) -> Vec<String> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a readable folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.is_dir()).collect()
    };
    let mut names: Vec<String> = below(folder)
        .iter()
        .flat_map(|area| below(area))
        .filter(|case| case.join("cmd").is_file())
        .map(|case| case.strip_prefix(folder).expect("below").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The first column of the table in section "Recorded cases that differ".
fn accepted_differences() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/compatibility.md")).unwrap_or_default();
    let section = text.split("\n## ").find(|part| part.starts_with("Recorded cases that differ"));
    let rows = section.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned())).collect()
}

/// Runs a case; says how it differs from its record.
fn run(folder: &Path, name: &str) -> Option<String> {
    let case = folder.join(name);
    let scratch = Scratch::new();
    let here = scratch.path("run");
    fs::create_dir(&here).expect("a folder to run in");
    let mut script = scratch.command("timeout");
    script
        .args([LIMIT, "sh"])
        .arg(case.join("cmd"))
        .current_dir(&here)
        .env("IN", folder.join("inputs"))
        // Files, not pipes: the programs tell them apart.
        .stdout(File::create(scratch.path("stdout")).expect("a new file"))
        .stderr(File::create(scratch.path("stderr")).expect("a new file"));
    let variables = fs::read_to_string(case.join("env")).unwrap_or_default();
    script.envs(variables.lines().filter_map(|line| line.split_once('=')));
    let status = script.status().expect("timeout and sh start");
    let mut differences = Vec::new();
    let printed = scratch.read("stdout");
    let expected = fs::read(case.join("stdout")).expect("the recorded output");
    if printed != expected {
        differences.push(first_difference(&expected, &printed));
    }
    let recorded = fs::read_to_string(case.join("status")).expect("the recorded status");
    if status.code() != recorded.trim().parse().ok() {
        differences.push(format!("{status}, not {}", recorded.trim()));
    }
    let sums = case.join("sha256");
    if sums.is_file() {
        let mut check = command("sha256sum");
        check.args(["-c", "--quiet"]).arg(sums).current_dir(&here);
        let check = check.output().expect("sha256sum starts");
        if !check.status.success() {
            differences.push(String::from_utf8_lossy(&check.stdout).into_owned());
        }
    }
    (!differences.is_empty()).then(|| {
        let stderr = scratch.read("stderr");
        let stderr = String::from_utf8_lossy(&stderr[..stderr.len().min(300)]).into_owned();
        format!("{}\n    stderr: {stderr}", differences.join("\n    "))
    })
}

/// The first line that differs, both ways.
fn first_difference(expected: &[u8], printed: &[u8]) -> String {
    let lines = [expected, printed].map(|text| text.split(|&b| b == b'\n').collect::<Vec<_>>());
    let [old, new] = &lines;
    let at = (0..old.len()).find(|&at| old.get(at) != new.get(at)).unwrap_or(old.len());
    let [old, new] = lines.map(|lines| match lines.get(at) {
        Some(line) => String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned(),
        None => "(end)".into(),
    });
    format!("stdout line {}\n    - {old}\n    + {new}", at + 1)
}
