// Keys alone: they reach everything that can be pressed, one sees where they are, nothing holds them, and each page's main task is done by them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closed, open, openers, over, walk } from './look.mjs';
import { oneOfEach } from './one-of-each.mjs';
import { done, said, submit, worker } from './worker.mjs';
import { DESKTOP, PHONE, close, serve, until, visit } from './world.mjs';

let server;
let world;

before(async () => {
  server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  world = await oneOfEach(server);
});

after(async () => {
  await close();
  await server?.stop();
});

const run = (id) => `/executions/${encodeURIComponent(id)}`;
const focused = (page) => page.evaluate(() => document.activeElement.textContent?.trim() || document.activeElement.ariaLabel || document.activeElement.localName);
/** Whether the focus is in, or on, an element of a selector. */
const isIn = (page, selector) => page.evaluate((selector) => document.activeElement.closest(selector) !== null, selector);
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Goes on with Tab until the focus is on what has this name. */
async function tabTo(page, name) {
  for (let i = 0; i < 80; i += 1) {
    if (name.test(await focused(page))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab never came to ${name}`);
}

/** Looks at every page on a desktop and on a phone at once: most of what takes time is waiting. */
const onBoth = (look) => Promise.all(Object.entries({ desktop: DESKTOP, phone: PHONE }).map(async ([on, size]) => {
  const page = await visit(null, { size });
  for (const [called, place] of Object.entries(world.places)) {
    await open(page, server.url + place);
    await look(page, `${called} on ${on}`);
  }
  assert.deepEqual(page.troubles, []);
  await page.leave();
}));

test('Tab reaches everything and shows where it is', async () => {
  const wrong = [];
  await onBoth(async (page, called) => {
    const { stops, left } = await walk(page);
    assert(stops.length > 5, `${called}: Tab stopped only ${stops.length} times`);
    wrong.push(...left.map((name) => `${called}: Tab does not reach ${name}`));
    wrong.push(...stops.filter(({ seen }) => !seen).map(({ name }) => `${called}: the focus is not seen on ${name}`));
    wrong.push(...stops.filter(({ hidden }) => hidden).map(({ name, hidden }) => `${called}: ${name} lies under ${hidden}`));
  });
  assert.deepEqual(wrong, []);
});

test('the first stop leads to the content, past everything around it', async () => {
  const page = await visit();
  for (const place of ['overview', 'executions', 'done', 'flow', 'approvals', 'budget', 'events']) {
    await open(page, server.url + world.places[place]);
    await page.evaluate(() => document.activeElement.blur());
    const skip = page.locator('.skip');
    await skip.focus();
    const box = await skip.boundingBox();
    assert(box.x >= 0 && box.y >= 0, `${place}: the way to the content is not seen`);
    await press(page, 'Enter');
    await until(`${place}: the content has the focus`, () => isIn(page, 'main'), 2_000);
    await press(page, 'Tab');
    assert(await isIn(page, 'main'), `${place}: then Tab is at ${await focused(page)}`);
  }
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('every menu and sheet opens by keys, keeps them, and gives them back on Esc', async () => {
  const wrong = [];
  const opened = { desktop: 0, phone: 0 };
  await onBoth(async (page, called) => {
    const all = openers(page);
    for (let at = 0; at < (await all.count()); at += 1) {
      const one = all.nth(at);
      const what = `${called}: ${await one.evaluate((el) => el.textContent || el.ariaLabel)}`;
      await one.focus();
      await press(page, 'Enter');
      await over(page).waitFor({ timeout: 5_000 }).catch(() => wrong.push(`${what} opens nothing`));
      if ((await over(page).count()) === 0) continue;
      opened[called.split(' ').at(-1)] += 1;
      await until(`${what} has the focus`, () => isIn(page, '.popup, dialog'), 2_000).catch(() => wrong.push(`${what} takes no focus`));
      for (let i = 0; i < 12; i += 1) {
        await press(page, (await over(page).getByRole('menuitem').count()) ? 'ArrowDown' : 'Tab');
        if (!(await isIn(page, '.popup, dialog, body:not(:has(:focus))'))) wrong.push(`${what} lets go of the focus: ${await focused(page)}`);
      }
      await press(page, 'Escape');
      await closed(page, what);
      if (!(await one.evaluate((el) => el === document.activeElement))) wrong.push(`${what} does not give the focus back: ${await focused(page)} has it`);
    }
  });
  assert(Math.min(opened.desktop, opened.phone) > 15, `only ${JSON.stringify(opened)} were opened`);
  assert.deepEqual([...new Set(wrong)], []);
});

test('around the page, too: namespace, who, theme, search, keys, and what more there is on a phone', async () => {
  const page = await visit(`${server.url}/executions`);
  for (const id of ['ns', 'who']) {
    await page.locator(`#${id}`).focus();
    await press(page, 'Enter');
    await over(page).waitFor();
    await press(page, 'Escape');
    await closed(page, id);
    assert.equal(await page.evaluate(() => document.activeElement.id), id);
  }
  const theme = page.locator('#theme');
  await theme.focus();
  await press(page, 'Space');
  assert.match(await page.evaluate(() => document.documentElement.dataset.theme), /dark/);
  await page.evaluate(() => document.activeElement.blur());
  await press(page, '?');
  await page.getByRole('dialog').waitFor();
  await press(page, 'Escape');
  await closed(page, 'the list of keys');
  await press(page, '/');
  assert(await isIn(page, '#search'));
  await page.keyboard.type('web.f');
  await page.locator('.hits:not(.dim) a').first().waitFor();
  await press(page, 'ArrowDown', 'Enter');
  await until('the hit is shown', () => new URL(page.url()).search.includes('kind=web.fetch'));
  assert.deepEqual(page.troubles, []);
  await page.leave();

  const phone = await visit(`${server.url}/executions`, { size: PHONE });
  const more = phone.locator('#more');
  await more.focus();
  await press(phone, 'Enter');
  await phone.locator('#rest a').first().waitFor();
  assert.equal(await more.getAttribute('aria-expanded'), 'true');
  await press(phone, 'Tab');
  assert(await isIn(phone, '#rest'));
  await press(phone, 'Escape');
  await until('it is closed', async () => !(await phone.locator('#rest a').first().isVisible()), 2_000);
  assert.equal(await phone.evaluate(() => document.activeElement.id), 'more');
  assert.equal(await more.getAttribute('aria-expanded'), 'false');
  await phone.leave();
});

