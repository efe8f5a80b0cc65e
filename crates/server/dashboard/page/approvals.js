// The inbox: everything that waits for a person, escalated first, then the oldest.

import { get, p } from '../core/api.js';
import { fill, h, text } from '../core/dom.js';
import { count } from '../core/format.js';
import { may } from '../core/role.js';
import { go, setQuery, to } from '../core/router.js';
import { v1 } from '../core/root.js';
import { decisionPane, titleOf } from '../run/decision.js';
import { entries, hrefOf, inboxHref, keyAt, keyOf, readAt, rowPlaces, showRows } from '../run/inbox.js';
import { refused } from '../ui/act.js';
import { newest } from '../ui/again.js';
import { chosen } from '../ui/chosen.js';
import { empty } from '../ui/empty.js';
import { head } from '../ui/head.js';
import { icon } from '../ui/icons.js';
import { menu } from '../ui/menu.js';
import { say } from '../ui/toast.js';

const PAGE = 100;
const STAYS_MS = 4_000;
const ONCE_A_MS = 1_000;
const WHAT = ['suspended', 'resumed', 'escalated', 'cancelled', 'completed', 'failed', 'expired', 'suspension_timed_out'];
const HINTS = [['J', 'K', 'move'], ['A', 'approve'], ['R', 'reject'], ['↵', 'open']];
const VERDICTS = { approve: ['approved', 'teal'], reject: ['rejected', 'red'] };

const nothing = (lane) => empty(lane
  ? { says: `Nothing of lane ${lane} waits for a person.`, filter: { label: 'Any lane', href: to('/approvals') } }
  : { says: 'Nothing waits for a person. A handler that asks for an approval shows here.',
    command: `curl -d '{"question":"Really?","then":"Done."}' '${v1('/submit/demo.question')}?lane=demo'` });

