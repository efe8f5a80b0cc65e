# Short names for the commands of this repository. Nothing depends on them: scripts/test needs no just.

# List the recipes
default:
    @just --list

# What CI runs
ci:
    .ci/run

# Format, lints, documentation, tests and doc tests
test:
    scripts/test

# Format every crate
fmt:
    cargo fmt --all

# Clippy on every target, warnings denied
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Build the API documentation, broken links denied
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Rewrite the pages that are printed: from the state machine, the tables of operations, codes, duties, metrics, limits, settings and verbs
pages:
    UPDATE_DOCS=1 cargo test -p ff-core --test expected_table --test interface
    UPDATE_DOCS=1 cargo test -p ff-engine --lib pump::page
    UPDATE_DOCS=1 cargo test -p ff-sdk --test sdk -- guide::every surface::the
    UPDATE_DOCS=1 cargo test -p ff-server --test reference
    UPDATE_DOCS=1 cargo test -p ff-server --test http errors
    UPDATE_DOCS=1 cargo test -p ff-server --test metrics page
    UPDATE_DOCS=1 cargo test -p ff-cli --bin ff -- config:: page

# The documentation as a book that can be searched, in target/book; installs mdBook into target/tools when there is none
book:
    #!/usr/bin/env bash
    set -euo pipefail
    PATH="$PWD/target/tools/bin:$PATH"
    command -v mdbook || cargo install mdbook --locked --root target/tools
    rm -rf target/book
    mdbook build
    # Links of the pages lead there.
    cp -r examples target/book/
    echo '<meta http-equiv="refresh" content="0; url=docs/">' >target/book/index.html

# The conformance suite on every backend
conformance:
    cargo test -p ff-backend -p ff-backend-sqlite -p ff-backend-valkey

# Everything, and besides the binary with every feature, the interface on a Valkey cluster, more servers and workers killed, and thousands who wait
full: test
    scripts/check-openapi 900
    scripts/check-dashboard full
    cargo clippy -p ff-cli --all-features --locked -- -D warnings
    FF_TEST_PAGES_FULL=1 cargo test -p ff-cli --test pages readme
    FF_VALKEY_SERVER="$(scripts/valkey-server)" FF_TEST_CLUSTER_FULL=1 FF_TEST_FAULTS_FULL=1 cargo test -p ff-engine --test engine --test faults cluster
    FF_VALKEY_SERVER="$(scripts/valkey-server)" FF_TEST_KILLS=20 cargo test -p ff-cli --test serve killed -- --nocapture
    FF_VALKEY_SERVER="$(scripts/valkey-server)" FF_TEST_KILLS=50 cargo test -p ff-cli --test serve paid_once -- --nocapture
    FF_TEST_KILLS=6 cargo test -p ff-cli --test serve restored -- --nocapture
    just many

# Ten thousand requests that wait, twenty thousand readers at one server, and ten thousand tasks in one worker; prints what each of them costs
many:
    FF_TEST_MANY=1 cargo test --release -p ff-cli --test serve many:: -- --nocapture

# The dashboard's tests, in a browser; with "full" also large stores, and its pictures anew
dashboard *what:
    scripts/check-dashboard {{what}}

# Does a server do what its OpenAPI document says?
openapi seconds="90":
    scripts/check-openapi {{seconds}}

# Servers killed and stopped, connections cut, slots moved, standbys promoted while clients work; prints what each run counted
faults:
    FF_VALKEY_SERVER="$(scripts/valkey-server)" FF_TEST_FAULTS_FULL=1 cargo test -p ff-engine --test faults -- --nocapture --test-threads 1
    FF_TEST_FAULTS_FULL=1 cargo test -p ff-cli --test serve two_servers -- --nocapture --test-threads 1

# Two servers that want the same on one PostgreSQL database, and four processes that write the same records, ten thousand times each; prints how long claims took
races-postgres:
    FF_TEST_RACES=10000 cargo test -p ff-engine --test engine races_postgres -- --nocapture --test-threads 1
    FF_TEST_RACES=10000 cargo test -p ff-backend-postgres --test postgres deadlocks -- --nocapture

# Deliberately wrong memory backends, and the conformance check that catches each
mutants:
    cargo test -p ff-backend --test mutants -- --nocapture

# Every duty of the pump, turned off, and the test that notices
rows:
    cargo test -p ff-engine --test engine rows -- --nocapture

# Simulated worlds from a random seed on, until one does not hold
sim:
    cargo run --release -p ff-sim

# One simulated world, with everything that happened
sim-seed seed:
    cargo run --release -p ff-sim -- --seed {{seed}}

# Some simulated worlds on all cores, and what each one broke
sim-seeds from count:
    cargo run --release -p ff-sim -- --from {{from}} --count {{count}}

# Start the engine on an embedded store
dev *args:
    cargo run -q -p ff-cli -- dev {{args}}

# FlowFabric beside its peers and a bare queue on one store: bench --store valkey --scenario s1
bench *args:
    bench/run {{args}}

# Everything that bench/run measures, for docs/performance.md: tables, plots and figures; --quick takes about ten minutes
bench-report *args:
    bench/run --report docs/performance {{args}}

# The SQLite store beside a hand-written queue on the same SQLite
bench-sqlite *part:
    cargo run --release -p ff-bench --bin sqlite -- {{part}}

# The engine on a Valkey server of its own, beside a bare list on the same server
bench-valkey scenario="s1" *args="--rounds 5":
    scripts/bench-valkey {{scenario}} {{args}}

# The engine on a PostgreSQL server of its own, beside a raw SKIP LOCKED queue on the same server
bench-postgres scenario="s1" *args="--rounds 5":
    scripts/bench-postgres {{scenario}} {{args}}

# Ten minutes of steady load on PostgreSQL: do its tables stay as large as they are?
soak-postgres *args:
    scripts/bench-postgres soak {{args}}

# Archive, Debian package and wheel of ff for this platform, each tried in an empty folder; the container files are linted
package *what:
    scripts/package {{what}}
