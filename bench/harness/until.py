"""Waiting for something that a server does in its own time."""

import time

PATIENCE = 60


def until(what, found):
    """Asks again until `found()` answers with something."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = found()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE} s until {what}")
        time.sleep(0.02)
