// What is chosen in a graph: its states and times, what failed in it, and what it waits for the longest.

import { act, get, p } from '../core/api.js';
import { fill, h, keyed } from '../core/dom.js';
import { count, duration, tail } from '../core/format.js';
import { to } from '../core/router.js';
import { now } from '../core/time.js';
import { actButton } from '../ui/act.js';
import { mark, STATES, stateText, stateWord } from '../ui/state-mark.js';
import { around } from './dag.js';
import { byState, ENDED, LETTERS, tally } from './model.js';
import { medians } from './path.js';

const SHOWN = 3;
const REPLAYS = 1000;
const READ_MS = 1000;

const path = (id) => to(p`/executions/${id}`);
const isFailed = (model) => (i) => 'fe'.includes(model.states[i]);

/** Open members in the order in which they began: who runs or is held for the longest comes first. */
function slowest(model, members) {
  const since = (i) => model.started[i] ?? Infinity;
  return members.filter((i) => !ENDED.includes(model.states[i]) && !'uw'.includes(model.states[i])).sort((a, b) => since(a) - since(b)).slice(0, SHOWN);
}

/** The ids of members; of a graph too large to say them they are asked for, as many at once as stand together. */
async function idsOf(model, flow, members, signal) {
  if (model.ids) return members.map((i) => model.ids[i]);
  const known = new Map();
  for (const i of members) {
    if (known.has(i)) continue;
    const index = model.classes.findIndex(({ first, count }) => i >= first && i < first + count);
    const query = { class: index, from: i - model.classes[index].first, limit: members.length > 2 * SHOWN ? REPLAYS : 1 };
    const { ids } = await get(p`/flows/${flow}/graph/members`, query, { signal });
    ids.forEach((id, k) => known.set(i + k, id));
  }
  return members.map((i) => known.get(i));
}

