"""Where things are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Cargo reads a relative one from where it runs, which is the root.
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
PEERS = ROOT / "bench" / "peers"
# What peers install.
INSTALLED = TARGET / "peers"
# What runs leave.
RESULTS = TARGET / "bench"
