"""A connection to a Valkey server that speaks just enough of its protocol to look after it."""

import socket


class Connection:
    """Commands, one after the other."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.reader = self.socket.makefile("rb")

    def ask(self, *words):
        parts = [str(word).encode() for word in words]
        command = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self.socket.sendall(command)
        return self._reply()

    def info(self, section, field):
        """A field of INFO."""
        lines = self.ask("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)[field]

    def close(self):
        self.reader.close()
        self.socket.close()

    def _reply(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the Valkey server has gone")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RuntimeError(f"Valkey: {rest}")
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if int(rest) < 0:
                return None
            text = self.reader.read(int(rest) + 2)
            return text[:-2].decode()
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        return rest
