//! The store of the simulation, in layers:
//!
//! ```text
//! engine ─ Faulty (one per replica: errors, delays, lost replies, crashes)
//!            └ Saboteur (breaks one promise on purpose; off unless a test wants to see it caught)
//!                └ Observed (tells the watch what landed)
//!                    └ MemoryBackend
//! ```

mod clock;
mod fault;
mod faulty;
mod landed;
mod observed;
mod saboteur;

pub use clock::StoreClock;
pub use fault::{Fault, Weather};
pub use faulty::Faulty;
pub use observed::Observed;
pub use saboteur::{Sabotage, Saboteur};
