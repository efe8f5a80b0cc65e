// A world in which everything that somebody named or wrote is an attack or a nuisance: nothing of it runs, and every page stays legible.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closed, open, openers, over, together, wrongOn } from './look.mjs';
import { oneOfEach } from './one-of-each.mjs';
import { submit } from './worker.mjs';
import { DESKTOP, PHONE, as, close, makeKeys, serve, settled, signedIn, until } from './world.mjs';

/** What runs if anything of it is taken for more than text sets `owned`, or asks another machine. */
const ATTACKS = [
  '<script>globalThis.owned="script"</script>',
  '"><img/src="//elsewhere.example/"/onerror="globalThis.owned=1">',
  "'/onfocus='globalThis.owned=2'/autofocus/onmouseover='globalThis.owned=3'/x='",
  '</style></textarea></title></svg><svg/onload=globalThis.owned=4>',
  '<iframe/srcdoc="<script>parent.owned=5</script>"></iframe><base/href=//elsewhere.example/>',
  'javascript:globalThis.owned=6//https://elsewhere.example/',
  '{{constructor.constructor("globalThis.owned=7")()}}${globalThis.owned=8}</a><!--]]>',
];
/** What hides or turns what stands beside it, with nothing in it that is a space to a name. */
const BIDI = '\u202Egpj.exe\u2066\u2069\u200F\u061C';
const EMPTY = '\u200B\uFEFF\u200D';
const HIGH = `Z${'\u0335\u0353\u030F'.repeat(12)}a`;
const WIDE = 'W'.repeat(200);
const LETTERS = '漢字🙂👩‍👩‍👧ﷺ';
const ANSI = '\u001b[31mred\u001b[0m\u001b]0;title\u0007\u0000\r\n\ttab\u009b2J';
/** Text that may be read from right to left, or not be seen at all. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const utf8 = new TextEncoder();
/** As much of it as so many bytes hold, in whole characters. */
function cut(text, bytes) {
  let [all, size] = ['', 0];
  for (const char of text) {
    size += utf8.encode(char).length;
    if (size > bytes) break;
    all += char;
  }
  return all;
}

let turns = 0;
/** Another attack comes first each time, so that all of them are in a name somewhere. */
function evil(word, more) {
  turns += 1;
  const all = [...ATTACKS, BIDI + EMPTY, HIGH + LETTERS, WIDE].map((_, i, list) => list[(i + turns) % list.length]);
  return [word, ...all, ...more].join('');
}
const name = (word) => cut(evil(word, []), 240);
const text = (words) => evil(`${words} `, [' ', ANSI, ' ', 'word '.repeat(40)]);
const lane = (word) => cut(`${word}/../?<img/src=x/onerror=globalThis.owned=9>&#%2e"'\`{{7*7}}`, 64);
/** Names that are one and the same wherever they stand. */
const once = new Map();
const same = (word) => once.get(word) ?? once.set(word, name(word)).get(word);

let server;
let world;
let keys;
const admin = name('root');

before(async () => {
  server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  keys = await makeKeys(server, { [admin]: 'admin', [name('rea')]: 'reader' });
  world = await oneOfEach(server, { key: keys[admin], name: same, text, lane });
  await submit(server, same('web.fetch'), { namespace: name('space'), input: 'A'.repeat(900_000), input_type: 'text/plain' }, keys[admin]);
});

after(async () => {
  await close();
  await server?.stop();
});

/** What a page made of what it was told, if that is more than text. */
const made = () => {
  const bad = 'body :is(img, script:not([src]), iframe, object, embed, base, style, meta, link), a[href^="javascript:" i], [onerror], [onload], [onfocus], [onmouseover], [srcdoc]';
  return [...document.querySelectorAll(bad)].map((el) => el.outerHTML.slice(0, 200));
};

/** Everything that is read on a page, also what is only read aloud or shown on hover. */
const read = () => {
  const said = [document.title, document.body.innerText];
  for (const el of document.querySelectorAll('[title], [aria-label], [placeholder], option')) said.push(el.title, el.ariaLabel ?? '', el.placeholder ?? '', el.label ?? '');
  return said;
};

/** What of it is more than text that can be read. */
async function harm(page, what, how = { axe: false }) {
  const owned = await page.evaluate(() => globalThis.owned);
  const elements = (await page.evaluate(made)).map((el) => `${what}: text became an element: ${el}`);
  const hidden = (await page.evaluate(read)).filter((said) => HIDDEN.test(said));
  const around = (said, at) => JSON.stringify(said.slice(Math.max(0, at - 60), at + 20));
  return [
    ...(owned === undefined ? [] : [`${what}: ${owned} ran`]), ...elements,
    ...hidden.map((said) => `${what}: a character without a shape in ${around(said, said.search(HIDDEN))}`),
    ...(await wrongOn(page, what, how)),
  ];
}

