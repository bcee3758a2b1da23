// SPDX-License-Identifier: GPL-3.0-or-later
//! Applies one function to many items on several threads. The results stand in the order of the
//! items, so they do not depend on the number of threads.

use crate::alloc_hints::has_addresses_to_spare;
use std::convert::Infallible;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// The results of `work` for 0, 1, ... `count` - 1, computed on all processors.
pub fn all<Item: Send>(count: usize, work: impl Fn(usize) -> Item + Sync) -> Vec<Item> {
    let work = |item| Ok::<_, Infallible>(work(item));
    try_all(count, work).unwrap_or_else(|error| match error {})
}

/// The same, where the work may fail.
///
/// # Errors
/// The error of the lowest item that failed; later items may not have been tried.
pub fn try_all<Item: Send, Error: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<Item, Error> + Sync,
) -> Result<Vec<Item>, Error> {
    map(count, processors(), || Ok(()), |(): &mut (), item| work(item))
}

/// The number of processors that this process may use. It is 1 if the number is unknown, and if the
/// address space of the process is limited: each thread needs address space of its own.
pub fn processors() -> usize {
    if !has_addresses_to_spare() {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Applies `work` to 0, 1, ... `count` - 1 with `threads` threads. Each thread has its own tools,
/// made by `tools`.
///
/// # Errors
/// The error of the lowest item that failed; later items may not have been tried.
pub fn map<Tools, Item: Send, Error: Send>(
    count: usize,
    threads: usize,
    tools: impl Fn() -> Result<Tools, Error> + Sync,
    work: impl Fn(&mut Tools, usize) -> Result<Item, Error> + Sync,
) -> Result<Vec<Item>, Error> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Item, Error>)>> = Mutex::new(Vec::with_capacity(count));
    let run = || {
        let mut mine = Vec::new();
        let mut kit = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let kit = match &mut kit {
                Some(kit) => kit,
                none => match tools() {
                    Ok(made) => none.insert(made),
                    Err(error) => {
                        mine.push((index, Err(error)));
                        next.store(count, Ordering::Relaxed);
                        break;
                    }
                },
            };
            let result = work(kit, index);
            let failed = result.is_err();
            mine.push((index, result));
            if failed {
                next.store(count, Ordering::Relaxed);
                break;
            }
        }
        if let Ok(mut done) = done.lock() {
            done.append(&mut mine);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where the system cannot start another thread, fewer threads do the work.
            let _ = Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [0, 1, 3, 50] {
            let squares =
                map(20, threads, || Ok::<_, ()>(()), |(), item| Ok(item * item)).expect("squares");
            assert_eq!(squares[..4], [0, 1, 4, 9], "{threads} threads");
            assert_eq!(squares.len(), 20);
        }
        assert_eq!(all(100, |item| item * item), (0..100).map(|k| k * k).collect::<Vec<_>>());
        assert_eq!(all(0, |item| item), Vec::<usize>::new());
    }

    #[test]
    fn the_error_of_the_lowest_item_is_returned() {
        let fails = |(): &mut (), item| if item == 3 { Err(item) } else { Ok(item) };
        assert_eq!(map(9, 2, || Ok(()), fails), Err(3));
        assert_eq!(map(9, 2, || Err::<(), _>("no tools"), |(), item| Ok(item)), Err("no tools"));
    }
}
