"""SQLite: there is no server, only a folder on the same disk for everybody."""

import shutil
import sqlite3


class Sqlite:
    kind = "sqlite"
    # Nobody is told an address: each makes a file of its own.
    is_served = False
    # What `ff bench` is told besides.
    options = ()
    processes = ()
    # Each brings its own; this is the one of the harness, which measures nothing.
    version = f"SQLite, each its own (Python: {sqlite3.sqlite_version})"

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)

    def address(self, scheme="sqlite"):
        return f"{scheme}:{self.folder / 'store.db'}"

    def clean(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def stored_bytes(self):
        """Nobody knows: each has its file where it likes."""

    def stop(self):
        pass


class SqliteNormal(Sqlite):
    """The same, and what is committed is on disk a little later."""

    kind = "sqlite-normal"
    options = ("--sync", "normal")
