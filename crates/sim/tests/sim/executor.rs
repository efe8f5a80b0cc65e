//! The executor: virtual time, processes that die, and the same order for the same seed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_sim::executor::{Executor, Turn, yield_now};
use ff_sim::luck::Luck;

fn finish(executor: &Executor) {
    while executor.turn() != Turn::Idle {}
}

fn order_of(seed: u64) -> Vec<u64> {
    let executor = Executor::new(Luck::new(seed));
    let process = executor.start_process();
    let order = Arc::new(Mutex::new(Vec::new()));
    for number in 0..8 {
        let order = Arc::clone(&order);
        executor.spawn(
            process,
            Box::pin(async move {
                for _ in 0..3 {
                    yield_now().await;
                }
                order.lock().unwrap().push(number);
            }),
        );
    }
    finish(&executor);
    let order = order.lock().unwrap();
    order.clone()
}

#[test]
fn the_order_follows_from_the_seed() {
    assert_eq!(order_of(1), order_of(1));
    assert_ne!(order_of(1), order_of(2));
}

#[test]
fn time_jumps_to_whoever_sleeps_shortest() {
    let executor = Executor::new(Luck::new(1));
    let process = executor.start_process();
    let woken = Arc::new(Mutex::new(Vec::new()));
    for seconds in [3, 1, 2] {
        let (sleep, woken) = (executor.sleep(Duration::from_secs(seconds)), Arc::clone(&woken));
        executor.spawn(
            process,
            Box::pin(async move {
                sleep.await;
                woken.lock().unwrap().push(seconds);
            }),
        );
    }
    finish(&executor);
    assert_eq!(*woken.lock().unwrap(), [1, 2, 3]);
    assert_eq!(executor.elapsed(), Duration::from_secs(3));
}

#[test]
fn time_does_not_wait_for_a_dropped_sleeper() {
    let executor = Executor::new(Luck::new(1));
    let process = executor.start_process();
    executor.spawn(process, executor.sleep(Duration::from_secs(9)));
    assert_eq!(executor.turn(), Turn::Polled);
    executor.kill(process);
    assert_eq!(executor.turn(), Turn::Idle);
    assert_eq!(executor.elapsed(), Duration::ZERO);
}

#[test]
fn a_killed_process_does_nothing_more() {
    let executor = Executor::new(Luck::new(1));
    let (mortal, other) = (executor.start_process(), executor.start_process());
    let deeds = Arc::new(Mutex::new(Vec::new()));
    let killer = executor.clone();
    let own = Arc::clone(&deeds);
    executor.spawn(
        mortal,
        Box::pin(async move {
            own.lock().unwrap().push("before");
            killer.kill(mortal);
            yield_now().await;
            own.lock().unwrap().push("after");
        }),
    );
    finish(&executor);
    executor.spawn(mortal, Box::pin(async { panic!("nothing begins in a dead process") }));
    let others = Arc::clone(&deeds);
    executor.spawn(other, Box::pin(async move { others.lock().unwrap().push("other") }));
    finish(&executor);
    assert_eq!(*deeds.lock().unwrap(), ["before", "other"]);
}

#[test]
fn somebody_who_never_lets_time_pass_is_noticed() {
    let executor = Executor::new(Luck::new(1));
    let process = executor.start_process();
    executor.spawn(
        process,
        Box::pin(async {
            loop {
                yield_now().await;
            }
        }),
    );
    let spins = std::iter::repeat_with(|| executor.turn()).take(300_000);
    assert!(spins.into_iter().any(|turn| turn == Turn::Spinning));
}
