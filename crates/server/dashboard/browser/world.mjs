// A server with something in it, and a browser that notices whatever goes wrong on a page.
//
// With FF_DASHBOARD_FROM_DISK=1 pages load scripts and styles as they stand in the source, so that a change is seen without a build.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const tools = createRequire(`${process.env.FF_BROWSER_TOOLS}/`);
const { chromium } = tools('playwright-core');
export const AXE = tools.resolve('axe-core/axe.min.js');
const FROM_DISK = process.env.FF_DASHBOARD_FROM_DISK === '1';
const SOURCE = join(import.meta.dirname, '..');
const SHEETS = ['tokens', 'base', 'table', 'page', 'run', 'graph', 'phone'];
export const FULL = process.env.FF_TEST_DASHBOARD_FULL === '1';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

const END_MS = 30_000;

/** Servers of this file that have not ended. */
const running = new Set();

/** Starts `ff …` in a folder of its own and waits until it listens. */
export async function serve(args, { folder, env = {} } = {}) {
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'ff-dashboard-')));
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FF_')));
  const child = spawn(process.env.FF_BINARY, args, { cwd: own, env: { ...clean, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line);
        const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(line);
        if (found) resolve(found[1]);
      });
    }
    child.on('exit', () => reject(new Error(`${args.join(' ')} ended:\n${said.join('\n')}`)));
  });
  const end = async (signal) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      // One that does not go fails what it was asked for, and holds nobody up.
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await once(child, 'exit');
      clearTimeout(late);
    }
  };
  const server = {
    url,
    said,
    folder: own,
    kill: () => end('SIGKILL'),
    /** Asks it to end what it is doing and go, as whoever replaces it by another does. */
    drain: () => end('SIGTERM'),
    async stop() {
      running.delete(server);
      await end('SIGINT');
      if (!folder) await rm(own, { recursive: true, force: true });
    },
    /** Asks the interface as curl would. */
    async api(method, path, body, headers = {}) {
      const reply = await fetch(`${url}/v1${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await reply.text();
      return { status: reply.status, headers: reply.headers, body: text && JSON.parse(text) };
    },
  };
  running.add(server);
  return server;
}

/** Asks again until it is so; a page shows what happened when it hears of it. */
export async function until(what, isSo, ms = 15_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await isSo();
    if (found) return found;
    assert(Date.now() < end, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

let browser;
/** The one browser of a test file, also when several ask for it at once. */
export function launch() {
  browser ??= chromium.launch({ executablePath: process.env.FF_CHROMIUM, args: ['--no-sandbox'] });
  return browser;
}

/** Ends the browser, and servers that a test which failed has left behind. */
export async function close() {
  await (await browser)?.close();
  browser = undefined;
  for (const server of running) await server.stop();
}

/** A file of the dashboard as it stands in the source. */
async function fromDisk(route) {
  const path = new URL(route.request().url()).pathname.replace(/^.*?\/a\/[^/]+\//, '');
  const names = path === 'css/all.css' ? SHEETS.map((name) => `css/${name}.css`) : [path];
  const texts = await Promise.all(names.map((name) => readFile(join(SOURCE, name), 'utf8')));
  await route.fulfill({ body: texts.join(''), contentType: path.endsWith('.css') ? 'text/css' : 'text/javascript' });
}

/** Whether it is asked of somebody who is not on this machine. */
function isElsewhere(url) {
  const { protocol, hostname } = new URL(url);
  return !['data:', 'blob:', 'about:'].includes(protocol) && hostname !== '127.0.0.1';
}

/* c8 ignore start: this runs in the page. */

/** Remembers what moves without anybody having done something: how far, and from where to where. */
function notice() {
  const shifts = [];
  document.addEventListener('securitypolicyviolation', (report) => console.error(`policy: ${report.violatedDirective} ${report.blockedURI}`));
  const at = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
  const named = ({ node, previousRect: from, currentRect: to }) => `${at(from)} → ${at(to)} ${node?.outerHTML?.slice(0, 160) ?? node?.parentElement?.outerHTML.slice(0, 160) ?? node?.nodeName}`;
  const take = (entries) => shifts.push(...entries.filter(({ hadRecentInput }) => !hadRecentInput).map(({ value, sources }) => ({ value, of: sources.map(named) })));
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  // What is known and was not told yet counts, too.
  Object.defineProperty(globalThis, 'shifts', { get: () => (take(observer.takeRecords()), shifts) });
}

/* c8 ignore stop */

/** A page of a visitor of its own. `page.troubles` collects what must not happen: errors, reports of the browser, bad answers. */
export async function visit(url, { size = DESKTOP, theme = 'light', cookies = [], allows = () => false, ...more } = {}) {
  const context = await (await launch()).newContext({ viewport: size, colorScheme: theme, hasTouch: size === PHONE, ...more });
  await context.addCookies(cookies);
  if (FROM_DISK) await context.route(/\/a\/[0-9a-f]{32}\//, fromDisk);
  const page = await context.newPage();
  const troubles = [];
  const trouble = (said) => allows(said) || troubles.push(said);
  page.on('console', (line) => line.type() === 'error' && trouble(`console: ${line.text()}`));
  page.on('pageerror', (error) => trouble(`error: ${error.stack}`));
  page.on('response', (reply) => reply.status() >= 400 && trouble(`${reply.status()} ${reply.url()}`));
  // What a page never does by itself: ask in a box of the browser, open a window, speak to another machine.
  page.on('dialog', (box) => box.dismiss().then(() => trouble(`dialog: ${box.message()}`)));
  page.on('request', (request) => isElsewhere(request.url()) && trouble(`elsewhere: ${request.url()}`));
  context.on('page', (other) => trouble(`window: ${other.url()}`));
  await page.addInitScript(notice);
  page.troubles = troubles;
  page.leave = () => context.close();
  if (url) {
    await page.goto(url);
    await settled(page);
  }
  return page;
}

/** The headers of a request that shows a key, if there is one. */
export const as = (key) => (key ? { authorization: `Bearer ${key}` } : {});

/** Makes keys, `{root: 'admin', ana: 'operator'}`: the first is to be an admin's, since from then on only that makes others. */
export async function makeKeys(server, roles) {
  const keys = {};
  const [first] = Object.keys(roles);
  for (const [name, role] of Object.entries(roles)) {
    const { status, body } = await server.api('POST', '/admin/keys', { name, role }, as(keys[first]));
    assert(status < 300, `key of ${name}: ${status} ${JSON.stringify(body)}`);
    keys[name] = body.key;
  }
  return keys;
}

/** A page of somebody who has signed in with a key. */
export async function signedIn(server, key, how) {
  const page = await visit(null, how);
  const headers = { origin: server.url, 'x-ff-page': '1' };
  const reply = await page.request.post(`${server.url}/v1/sign-in`, { data: { key }, headers });
  assert.equal(reply.status(), 204, 'signed in');
  return page;
}

/** The page has its data: nothing is a skeleton any more. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .skeleton, main > [aria-busy=true]'));
}

/** What axe finds that is serious. */
export async function accessibility(page) {
  // The policy of the page lets no script in that is not its own; this one is put in by the browser itself.
  await page.evaluate(await readFile(AXE, 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any, all, none }) => `${html.slice(0, 120)} (${[...any, ...all, ...none][0]?.message})`).join(' | ')}`);
}