test('nothing runs on any page, and all of it can be read', async () => {
  const wrong = [];
  await together(Object.entries({ desktop: DESKTOP, phone: PHONE }), async ([on, size]) => {
    const page = await signedIn(server, keys[admin], { size });
    for (const [called, place] of Object.entries(world.places)) {
      await open(page, server.url + place);
      wrong.push(...(await harm(page, `${called} on ${on}`, {})));
    }
    await page.leave();
  });
  assert.deepEqual(wrong, []);
});

test('nothing runs in what a page opens: tabs, menus, sheets, and what they ask', async () => {
  const page = await signedIn(server, keys[admin], { size: DESKTOP });
  const wrong = [];
  for (const [called, place] of Object.entries(world.places)) {
    await open(page, server.url + place);
    for (const [what, all] of [['tab', page.locator('main .tabs [role=tab]')], ['step', page.locator('.tl-step')]]) {
      for (const [at, one] of (await all.all()).entries()) {
        await one.click();
        await settled(page);
        wrong.push(...(await harm(page, `${called}, ${what} ${at}`)));
      }
    }
    const count = await openers(page).count();
    for (let at = 0; at < count; at += 1) {
      await openers(page).nth(at).click();
      await over(page).waitFor();
      wrong.push(...(await harm(page, `${called}, opened ${at}`)));
      await page.keyboard.press('Escape');
      await closed(page, called);
    }
  }
  assert.deepEqual(wrong, []);
  await page.leave();
});

test('nothing runs from an address that somebody was sent', async () => {
  const page = await signedIn(server, keys[admin], { allows: (said) => /^(4\d\d|console: .* 4\d\d)/.test(said) });
  const wrong = [];
  const evils = [...ATTACKS, BIDI + EMPTY, WIDE, ANSI];
  for (const bad of evils.map(encodeURIComponent)) {
    for (const place of [`/executions?kind=${bad}&lane=${bad}&tag.${bad}=${bad}&view=${bad}&order=${bad}&ns=${bad}`, `/executions/${bad}`, `/lanes/${bad}`, `/workers/${bad}?ns=${bad}`, `/flows/${bad}?find=${bad}&fold=${bad}`, `/approvals/${bad}/${bad}`, `/events?what=${bad}&kind=${bad}`]) {
      await page.goto(server.url + place);
      await until(`${place} shows something`, () => page.evaluate(() => document.querySelector('main h1, main [role=alert]') && !document.querySelector('main .skeleton')));
      wrong.push(...(await harm(page, place)));
    }
  }
  assert.deepEqual(wrong, []);
  // Who signs in is led back to where they were, and nowhere else.
  for (const next of ['//elsewhere.example/', 'https://elsewhere.example/', 'javascript:globalThis.owned=1', '/\\elsewhere.example/', '/\t/elsewhere.example/']) {
    await page.goto(`${server.url}/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByLabel(/key/i).first().fill(keys[admin]);
    await page.keyboard.press('Enter');
    await until('signed in', async () => !new URL(page.url()).pathname.startsWith('/sign-in'));
    assert.equal(new URL(page.url()).origin, server.url, `led to ${page.url()} by ${next}`);
    assert.deepEqual(await harm(page, next), []);
  }
  await page.leave();
});

test('what happens while one looks is text, too', async () => {
  const page = await signedIn(server, keys[admin]);
  for (const place of ['/events', '/executions', '/']) {
    await open(page, server.url + place);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    const kind = same(`new.${place.length}`);
    const id = await submit(server, kind, { lane_id: lane('mail'), tags: { tenant: cut(text('acme'), 1_000) } }, keys[admin]);
    await server.api('POST', `/executions/${encodeURIComponent(id)}/cancel`, { reason: text('no') }, as(keys[admin]));
    if (place === '/events') await page.locator('td', { hasText: 'cancelled' }).first().waitFor();
    if (place === '/executions') await page.getByText(/new · show/).waitFor();
    assert.deepEqual(await harm(page, `${place}, live`), []);
  }
  // What is typed to be found is shown, and is no more than that.
  for (const bad of ATTACKS) {
    await page.locator('#search input').fill(bad);
    await page.keyboard.press('Enter');
    await settled(page);
    assert.deepEqual(await harm(page, `found ${bad}`), []);
  }
  await page.leave();
});

test('the bytes themselves are never a page of this server', async () => {
  for (const path of [`/executions/${encodeURIComponent(world.made.broken)}/input`, `/executions/${encodeURIComponent(world.made.done)}/result`]) {
    const reply = await fetch(`${server.url}/v1${path}`, { headers: as(keys[admin]) });
    assert.equal(reply.status, 200);
    assert.match(reply.headers.get('content-security-policy') ?? '', /sandbox/, path);
    assert.match(reply.headers.get('content-disposition') ?? '', /^attachment/, path);
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff', path);
  }
});
