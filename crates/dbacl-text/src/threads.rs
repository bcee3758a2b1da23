// SPDX-License-Identifier: GPL-3.0-or-later
//! Work on several threads.

use std::thread::{ScopedJoinHandle, scope};

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
