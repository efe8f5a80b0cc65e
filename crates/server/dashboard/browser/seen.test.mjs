// Who looks in a way of their own: with the page enlarged, without motion, with the colours of their system.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, sideways, together } from './look.mjs';
import { oneOfEach } from './one-of-each.mjs';
import { done } from './worker.mjs';
import { accessibility, close, serve, until, visit } from './world.mjs';

// A window of 1280×800, enlarged.
const ZOOMS = { '200 %': { width: 640, height: 400 }, '320 px': { width: 320, height: 256 } };
const WORDS = {
  runs: 'Running', asks: 'Waits for a person', done: 'Completed', broken: 'Failed', gone: 'Cancelled', held: 'Waiting', late: 'Delayed', unpaid: 'Held by a limit',
};

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

/** What can be pressed and reaches out of the window, where nothing scrolls to it. */
const cutOff = () => {
  const scrolls = (el) => el && el !== document.body && (/auto|scroll/.test(getComputedStyle(el).overflowX) || scrolls(el.parentElement));
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea')].filter((el) => el.checkVisibility() && !el.matches('.skip, .flow-stage *'));
  const out = (box) => box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
  return all.filter((el) => out(el.getBoundingClientRect()) && !scrolls(el.parentElement)).map((el) => el.outerHTML.slice(0, 160));
};

test('however far it is enlarged nothing scrolls sideways, and everything can be pressed', async () => {
  const wrong = [];
  await together(Object.entries(ZOOMS), async ([zoom, size]) => {
    const page = await visit(null, { size, deviceScaleFactor: 2 });
    for (const [called, place] of Object.entries(world.places)) {
      await open(page, server.url + place);
      const by = await sideways(page);
      if (by > 0) wrong.push(`${called} at ${zoom} is ${by} px too wide`);
      wrong.push(...(await page.evaluate(cutOff)).map((el) => `${called} at ${zoom} cuts off ${el}`));
      wrong.push(...page.troubles.splice(0));
    }
    await page.leave();
  });
  assert.deepEqual(wrong, []);
});

/** What moves, by the name of what makes it move. */
const moving = (page) => page.evaluate(() => document.getAnimations().map((one) => one.animationName ?? one.transitionProperty));

test('nothing moves for who wants no motion', async () => {
  const [still, moved] = [await visit(null, { reducedMotion: 'reduce' }), await visit(null, { reducedMotion: 'no-preference' })];
  await open(moved, server.url + world.places.runs);
  assert((await moving(moved)).includes('turn'), 'the mark of what runs turns for everybody else');
  for (const [called, place] of Object.entries(world.places)) {
    await open(still, server.url + place);
    assert.deepEqual(await moving(still), [], called);
    for (const button of (await still.locator('main :is(button, a.btn)').filter({ visible: true }).all()).slice(0, 3)) {
      await button.hover({ force: true });
      assert.deepEqual(await moving(still), [], `${called}, under the pointer`);
    }
  }
  // A value that changes flashes for who wants it to.
  for (const [page, flashes] of [[moved, true], [still, false]]) {
    await open(page, `${server.url}/executions`);
    await page.evaluate(() => {
      globalThis.moved = [];
      document.addEventListener('animationstart', (event) => globalThis.moved.push(event.animationName));
    });
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    const row = page.locator(`tr[data-key="${world.made.late}"]`);
    const before = await row.textContent();
    const op = flashes ? 'hold' : 'unhold';
    assert((await server.api('POST', `/executions/${encodeURIComponent(world.made.late)}/${op}`, {})).status < 300);
    await until('the row says it', async () => (await row.textContent()) !== before);
    const seen = () => page.evaluate(() => globalThis.moved.includes('flash'));
    if (flashes) await until('it flashes', seen);
    else assert.equal(await seen(), false);
  }
  await still.leave();
  await moved.leave();
});

test('with the colours of the system states are told apart by words and shapes', async () => {
  const page = await visit(null, { forcedColors: 'active' });
  for (const [called, place] of Object.entries(world.places)) {
    await open(page, server.url + place);
    assert.deepEqual(await accessibility(page), [], called);
    assert.deepEqual(page.troubles, [], called);
  }
  await open(page, `${server.url}/executions`);
  const shapes = new Map();
  for (const [called, word] of Object.entries(WORDS)) {
    const state = page.locator(`tr[data-key="${world.made[called]}"] .state`).first();
    assert.match(await state.innerText(), new RegExp(word, 'i'), called);
    const mark = state.locator('svg.mark').first();
    const shape = (await mark.screenshot({ animations: 'disabled' })).toString('base64');
    assert.equal(shapes.get(shape), undefined, `${called} looks like ${shapes.get(shape)}`);
    shapes.set(shape, called);
  }
  await page.leave();
});

/** Whether something looks the same in two states; `change` leads from one to the other. */
async function differs(page, one, what, change) {
  const look = async () => {
    await page.mouse.move(0, 0);
    await page.evaluate(() => document.activeElement.blur());
    return (await one.screenshot({ animations: 'disabled' })).toString('base64');
  };
  const before = await look();
  await change();
  await until(`${what} looks another way once it is chosen`, async () => (await look()) !== before, 5_000);
}

test('with the colours of the system what is chosen is seen', async () => {
  const page = await visit(null, { forcedColors: 'active' });
  await open(page, `${server.url}/`);
  await differs(page, page.getByRole('tab', { name: '24 h' }), 'a span', () => page.getByRole('tab', { name: '24 h' }).click());
  await differs(page, page.locator('#rail a[data-s=lanes]'), 'an entry of the rail', () => page.locator('#rail a[data-s=lanes]').click());
  await open(page, server.url + world.places.done);
  await differs(page, page.getByRole('tab', { name: 'Attempts' }), 'a tab', () => page.getByRole('tab', { name: 'Attempts' }).click());
  await open(page, `${server.url}/executions`);
  const box = page.locator('td.pick input').first();
  await differs(page, box, 'a box', () => box.check());
  const state = page.getByRole('navigation', { name: 'States' }).getByRole('link', { name: /^Failed/ });
  await differs(page, state, 'a state', () => state.click());
  await done(server, 'POST', '/budgets', { scope: 'other', dimensions: { cents: { hard: 100 } } });
  await open(page, server.url + world.places.budget);
  const row = page.locator('.split-row').last();
  await differs(page, row, 'a row of a list', () => row.click());
  await page.leave();
});