test('executions: to the list, a filter, a row, what to do with it, and back', async () => {
  const id = await submit(server, 'keys.cancel', { lane_id: 'mail' });
  const page = await visit(`${server.url}/`);
  await press(page, 'g', 'e');
  await page.locator(`tr[data-key="${id}"]`).waitFor();
  await press(page, 'f');
  await over(page).waitFor();
  await page.keyboard.press('ArrowDown');
  await until('kind has the focus', async () => /^kind/.test(await focused(page)), 2_000);
  await press(page, 'Enter');
  await page.locator('.popup input').waitFor();
  await page.keyboard.type('keys.cancel');
  await press(page, 'Enter');
  await until('one row', async () => (await page.locator('tr[data-key]').count()) === 1);
  await press(page, 'j');
  await until('the row has the focus', () => isIn(page, 'tr[data-key]'));
  await press(page, 'Enter');
  await page.getByRole('heading', { name: 'keys.cancel' }).waitFor();
  await press(page, 'h');
  await page.getByRole('button', { name: 'Let go' }).waitFor();
  await press(page, 'c');
  await page.getByRole('dialog').waitFor();
  await until('the reason is asked for', () => isIn(page, 'textarea'));
  await page.keyboard.type('by keys');
  await tabTo(page, /^Cancel it$/);
  await press(page, 'Enter');
  await page.locator('.head .state-chip', { hasText: 'Cancelled' }).waitFor();
  await until('the focus stays on the page', () => isIn(page, 'main'), 2_000);
  await press(page, 'r');
  await page.getByRole('dialog').waitFor();
  await press(page, 'Escape');
  await closed(page, 'the sheet of a replay');
  for (const [key, by] of [[']', 1], ['[', -1]]) {
    const at = () => page.locator('.tabs [role=tab]').evaluateAll((all) => all.findIndex((el) => el.ariaSelected === 'true'));
    const before = await at();
    await press(page, key);
    const { length } = await page.locator('.tabs [role=tab]').all();
    assert.equal(await at(), (before + by + length) % length);
  }
  await press(page, 'u');
  await until('back at the filter', () => new URL(page.url()).search.includes('keys.cancel'));
  await until('the row has the focus again', () => isIn(page, `tr[data-key="${id}"]`));
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('executions: several are selected and held at once', async () => {
  const ids = [await submit(server, 'keys.many', { lane_id: 'mail' }), await submit(server, 'keys.many', { lane_id: 'mail' })];
  const page = await visit(`${server.url}/executions?kind=keys.many`);
  await press(page, 'j', 'x', 'j', 'x');
  await page.locator('.selbar').waitFor();
  await tabTo(page, /^Hold/);
  await press(page, 'Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, /^Hold 2|^Hold$/);
  await press(page, 'Enter');
  await until('both are held', async () => {
    const all = await Promise.all(ids.map((id) => said(server, run(id))));
    return all.every(({ state_vector: state }) => state.eligibility_state === 'blocked_by_operator');
  });
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('approvals: from the list to a decision', async () => {
  const web = await worker(server, { instance: 'keys-1', lanes: ['keys'] });
  const id = await submit(server, 'keys.ask', { lane_id: 'keys' });
  await web.ask(await web.take());
  const page = await visit(`${server.url}/`);
  await press(page, 'g', 'a');
  await page.locator('.ask', { hasText: 'keys.ask' }).waitFor();
  for (let i = 0; i < 5 && !(await page.locator('.ask[aria-current]', { hasText: 'keys.ask' }).count()); i += 1) await press(page, 'j');
  await page.locator('.ask-pane', { hasText: 'keys.ask' }).getByRole('button', { name: 'Approve A' }).waitFor();
  await press(page, 'a');
  await until('it goes on', async () => (await said(server, run(id))).public_state !== 'suspended');
  assert.deepEqual(page.troubles, []);
  await web.finish(await web.take(), 'complete');
  await web.leave();
  await page.leave();
});

test('a flow: along its edges, the list of it, and to a member', async () => {
  const page = await visit(`${server.url}/`);
  await press(page, 'g', 'f');
  await page.locator(`tr[data-key="${world.made.flow}"]`).waitFor();
  await press(page, 'j', 'Enter');
  await page.locator('.graph-svg').waitFor();
  await press(page, 'ArrowRight', 'ArrowRight');
  await until('one is chosen', () => new URL(page.url()).searchParams.has('at'));
  await press(page, 'c');
  await until('the critical path is shown', () => new URL(page.url()).searchParams.get('path') === '1');
  await press(page, 'f');
  assert(await isIn(page, '.flow-find'));
  await page.keyboard.type('part.b');
  await until('it is found', () => new URL(page.url()).searchParams.get('find') === 'part.b');
  await tabTo(page, /^Groups$/);
  await press(page, 'ArrowLeft');
  await page.locator('.outline').waitFor();
  await tabTo(page, /part\.[abc]/);
  await press(page, 'ArrowDown', 'Enter');
  await until('the member is shown', () => new URL(page.url()).pathname.startsWith('/executions/'));
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('lanes, budgets, quotas and workers: what an operator does there', async () => {
  const page = await visit(`${server.url}/`);
  const lane = async () => (await said(server, '/lanes/mail')).state;
  await press(page, 'g', 'l');
  // The page before has a row of this lane, too.
  await page.getByRole('heading', { level: 1, name: 'Lanes' }).waitFor();
  await page.locator('tr[data-key=mail]').waitFor();
  for (let i = 0; i < 5 && !(await isIn(page, 'tr[data-key=mail]')); i += 1) await press(page, 'j');
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  const before = await lane();
  await tabTo(page, /^Pause$/);
  await press(page, 'Enter');
  await until('it is paused', async () => (await lane()) !== before);

  await press(page, 'g', 'b');
  await page.locator('.split-row').first().waitFor();
  await tabTo(page, /^Raise the limit…$/);
  await press(page, 'Enter');
  await page.getByRole('dialog').waitFor();
  await until('a limit can be typed', () => isIn(page, 'dialog input'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('5');
  await press(page, 'Enter');
  await closed(page, 'the limits');
  await until('it has another limit', async () => (await said(server, `/budgets/${world.made.budget}`)).dimensions.cents.hard !== 100);

  await press(page, 'g', 'q');
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor();
  await page.locator('.split-row').first().waitFor();
  await press(page, 'g', 'w');
  await page.locator('tr[data-key=web-7]').waitFor();
  for (let i = 0; i < 5 && !(await isIn(page, 'tr[data-key=web-7]')); i += 1) await press(page, 'j');
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Drain…' }).waitFor();
  await tabTo(page, /^Drain…$/);
  await press(page, 'Enter');
  await page.getByRole('dialog').waitFor();
  await until('the reason is asked for', () => isIn(page, 'textarea'));
  await page.keyboard.type('by keys');
  await tabTo(page, /^Drain$/);
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Give work again' }).waitFor();
  await done(server, 'DELETE', '/workers/web-7/drain');
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('who wants no single keys has none', async () => {
  const page = await visit(`${server.url}/executions`, { cookies: [{ name: 'ff_theme', value: 'nokeys', url: server.url }] });
  await press(page, 'g', 'l', 'j', 'x', 'f', 'c', '/');
  assert.equal(new URL(page.url()).pathname, '/executions');
  assert.equal(await over(page).count(), 0);
  assert.equal(await isIn(page, '#search'), false);
  await page.leave();
});
