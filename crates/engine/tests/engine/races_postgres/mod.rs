//! Two servers on one PostgreSQL database, which want the same thing at the same moment: what one of them is changing is neither
//! handed out twice, nor out of order, nor forgotten by the other.
//!
//! `FF_TEST_RACES` says how often; then it is also measured how long a claim takes.

mod cancelled;
mod forgotten;
mod pair;
mod reordered;
mod tagged;

/// How often two race, unless somebody has more time.
const RACES: u64 = 300;
/// From so many on, figures mean something.
const MEASURED_FROM: u64 = 10_000;

fn races() -> u64 {
    let told = std::env::var("FF_TEST_RACES").ok();
    told.map_or(RACES, |told| told.parse().expect("FF_TEST_RACES is a number"))
}
