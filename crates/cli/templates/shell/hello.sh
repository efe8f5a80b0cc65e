#!/bin/sh
# One task. Its input is standard input, every line it prints is streamed, and the last one is its result.
# Exit code 0: done. 65: failed, and another try would not help. Any other: failed, and tried again if its policy says so.
input=$(cat)
echo "execution $FF_EXECUTION_ID, attempt $FF_ATTEMPT"
name=$(printf '%s' "$input" | sed -n 's/.*"name" *: *"\([^"]*\)".*/\1/p')
if [ -z "$name" ]; then
    echo 'the input is {"name": "…"}' >&2
    exit 65
fi
echo "hello $name"
