#!/bin/sh
# Counts the words of a text: the ten most frequent ones. It is run once per task; the input is standard input, what it prints is the
# result, and the exit code says how it went: 0 is well, 65 that another try would not help, any other that it may.
set -eu

text=$(cat)
if [ -z "$text" ]; then
    echo 'there is no text' >&2
    exit 65
fi

printf '%s\n' "$text" | tr -cs '[:alpha:]' '\n' | tr '[:upper:]' '[:lower:]' |
    sed '/^$/d' | sort | uniq -c | sort -k1,1nr -k2 | head -n 10