/** `show(model, box, member)`: a box, one member of it, or the whole flow without one. */
export function panel(ctx, flow) {
  const [top, broken, waits] = [h('div.card-head'), h('div.card-head'), h('div.card-head', h('h2', 'Holds up the most'))];
  const [sums, brokenList, slowList] = [h('div.flow-states'), h('div.list'), h('div.list')];
  const el = h('aside.flow-panel', { 'aria-label': 'What is chosen' }, top, sums, waits, slowList, broken, brokenList,
    h('p.flow-keys.desk-only.ink3', h('kbd', '←'), ' ', h('kbd', '→'), ' follow edges ', h('kbd', '↵'), ' open'));
  let made = null;
  let replays = null;
  const views = new Map();
  let shown = null;
  let timer = null;
  ctx.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  const idOf = (model, i) => model.ids?.[i] ?? views.get(i)?.view?.execution_id;

  /** Reads the few members that need words, at most once a second: of those that run the graph says enough. */
  function read(model, wanted) {
    clearTimeout(timer);
    const missing = wanted.filter((i) => views.get(i)?.letter !== model.states[i] && !(model.ids && 'acuw'.includes(model.states[i])));
    if (missing.length) timer = setTimeout(() => words(model, missing).catch((problem) => problem.status >= 0 || problem.name === 'AbortError' || console.error(problem)), views.size ? READ_MS : 0);
  }

  async function words(model, missing) {
    const ids = await idsOf(model, flow, missing, ctx.signal);
    const { items } = await get('/executions', { id: ids, namespace: ctx.ns }, ctx);
    const byId = new Map(items.map((view) => [view.execution_id, view]));
    missing.forEach((i, k) => views.set(i, { letter: model.states[i], view: byId.get(ids[k]) }));
    if (shown[0] === model) show(...shown);
  }

  /** Lines of members in words: those that stay are the same elements, so that a press on one is not lost. */
  function lines(list, model, members, words) {
    const linked = (i) => idOf(model, i);
    const inside = (i) => {
      const view = views.get(i)?.view;
      const [says, end] = words(i, view ?? {});
      return [mark(LETTERS[model.states[i]], stateWord(view ?? LETTERS[model.states[i]])), h('span.mono', linked(i) && tail(linked(i))), h('span.grow.cut.ink2', { title: says }, says), h('span.ink3', end)];
    };
    keyed(list, members, (i) => `${i}${linked(i) ? '' : '?'}`, (i) => h(linked(i) ? 'a.item' : 'div.item', { href: linked(i) && path(linked(i)) }, inside(i)), (el, i) => fill(el, inside(i)));
  }

  function replay(model, some) {
    const one = some.length === 1;
    return actButton({
      op: 'replay_execution', label: `Replay ${count(some.length)}…`,
      ask: {
        title: one ? 'Replay the failed member?' : `Replay ${count(some.length)} failed members?`, label: 'Replay', hue: 'primary', busy: 'Replaying…',
        body: h('p', `${one ? 'It keeps' : 'Each keeps'} the steps that were done and goes on from the first that was not. What was skipped after them opens again.`),
      },
      async run(key) {
        const { each } = await import('../ui/bulk.js');
        const ids = await idsOf(model, flow, some, ctx.signal);
        return each(ids, (id) => act('POST', p`/executions/${id}/replay`, {}, { key: `${key}-${id.slice(-12)}` }), () => {});
      },
      done: ({ done, refusals }) => [`${count(done)} replayed`, ...[...refusals].map(([code, list]) => `${count(list.length)} refused: ${code}`)].join(', '),
    });
  }

  const ofFailed = (i, { failure, reason, attempt_count: tries }) => [failure ? `${failure.category}: ${failure.reason}` : reason, tries && `${count(tries)} ${tries === 1 ? 'try' : 'tries'}`];

  const ofSlow = (model) => (i, view) => {
    const runs = model.states[i] === 'a' && model.started[i] !== null && duration(now() - model.begun - model.started[i]);
    const why = runs || view.blocking_detail || stateWord(view.public_state ? view : LETTERS[model.states[i]]);
    const next = model.whole && around(model.graph.out, i)[0];
    return [next > 0 ? `${why}, then ${model.kind(next)}` : why];
  };

  function times(model, members) {
    const done = members.filter((i) => model.states[i] === 'c');
    const found = medians(done.length, () => 0, done.map((i) => model.started[i]), done.map((i) => model.ended[i])).get(0);
    return found && h('p.flow-times', h('span.ink2', 'took'), ' p50 ', h('b', duration(found.p50)), h('span.ink2', ' p95 '), h('b', duration(found.p95)));
  }

  /** What is chosen, its name and where it leads; made again only when that changes. */
  function heading(model, box, one) {
    const id = one !== undefined && idOf(model, one);
    const list = to('/executions', { flow, kind: box?.kinds === 1 ? box.kind : null });
    fill(top, h('h2.cut', { title: box?.kind }, one !== undefined ? model.kind(one) : box?.name ?? 'The whole flow'),
      one === undefined ? h('a.btn.small', { href: list }, 'Open as list') : id && h('a.btn.small', { href: path(id) }, 'Open'));
  }

  function show(model, box, member) {
    shown = [model, box, member];
    const members = member !== undefined ? [member] : box?.members ?? [...model.states.keys()];
    const [one] = members.length === 1 ? members : [];
    const states = byState(tally(model, members));
    const [failed, slow] = [members.filter(isFailed(model)), slowest(model, members)];
    const [is, has] = [[box?.index, one, views.has(one)].join(), [failed.length, failed[0], failed.at(-1)].join()];
    if (is !== made) {
      made = is;
      heading(model, box, one);
      waits.hidden = slowList.hidden = !slow.length;
    }
    if (has !== replays) {
      replays = has;
      broken.hidden = brokenList.hidden = !failed.length;
      fill(broken, h('h2', 'Failed ', h('span.ink2', count(failed.length))), failed.length > 0 && replay(model, failed.slice(0, REPLAYS)));
    }
    fill(sums, STATES.filter((state) => states[state]).map((state) => h('div.row', h('span.grow', stateText(state)), one === undefined && count(states[state]))), times(model, members));
    lines(brokenList, model, failed.slice(0, SHOWN), ofFailed);
    lines(slowList, model, slow, ofSlow(model));
    read(model, [...new Set([...(one === undefined ? [] : [one]), ...failed.slice(0, SHOWN), ...slow])]);
  }

  return { el, show };
}
