// SPDX-License-Identifier: GPL-3.0-or-later
//! Work on several threads.

use std::ops::Range;
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

/// Fewer problems than this are not worth a thread.
const FEWEST: usize = 2;

/// So many threads, for 0 one a processor.
pub fn wanted(threads: usize) -> usize {
    if threads == 0 { available_parallelism().map_or(1, usize::from) } else { threads }
}

/// The problems of each thread that fits some of them.
pub(crate) fn ranges(problems: usize) -> Vec<Range<usize>> {
    let width = problems.div_ceil(wanted(0).min(problems / FEWEST).max(1)).max(1);
    (0..problems).step_by(width).map(|at| at..(at + width).min(problems)).collect()
}

/// The results of `work` for each input, in their order. Each input has a thread of its own, unless
/// it is the only one.
pub fn each<Input: Send, Output: Send>(
    inputs: impl IntoIterator<Item = Input, IntoIter: ExactSizeIterator>,
    work: impl Fn(Input) -> Output + Sync,
) -> Vec<Output> {
    let inputs = inputs.into_iter();
    if inputs.len() == 1 {
        return inputs.map(work).collect();
    }
    let work = &work;
    let join = |thread: ScopedJoinHandle<'_, Output>| {
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    scope(|scope| {
        let threads: Vec<_> = inputs.map(|input| scope.spawn(move || work(input))).collect();
        threads.into_iter().map(join).collect()
    })
}
