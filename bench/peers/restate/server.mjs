// A Restate server of its own, which keeps what it is told in a folder that is thrown away.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a server may take to be ready, in milliseconds. */
const PATIENCE = 60_000;

/** A port that nobody listens on. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The program of this platform. */
function program() {
  const launcher = createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json');
  const platform = `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`;
  return join(dirname(createRequire(launcher).resolve(platform)), 'bin', 'restate-server');
}

/** Starts one: `{ process, ingress, admin, stop }`. */
export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const server = spawn(program(), ['--base-dir', folder, '--no-logo'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'error',
    },
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const end = () => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  // Nothing of it stays behind, however this program ends.
  process.once('exit', end);
  const started = {
    process: server.pid,
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    async stop() {
      server.kill('SIGTERM');
      await ended;
    },
  };
  const isReady = async (url) => {
    const { ok } = await fetch(url).catch(() => ({ ok: false }));
    return ok;
  };
  for (const url of [`${started.admin}/health`, `${started.ingress}/restate/health`]) {
    for (let waited = 0; !(await isReady(url)); waited += 100) {
      if (waited > PATIENCE || server.exitCode !== null) throw new Error('the Restate server is not ready');
      await sleep(100);
    }
  }
  return started;
}