export async function page(ctx) {
  let { params } = ctx;
  let items = [];
  let pages = 1;
  let next;
  let pane = null;
  // What stood beside the list the last time.
  let kept;
  // What the address names and the list does not show.
  let apart = null;
  const told = new Map();
  const stand = rowPlaces();
  const badge = h('span.badge.h-violet');
  const list = h('nav', { 'aria-label': 'What waits for a person' });
  const foot = h('div');
  const bar = h('div.phone-bar');
  const place = h('div');
  const lane = () => ctx.query.get('lane');
  const lanes = menu(h('button.btn.small', { type: 'button' }), () => {
    const names = [...new Set([lane(), ...items.map((item) => item.lane_id)].filter(Boolean))].sort();
    const choice = (name) => ({ label: name ?? 'Any lane', checked: name === lane(), run: () => setQuery({ lane: name }) });
    return [null, ...names].map(choice);
  });
  const hint = (keys) => h('span.row.gap4', keys.slice(0, -1).map((key) => h('kbd', key)), keys.at(-1));
  const split = h('div.split',
    h('div.pane-list', head({ title: 'Approvals', beside: [badge], acts: [lanes] }), list, foot, h('p.row.wrap.meta.desk-only.ask-keys', HINTS.filter((keys) => !VERDICTS[keys.at(-1)] || may(keys.at(-1))).map(hint))),
    h('div.pane', bar, place));

  const named = () => keyAt(params);
  const isList = () => named() === undefined;
  const open = () => items.filter((item) => !told.has(keyOf(item)));

  /** As many pages as were asked for, and what the address names if it is on none of them. */
  async function ask() {
    const found = [];
    let cursor;
    for (let n = 0; n < pages && (n === 0 || cursor); n += 1) {
      const page = await get('/approvals', { namespace: ctx.ns, lane: lane(), limit: PAGE, cursor }, ctx);
      found.push(...entries(page));
      cursor = page.next;
    }
    const key = named();
    const isElsewhere = key !== undefined && !found.some((item) => keyOf(item) === key);
    return { found, cursor, beside: isElsewhere ? { key, ...(await readAt(params, ctx)) } : null };
  }

  const read = newest(ask, ({ found, cursor, beside }) => {
    // Who decides is told by the answer.
    if (place.querySelector('[aria-busy]')) return soon();
    const before = new Map([...items, ...(apart?.item ? [apart.item] : [])].map((item) => [keyOf(item), item]));
    [items, next, apart] = [found, cursor, beside];
    const fresh = items.find((item) => before.size > 0 && !before.has(keyOf(item)));
    if (fresh) say(`New: ${titleOf(fresh)}`);
    for (const item of [...items, apart?.item].filter(Boolean)) before.delete(keyOf(item));
    for (const [key, item] of before) if (!told.has(key)) vanished(item).catch(refused);
    draw();
  });

  /** Somebody else decided, or it ended: its history says what became of it. */
  async function vanished(item) {
    tell(item, 'no longer waits', 'grey');
    const { items: lines } = await get(p`/executions/${item.execution_id}/history`, { limit: 1_000 }, ctx);
    const at = ` at ${item.point?.waitpoint_key}, from `;
    const line = lines.findLast((line) => line.what === 'signalled' && line.detail?.includes(at));
    const [word, by] = line?.detail.split(at) ?? [];
    if (word) became(item, { by, verdict: word === 'approved' ? 'approve' : 'reject' });
    // It may only have moved behind what is shown.
    else if (next) told.delete(keyOf(item));
    draw();
  }

  /** Says for a while what became of an item. */
  function tell(item, says, hue) {
    const about = { item, says, hue };
    told.set(keyOf(item), about);
    setTimeout(() => {
      if (told.get(keyOf(item)) === about) told.delete(keyOf(item));
      if (!ctx.signal.aborted) draw();
    }, STAYS_MS);
  }

  function became(item, { by, verdict }) {
    const [word, hue] = VERDICTS[verdict];
    tell(item, `${word} by ${by}, just now`, hue);
    say(`${titleOf(item)} ${word} by ${by}`);
  }

  /** It was decided here: on to the next one. */
  function decided(item, decision) {
    became(item, decision);
    const at = items.findIndex((other) => keyOf(other) === keyOf(item));
    const onto = open().find((other) => items.indexOf(other) > at) ?? open().at(-1);
    if (kept === keyOf(item)) {
      kept = onto && keyOf(onto);
      if (!isList()) go(onto ? hrefOf(onto) : inboxHref(), { replace: true });
    }
    soon();
    draw();
  }

  function draw() {
    const at = stand.of([...items.map(keyOf), ...told.keys()]);
    items.sort((a, b) => at.indexOf(keyOf(a)) - at.indexOf(keyOf(b)));
    const waiting = open();
    const key = named();
    if (key !== undefined) kept = key;
    const over = told.get(kept);
    const others = apart?.item && apart.key === key ? [...waiting, apart.item] : waiting;
    const current = over ? null : (chosen(others, keyOf, key, kept) ?? null);
    if (current) kept = keyOf(current);
    const byKey = new Map([...waiting.map((item) => [keyOf(item), item]), ...told]);
    showRows(list, at.map((key, i) => byKey.get(key) ?? { gap: i }), current);
    split.dataset.show = isList() ? 'list' : 'pane';
    text(badge, `${count(waiting.length)}${next ? '+' : ''}`);
    badge.hidden = waiting.length === 0;
    text(lanes, lane() ?? 'any lane');
    ctx.title(current && !isList() ? titleOf(current) : 'Approvals', waiting.length ? 'suspended' : undefined);
    const none = waiting.length + told.size === 0;
    fill(foot, next ? h('p.row.card-body.meta', `The first ${count(items.length)} are shown.`, h('button.btn.small', { type: 'button', onclick: more }, 'More')) : none && nothing(lane()));
    if (over) tellOf(over.item, over.says, over.hue);
    else if (current || isList()) show(current, waiting);
    else if (apart?.key === key) tellOf(apart, apart.says);
    else {
      // Read by itself; until then nothing else stands there.
      show(null, waiting);
      soon();
    }
  }

  const more = () => {
    pages += 1;
    soon();
  };

  /** Beside the list there is nothing to decide, and this is why. */
  function tellOf({ id, ...item }, says, hue = 'grey') {
    const execution = item.execution_id ?? id;
    const key = `${kept} ${says}`;
    if (pane?.key === key) return;
    pane = { key };
    fill(bar, head({ crumbs: [{ label: 'Approvals', href: inboxHref() }], title: 'Approval', below: true }));
    fill(place, h('div.ask-pane', h('h2', item.execution_kind ? titleOf(item) : 'Nothing to decide'), h(`p.h-${hue}.hue`, says),
      execution && h('p', h('a', { href: to(p`/executions/${execution}`) }, 'Open execution'))));
  }

  /** The pane of an item, if it is another one than before; on a phone with the way to the others. */
  function show(item, waiting) {
    const index = waiting.indexOf(item);
    const step = (by, name, label) => h('a.btn.icon',
      { href: hrefOf(waiting[index + by] ?? item), 'aria-label': label, 'aria-disabled': waiting[index + by] ? null : 'true' }, icon(name));
    fill(bar, item && head({
      crumbs: [{ label: 'Approvals', href: inboxHref() }],
      title: index < 0 ? 'Approval' : `${index + 1} of ${waiting.length}`,
      acts: index < 0 ? [] : [step(-1, 'back', 'Before'), step(1, 'next', 'Next')],
      below: true,
    }));
    const key = item && keyOf(item);
    if (pane?.key === key) return;
    pane = item && { key, ...decisionPane({ item, signal: ctx.signal, done: decided, stale: soon }) };
    fill(place, pane?.el);
  }

  let timer = null;
  let last = 0;
  /** Reads again, once a second at most. */
  function soon() {
    timer ??= setTimeout(() => {
      timer = null;
      last = Date.now();
      if (!ctx.signal.aborted) read().catch((problem) => problem.name === 'AbortError' || refused(problem));
    }, Math.max(0, last + ONCE_A_MS - Date.now()));
  }

  ctx.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  const move = (by) => () => {
    const at = open().findIndex((item) => keyOf(item) === kept);
    const onto = open()[Math.max(0, Math.min(open().length - 1, at + by))];
    if (onto) go(hrefOf(onto), { replace: true });
  };

  ctx.live({ what: WHAT }, () => soon(), () => soon());
  await read();
  ctx.root.append(split);
  let filtered = lane();
  const filter = () => {
    if (filtered !== lane()) [filtered, items, pages, kept] = [lane(), [], 1, undefined];
    stand.clear();
    soon();
  };
  ctx.onQuery(filter);
  ctx.onParams((now) => {
    params = now;
    stand.close();
    if (filtered !== lane()) filter();
    draw();
  });
  ctx.keys({
    j: ['Next', move(1)],
    k: ['Before', move(-1)],
    Down: ['', move(1)],
    Up: ['', move(-1)],
    a: [may('approve') && 'Approve', () => pane?.press?.('approve')],
    r: [may('reject') && 'Reject', () => pane?.press?.('reject')],
    Enter: ['Open the execution', () => kept && go(to(p`/executions/${kept.split(' ')[0]}`))],
    u: ['Up to the list', () => go(inboxHref())],
  });
}
