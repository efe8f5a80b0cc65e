"""Valkey servers that keep nothing and end with the run."""

import subprocess

from .places import ROOT
from .ports import free_port
from .resp import Connection
from .until import until

SLOTS = 16_384
PRIMARIES = 3


class Valkey:
    """One server."""

    kind = "valkey"
    is_served = True
    options = ()

    def __init__(self, folder, *options):
        program = subprocess.run(
            [ROOT / "scripts" / "valkey-server"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
        self.port = free_port()
        folder.mkdir(parents=True)
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)]
        command += ["--save", "", "--appendonly", "no", *options]
        self.log = open(folder / "log", "wb")
        self.server = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        try:
            self.connection = until("Valkey answers", self._connect)
        except BaseException:
            self.stop()
            raise
        self.version = "Valkey " + (self._info("valkey_version") or self._info("redis_version"))

    def _connect(self):
        if self.server.poll() is not None:
            raise RuntimeError(f"Valkey has ended; its log is {self.log.name}")
        try:
            return Connection(self.port)
        except OSError:
            return None

    def _info(self, field):
        try:
            return self.connection.info("server", field)
        except KeyError:
            return None

    @property
    def processes(self):
        return [self.server.pid]

    def address(self, scheme="valkey"):
        return f"{scheme}://127.0.0.1:{self.port}"

    def clean(self):
        self.connection.ask("FLUSHALL", "SYNC")
        self.connection.ask("FUNCTION", "FLUSH", "SYNC")
        self.connection.ask("SCRIPT", "FLUSH", "SYNC")

    def stored_bytes(self):
        return int(self.connection.info("memory", "used_memory"))

    def stop(self):
        self.server.kill()
        self.server.wait()
        self.log.close()


class ValkeyCluster:
    """Three primaries that share all slots."""

    kind = "cluster"
    is_served = True
    options = ()

    def __init__(self, folder):
        self.nodes = []
        try:
            for number in range(PRIMARIES):
                self.nodes.append(Valkey(folder / str(number), "--cluster-enabled", "yes"))
            self._form()
        except BaseException:
            self.stop()
            raise
        self.version = f"{self.nodes[0].version}, {PRIMARIES} primaries"

    def _form(self):
        for number, node in enumerate(self.nodes):
            first, after = (SLOTS * bound // PRIMARIES for bound in (number, number + 1))
            # Different epochs from the start: no two have to settle which of them goes first.
            node.connection.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            node.connection.ask("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
            for other in self.nodes[:number]:
                node.connection.ask("CLUSTER", "MEET", "127.0.0.1", other.port)
        for node in self.nodes:
            until("the cluster is whole", lambda node=node: self._is_whole(node))

    def _is_whole(self, node):
        info = dict(line.split(":", 1) for line in node.connection.ask("CLUSTER", "INFO").split())
        return info["cluster_state"] == "ok" and info["cluster_size"] == str(PRIMARIES)

    @property
    def processes(self):
        return [node.server.pid for node in self.nodes]

    def address(self, scheme="valkey"):
        return ",".join(node.address(scheme) for node in self.nodes)

    def clean(self):
        for node in self.nodes:
            node.clean()

    def stored_bytes(self):
        return sum(node.stored_bytes() for node in self.nodes)

    def stop(self):
        for node in self.nodes:
            node.stop()
