// SPDX-License-Identifier: GPL-3.0-or-later
//! Counters in the form that Prometheus reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Ends of the steps of [`Times`], in microseconds.
const STEPS: [u64; 11] =
    [1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 10_000_000];

/// A sample: what follows the name of its measure, and its value.
pub type Sample = (String, String);

/// A measure: its name without `dbacl_`, its kind, what it is, and its samples.
pub type Measure<'a> = (&'a str, &'a str, &'a str, Vec<Sample>);

/// How long something took, by steps from a millisecond to ten seconds.
#[derive(Debug, Default)]
pub struct Times {
    steps: [AtomicU64; STEPS.len() + 1],
    microseconds: AtomicU64,
}

impl Times {
    /// Counts one more.
    pub fn add(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(micros, Relaxed);
        let step = STEPS.iter().position(|&end| micros <= end).unwrap_or(STEPS.len());
        self.steps[step].fetch_add(1, Relaxed);
    }

    /// The samples of a histogram.
    pub fn samples(&self) -> Vec<Sample> {
        let mut sum = 0;
        let mut step = |end: String, count: &AtomicU64| {
            sum += count.load(Relaxed);
            (format!("_bucket{{le=\"{end}\"}}"), sum.to_string())
        };
        let ends = STEPS.map(|end| Duration::from_micros(end).as_secs_f64().to_string());
        let ends = ends.into_iter().chain(["+Inf".to_owned()]);
        let mut times: Vec<_> =
            ends.zip(&self.steps).map(|(end, count)| step(end, count)).collect();
        let seconds = Duration::from_micros(self.microseconds.load(Relaxed)).as_secs_f64();
        times.extend([("_sum".into(), seconds.to_string()), ("_count".into(), sum.to_string())]);
        times
    }
}

/// The sample of a measure that has one.
pub fn one(count: u64) -> Vec<Sample> {
    vec![(String::new(), count.to_string())]
}

/// The text of measures for Prometheus.
pub fn text(measures: Vec<Measure<'_>>) -> String {
    let mut out = String::new();
    for (name, kind, help, samples) in measures {
        // A string can be written.
        let _ = writeln!(out, "# HELP dbacl_{name} {help}\n# TYPE dbacl_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(out, "dbacl_{name}{labels} {value}");
        }
    }
    out
}
