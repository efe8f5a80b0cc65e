"""Ports that nobody listens on."""

import random
import socket


def free_port():
    """One whose neighbour 10,000 above is free too: a node of a cluster speaks to the others there."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            for number in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
        except OSError:
            continue
        return port
