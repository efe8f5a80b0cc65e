// Takes the pictures of docs/screenshots: every page, light and dark, on a desktop and a phone. They are for people who read the
// documentation and for whoever changes a style; no test compares them.
//
//     node screenshots.mjs [PAGE…]
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { day } from './shown-day.mjs';
import { report } from './shown-flow.mjs';
import { agent } from './shown-run.mjs';
import { small } from './small-png.mjs';
import { said } from './worker.mjs';

const FOLDER = process.env.FF_SCREENSHOTS ?? resolve(import.meta.dirname, '../../../../docs/screenshots');
const FONTS = join(process.env.FF_BROWSER_TOOLS, 'fonts');
const MOST_BYTES = 2_000_000;

// With the fonts the styles name first, if they are there: pictures should not depend on what a machine happens to have.
if (existsSync(FONTS)) {
  const conf = join(FONTS, 'fonts.conf');
  await writeFile(conf, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include><dir>${FONTS}</dir><cachedir>${FONTS}/cache</cachedir></fontconfig>\n`);
  process.env.FONTCONFIG_FILE = conf;
}
const { DESKTOP, PHONE, close, serve, settled, visit } = await import('./world.mjs');

const wanted = process.argv.slice(2);
const wants = (...names) => wanted.length === 0 || names.some((name) => wanted.includes(name));
let bytes = 0;

async function take(name, url, { ready = () => {}, cookies } = {}) {
  if (!wants(name)) return;
  for (const [on, size] of [['desktop', DESKTOP], ['phone', PHONE]]) {
    for (const theme of ['light', 'dark']) {
      const page = await visit(url, { size, theme, cookies, timezoneId: 'Etc/UTC', reducedMotion: 'reduce' });
      await ready(page, on);
      // Its numbers come with the first message of its stream; the network is never idle.
      await page.waitForTimeout(name === 'events' ? 2_000 : 900);
      const picture = small(await page.screenshot());
      await writeFile(join(FOLDER, `${name}-${on}-${theme}.png`), picture);
      bytes += picture.length;
      if (page.troubles.length > 0) console.log(`${name} ${on} ${theme}: ${page.troubles.join('\n')}`);
      await page.leave();
    }
  }
}

async function aDay() {
  const server = await day();
  const [first] = (await said(server, '/approvals')).items.toSorted((a, b) => Number(b.escalated ?? false) - Number(a.escalated ?? false) || a.since - b.since);
  const asked = `/approvals/${first.execution_id}/${first.waitpoints[0].waitpoint_id}`;
  await take('overview', `${server.url}/`);
  await take('executions', `${server.url}/executions`);
  await take('approvals', server.url + asked, { ready: (page) => page.locator('.ask-pane h2').waitFor() });
  await take('lanes', `${server.url}/lanes`);
  await take('lane', `${server.url}/lanes/gpu`);
  for (const name of ['budgets', 'quotas', 'workers']) await take(name, `${server.url}/${name}`);
  await take('events', `${server.url}/events?from=oldest`);
  await server.stop();
}

async function work() {
  const server = await serve(['dev', '--memory', '--empty', '--port', '0']);
  const [run, flow] = await Promise.all([agent(server), report(server)]);
  await take('execution', `${server.url}/executions/${run}`);
  await take('flows', `${server.url}/flows`);
  await take('flow', `${server.url}/flows/${flow}`);
  await server.stop();
}

async function guarded() {
  const server = await serve(['serve', '--store', 'sqlite:ff.db', '--listen', '127.0.0.1:0']);
  const key = async (name, role, more, by) => (await server.api('POST', '/admin/keys', { name, role, ...more }, by && { authorization: `Bearer ${by}` })).body.key;
  const own = await key('ops-ana', 'admin');
  for (const [name, role, more] of [['web-workers', 'worker'], ['shop', 'submitter', { namespace: 'shop', expires_at: Date.now() + 90 * 86_400_000 }], ['grafana', 'reader'], ['ops-li', 'operator']]) await key(name, role, more, own);
  await take('sign-in', `${server.url}/sign-in`);
  const reply = await fetch(`${server.url}/v1/sign-in`, { method: 'POST', headers: { 'content-type': 'application/json', origin: server.url, 'x-ff-page': '1' }, body: JSON.stringify({ key: own }) });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(reply.headers.get('set-cookie'));
  await take('keys', `${server.url}/keys`, { cookies: [{ name, value, url: `${server.url}/v1` }] });
  await server.stop();
}

await mkdir(FOLDER, { recursive: true });
try {
  if (wants('overview', 'executions', 'approvals', 'lanes', 'lane', 'budgets', 'quotas', 'workers', 'events')) await aDay();
  if (wants('execution', 'flows', 'flow')) await work();
  if (wants('keys', 'sign-in')) await guarded();
} finally {
  await close();
}
console.log(`${FOLDER}: ${bytes} bytes`);
if (bytes > MOST_BYTES) throw new Error('the pictures are too large');
