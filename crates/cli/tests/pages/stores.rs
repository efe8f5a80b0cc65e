//! Servers of stores, for pages that use one by the variable with its address.

use ff_postgres_server as postgres;
use ff_valkey_server as valkey;
use tokio::runtime::Runtime;

use crate::folder::Folder;

const VALKEY: &str = "VALKEY_URL";
const POSTGRES: &str = "POSTGRES_URL";

/// What runs beside a page. A page says where the reader's servers are in a block that is not run.
pub(crate) struct Stores {
    _valkey: Option<valkey::Standalone>,
    _postgres: Option<postgres::Server>,
    _runtime: Runtime,
}

impl Stores {
    /// Starts those that a page uses, and tells its terminals where.
    pub(crate) fn of(page: &str, folder: &mut Folder) -> Self {
        let runtime = Runtime::new().unwrap();
        let uses = |variable: &str| page.contains(&format!("${variable}")) || page.contains(&format!("${{{variable}"));
        let valkey = uses(VALKEY).then(|| runtime.block_on(valkey()));
        let postgres = uses(POSTGRES).then(|| runtime.block_on(postgres()));
        if let Some(server) = &valkey {
            folder.set(VALKEY, &server.url());
        }
        if let Some((_, url)) = &postgres {
            folder.set(POSTGRES, url);
            folder.add_to_path(postgres::programs());
        }
        Self {
            _valkey: valkey,
            _postgres: postgres.map(|(server, _)| server),
            _runtime: runtime,
        }
    }
}

async fn valkey() -> valkey::Standalone {
    valkey::Standalone::start(valkey::Options::default()).await
}

/// One that forces commits to disk: others are refused.
async fn postgres() -> (postgres::Server, String) {
    let server = postgres::Server::start(postgres::Options::default().fsync(true)).await;
    let database = server.create_database().await;
    let url = server.url(&database);
    (server, url)
}
