#!/usr/bin/env bash
# Stands before cargo on the path of a page. `cargo run` starts what the tests were built with, and builds nothing: built for itself, a
# package has other features of its dependencies, which would be minutes of compiling, and would replace the programs that other tests
# start. With PAGE_CARGO=real cargo does it all. Nothing else is changed.
set -euo pipefail

# What the page names is started, from PAGE_BUILT.
start() {
    local package='' program=''
    while (($# > 0)); do
        case $1 in
        -q | --quiet | --locked) shift ;;
        -p | --package) package=$2 && shift 2 ;;
        --example) program=examples/$2 && shift 2 ;;
        --) shift && break ;;
        *) return 0 ;;
        esac
    done
    case $package:$program in
    ff-cli:) program=ff ;;
    ff-sdk:examples/*) ;;
    *) return 0 ;;
    esac
    if [[ ! -x $PAGE_BUILT/$program ]]; then
        echo "$program was not built beside the tests: cargo build --workspace --examples" >&2
        exit 1
    fi
    exec "$PAGE_BUILT/$program" "$@"
}

if [[ ${1-} == run && ${PAGE_CARGO-} != real ]]; then
    start "${@:2}"
fi

real=$(PATH=${PATH#*:} type -P cargo) || { echo "cargo is not on PATH" >&2 && exit 127; }
# The folder of a page that shows the repository has links to its files, and cargo takes a linked workspace for another one.
if [[ -L Cargo.toml && $# -gt 0 ]]; then
    exec "$real" "$1" --manifest-path "$(readlink Cargo.toml)" "${@:2}"
fi
exec "$real" "$@"
