"""A PostgreSQL server as initdb sets it up: what is committed is on disk. It ends with the run."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from .places import ROOT
from .ports import free_port

USER = "bench"
DATABASE = "bench"


class Postgres:
    kind = "postgres"
    is_served = True
    options = ()

    def __init__(self, folder):
        found = os.environ.get("FF_POSTGRES_BIN") or subprocess.run(
            [ROOT / "scripts" / "postgres-server"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
        self.programs = Path(found)
        self.folder = folder
        self.port = free_port()
        folder.mkdir(parents=True)
        self.as_user = {}
        if os.geteuid() == 0:
            # It does not run as root.
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                user = pwd.getpwnam("nobody")
            shutil.chown(folder, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._program("initdb", "--username", USER, "--auth", "trust", "--no-instructions")
        options = f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        self._program("pg_ctl", "start", "--silent", "--log", folder / "log", "--options", options)
        try:
            self.version = "PostgreSQL " + self._sql("SHOW server_version").split()[0]
        except BaseException:
            self.stop()
            raise

    def _program(self, name, *arguments):
        command = [self.programs / name, "--pgdata", self.folder / "data", *arguments]
        # Not to a pipe: the server that pg_ctl leaves behind would hold it open.
        with open(self.folder.with_suffix(".out"), "w+b") as output:
            ended = subprocess.run(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **self.as_user
            )
            if ended.returncode:
                output.seek(0)
                raise RuntimeError(f"{name} failed: {output.read().decode(errors='replace')}")

    def _sql(self, *statements):
        program = self.programs / "psql"
        command = [program if program.exists() else "psql", "--quiet", "--no-psqlrc", "--tuples-only", "--no-align"]
        command += ["--set", "ON_ERROR_STOP=1", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--username", USER, "--dbname", "postgres"]
        for statement in statements:
            command += ["--command", statement]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ended.returncode:
            raise RuntimeError(f"psql: {ended.stderr}")
        return ended.stdout.strip()

    @property
    def processes(self):
        return [int((self.folder / "data" / "postmaster.pid").read_text().split()[0])]

    def address(self, scheme="postgres"):
        return f"{scheme}://{USER}@127.0.0.1:{self.port}/{DATABASE}"

    def clean(self):
        # What one has left to write is not written in the time of the next.
        self._sql(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", f"CREATE DATABASE {DATABASE}", "CHECKPOINT")

    def stored_bytes(self):
        return int(self._sql(f"SELECT pg_database_size('{DATABASE}')"))

    def stop(self):
        self._program("pg_ctl", "stop", "--silent", "--mode", "immediate")
