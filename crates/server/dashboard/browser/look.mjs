// What is looked at on a page, whatever the page: whether it is in order, where keys stop, and what they open.
import { accessibility, settled, until } from './world.mjs';

/** How many pixels a page is wider than its window. */
export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** Opens an address and waits until it shows what it has. */
export async function open(page, address) {
  await page.goto(address);
  await settled(page);
}

/** Does something with each of a list, some at a time: most of what takes time is waiting. */
export async function together(list, run, most = 3) {
  const left = [...list];
  await Promise.all(Array.from({ length: most }, async () => {
    while (left.length > 0) await run(left.shift());
  }));
}

/** What went wrong on a page until now: errors, serious findings of axe, what is too wide, and what moved by itself. */
export async function wrongOn(page, what, { axe = true } = {}) {
  const all = page.troubles.splice(0);
  if (axe) all.push(...(await accessibility(page)));
  const by = await sideways(page);
  if (by > 0) all.push(`${by} px too wide`);
  for (const { value, of } of await page.evaluate(() => globalThis.shifts)) all.push(`moves by itself, ${value}: ${of.join(', ')}`);
  return all.map((one) => `${what}: ${one}`);
}

/** What opens a menu or a sheet on a page. */
export const openers = (page) =>
  page.locator('main button:not([aria-disabled=true], :disabled)').and(page.locator('[aria-haspopup=menu], .chip[title]').or(page.getByText(/…/))).filter({ visible: true });

/** What is open over a page: a menu, or a sheet. */
export const over = (page) => page.locator('.popup:popover-open, dialog[open]');

/** What lies over a page is gone. */
export const closed = (page, what) => until(`${what} closes`, async () => (await over(page).count()) === 0, 5_000);

/**
 * Goes through a page with Tab, from its beginning until it comes round. Answers where it stopped, each `{name, seen, hidden}`:
 * whether one sees that the focus is there, and what lies over it; and what can be pressed and was left out.
 */
export async function walk(page) {
  await page.evaluate(begin);
  const most = await page.evaluate(() => globalThis.walked.all.length + 30);
  for (let i = 0; i < most; i += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(step)) break;
  }
  return page.evaluate(end);
}

/* c8 ignore start: these run in the page. */

function begin() {
  const els = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  const can = (el) => !el.disabled && el.checkVisibility({ visibilityProperty: true }) && !el.closest('dialog, [popover]');
  // Where arrows or a key of its own lead, or which is one of several that Tab stops at once.
  const others = '[role=tab][tabindex="-1"], [role=treeitem], [role=treeitem] *, td.pick input, h1, h2, main, div[tabindex="-1"]';
  globalThis.walked = { all: [...els].filter((el) => can(el) && !el.matches(others)), stops: new Map() };
  document.activeElement.blur();
  getSelection().removeAllRanges();
  // The beginning of the document, and not where something was pressed last.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
}

async function step() {
  // What gets the focus is scrolled to with the next frame.
  await new Promise((drawn) => requestAnimationFrame(drawn));
  const el = document.activeElement;
  const { stops } = globalThis.walked;
  if (el === document.body || el === null) return stops.size > 0;
  if (stops.has(el)) return true;
  const style = getComputedStyle(el);
  const row = el.closest('tr');
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  const seen = ring || (row !== null && getComputedStyle(row).boxShadow !== 'none');
  const box = [...el.getClientRects()].find(({ width, height }) => width > 0 && height > 0) ?? el.getBoundingClientRect();
  const points = [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9]].map(([x, y]) => [box.x + box.width * x, box.y + box.height * y]);
  const at = points.map(([x, y]) => document.elementFromPoint(x, y));
  const own = at.some((top) => top && (el.contains(top) || (top.contains(el) && top.closest('main > *, nav, header > *'))));
  stops.set(el, { seen, hidden: own ? null : (at[0]?.outerHTML.slice(0, 120) ?? 'out of the window') });
  return false;
}

function end() {
  const { all, stops } = globalThis.walked;
  const name = (el) => `${el.localName}${el.id && `#${el.id}`}${[...el.classList].map((one) => `.${one}`).join('')} ${(el.ariaLabel || el.textContent || el.placeholder || '').trim().slice(0, 60)}`;
  return {
    stops: [...stops].map(([el, how]) => ({ name: name(el), ...how })),
    left: all.filter((el) => el.isConnected && el.checkVisibility({ visibilityProperty: true }) && !el.disabled && !stops.has(el)).map((el) => `${name(el)} tabindex=${el.tabIndex}`),
  };
}
