//! Users who may not do what is needed.

use ff_backend_postgres::{OpenError, PostgresBackend, library_name, migrate};
use ff_postgres_server::Server;

use super::{impatient, options, refused};

/// A server of its own, because roles are common to all databases of a server; and a role that may only log in.
struct Scene {
    server: Server,
    database: String,
}

impl Scene {
    async fn begin() -> Self {
        let server = Server::start(Default::default()).await;
        let database = server.create_database().await;
        let scene = Self { server, database };
        scene.ask("CREATE ROLE guest LOGIN").await;
        scene
    }

    async fn ask(&self, sql: &str) -> String {
        self.server.ask(&self.database, sql).await
    }

    /// Where the guest connects.
    fn url(&self) -> String {
        self.server.url(&self.database).replace("ff@", "guest@")
    }

    async fn is_refused_because(&self, says: &str) {
        let (refused, said) = refused(&impatient(self.url())).await;
        assert!(matches!(refused, OpenError::Rights(_)), "{refused:?}");
        assert!(
            said.contains(says) && said.contains("run `ff migrate` as its owner"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn who_may_make_neither_tables_nor_a_schema_is_told_what_is_missing() {
    let scene = Scene::begin().await;
    // Newer servers let nobody make tables by default.
    scene.ask("REVOKE CREATE ON SCHEMA public FROM public").await;
    scene.is_refused_because("permission denied for schema public").await;
    scene.ask("GRANT CREATE ON SCHEMA public TO guest").await;
    scene.is_refused_because("permission denied for database").await;
    assert_eq!(
        scene.ask("SELECT to_regclass('migration')").await,
        "",
        "nothing was made"
    );
    scene
        .ask(&format!("GRANT CREATE ON DATABASE {} TO guest", scene.database))
        .await;
    PostgresBackend::open(&options(scene.url())).await.unwrap();
}

#[tokio::test]
async fn who_only_serves_needs_the_tables_and_the_library_and_nothing_else() {
    let scene = Scene::begin().await;
    migrate(&options(scene.server.url(&scene.database))).await.unwrap();
    scene.is_refused_because("permission denied for table migration").await;
    scene.ask("GRANT ALL ON ALL TABLES IN SCHEMA public TO guest").await;
    scene
        .is_refused_because(&format!("permission denied for schema {}", library_name()))
        .await;
    scene
        .ask(&format!("GRANT USAGE ON SCHEMA {} TO guest", library_name()))
        .await;
    PostgresBackend::open(&options(scene.url())).await.unwrap();
}
