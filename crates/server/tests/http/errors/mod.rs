//! An example of every code: a request that is refused with it. Each is sent here, so what is shown of it is what happens; the
//! pages about errors are made from them.

mod book;
mod executions;
mod flows;
mod leases;
mod page;
mod requests;
mod service;
mod signals;

use ff_core::error::Code;
use ff_core::partition::PartitionCounts;
use ff_engine::Config;
use ff_server::Settings;

use crate::scene::Scene;
use book::Book;

/// What no request to an operation is refused with.
const UNANSWERED: [(Code, &str); 2] = [
    (
        Code::LaneNotFound,
        "No server answers this today: a lane is there from its first use on, and a list of what an unused one holds is empty.",
    ),
    (
        Code::Timeout,
        "A server answers this only to `POST /v1/test/advance`, when something keeps running; while its store is silent it says \
         `unavailable`. A proxy in front may give up with HTTP 504 and a body of its own: the SDK takes that for this code.",
    ),
];

/// A server whose ids are all of one partition, so that what is shown is the same every time.
fn scene() -> Scene {
    with(Settings::loopback())
}

fn with(settings: Settings) -> Scene {
    Scene::over(|store| store, one_partition(), settings)
}

fn one_partition() -> Config {
    Config::new(PartitionCounts::new(1, 1, 1).unwrap())
}

async fn examples() -> Book {
    let mut book = Book::default();
    requests::add_to(&mut book).await;
    executions::add_to(&mut book).await;
    leases::add_to(&mut book).await;
    signals::add_to(&mut book).await;
    flows::add_to(&mut book).await;
    service::add_to(&mut book).await;
    for (code, why) in UNANSWERED {
        book.leave_out(code, why);
    }
    book
}
