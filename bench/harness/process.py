"""Runs a program that prints figures, one JSON object a line."""

import json
import os
import subprocess

PATIENCE = 900


class Failed(Exception):
    """It ended in an error, or did not prove that everything was delivered exactly once."""


def figures(command, folder, more_env=None):
    """The lines it printed."""
    env = {**os.environ, "TMPDIR": str(folder), **(more_env or {})}
    try:
        ended = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} was not done after {PATIENCE} s") from None
    said = ended.stderr.decode(errors="replace")[-4_000:]
    if ended.returncode:
        raise Failed(f"{command[0]} ended with {ended.returncode}\n{said}")
    return [checked(line, said) for line in ended.stdout.decode().splitlines() if line.strip()]


def checked(line, said=""):
    """A line of figures that count."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        raise Failed(f"these are no figures: {line}\n{said}") from None
    if found.get("exact") is not True:
        raise Failed(f"not everything was delivered exactly once: {line}")
    return found
