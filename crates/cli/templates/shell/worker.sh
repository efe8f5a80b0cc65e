#!/bin/sh
# The worker: runs hello.sh for every execution of kind hello. `ff worker --help` says how the two talk to each other.
exec ff worker --name hello --kind hello --exec ./hello.sh
