// The rows of the inbox: what waits for a person, and for a moment what was decided.

import { get, p } from '../core/api.js';
import { h, keyed } from '../core/dom.js';
import { may } from '../core/role.js';
import { to } from '../core/router.js';
import { age, clock, left } from '../core/time.js';
import { canonical } from '../core/url.js';
import { isForPerson, mark, stateWord } from '../ui/state-mark.js';
import { titleOf } from './decision.js';

const pointOf = (item) => item.point?.waitpoint_id ?? '-';

export const keyOf = (item) => `${item.execution_id} ${pointOf(item)}`;
/** The inbox, and one item of it: of the lane that is looked at. */
export const inboxHref = (path = '') => to(`/approvals${path}`, { lane: new URLSearchParams(location.search).get('lane') });
export const hrefOf = (item) => inboxHref(p`/${item.execution_id}/${pointOf(item)}`);

/** The key of what the address of a page names, by its parts; undefined: it names nothing. */
export const keyAt = ({ execution, waitpoint }) => (execution === undefined ? undefined : `${canonical(execution)} ${waitpoint}`);

/** One entry for each waitpoint; what only an operator can end has none. */
export const entries = (page) =>
  page.items.flatMap((item) => (item.waitpoints.length ? item.waitpoints : [null]).map((point) => ({ ...item, point })));

/** What was decided at a waitpoint, in words; null: that cannot be said. */
async function verdictAt(execution, waitpoint, how) {
  if (!may('list_signals')) return null;
  const { items } = await get(p`/executions/${execution}/signals`, { limit: 200 }, how);
  const signal = items.findLast(({ name, waitpoint_id: id }) => id === waitpoint && ['approved', 'rejected'].includes(name));
  return signal && `It was ${signal.name} by ${signal.source_identity}, ${clock(signal.accepted_at)}.`;
}

/** What an address names that is not among those that are shown: `{item}`, or `{says}` why nobody decides about it. */
export async function readAt({ execution, waitpoint }, how) {
  try {
    const { suspension, ...view } = await get(p`/executions/${execution}`, {}, how);
    const id = view.execution_id;
    const point = suspension?.waitpoints.find(({ waitpoint_id: one }) => one === waitpoint) ?? null;
    if (suspension && isForPerson(suspension) && (point || waitpoint === '-')) {
      return { item: { ...view, ...suspension, creator: view.creator_identity, expected_attempt: view.attempt_index, show_key: point?.waitpoint_key, point } };
    }
    return { id, says: `${(await verdictAt(id, waitpoint, how)) ?? 'Nobody is asked here any more.'} ${view.execution_kind}: ${stateWord({ ...view, suspension }).toLowerCase()}.` };
  } catch (problem) {
    if (problem.name === 'AbortError' || !(problem.status >= 400 && problem.status < 500)) throw problem;
    return { says: problem.status === 404 ? 'There is no such execution: it is another one, or was deleted.' : problem.detail };
  }
}

function waiting(item) {
  const limited = item.timeout_at === undefined ? 'no limit' : left(item.timeout_at, (long) => `${long} left`);
  return h(
    'a.ask',
    { href: hrefOf(item), 'data-key': keyOf(item) },
    mark('suspended', 'waits for a person'),
    h('span.asked.cut', { title: titleOf(item) }, titleOf(item)),
    h('span.meta', age(item.since)),
    h('span.line.meta.cut', `${item.execution_kind} · ${item.lane_id}`),
    h('span.meta', item.escalated ? h('span.tag.h-red', 'escalated') : limited),
  );
}

function decided({ item, says, hue }) {
  const state = { teal: 'completed', red: 'failed' }[hue] ?? 'waiting';
  return h(`div.ask.told.h-${hue}`, mark(state), h('b.cut', { title: titleOf(item) }, titleOf(item)), says);
}

/** Where each stands: nothing moves up when one leaves, and who comes new takes a free place, or the next below. */
export function rowPlaces() {
  let kept = [];
  return {
    of(keys) {
      kept = kept.map((key) => (keys.includes(key) ? key : null));
      for (const key of keys) {
        if (kept.includes(key)) continue;
        const free = kept.indexOf(null);
        kept[free < 0 ? kept.length : free] = key;
      }
      kept.length = kept.findLastIndex((key) => key !== null) + 1;
      return kept;
    },
    /** Who touches the list may be shown it without its gaps. */
    close: () => (kept = kept.filter((key) => key !== null)),
    clear: () => (kept = []),
  };
}

/** Shows rows: an item that waits, `{item, says, hue}` of one that does not any more, `{gap}` where one was. `current` is marked. */
export function showRows(list, rows, current) {
  const key = (one) => (one.gap !== undefined ? `gap ${one.gap}` : one.says ? `told ${keyOf(one.item)} ${one.says}` : `${keyOf(one)} ${one.escalated}`);
  keyed(list, rows, key, (one) => (one.gap !== undefined ? h('div.ask-gap') : one.says ? decided(one) : waiting(one)));
  for (const link of list.querySelectorAll('a')) {
    if (current && link.dataset.key === keyOf(current)) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}
