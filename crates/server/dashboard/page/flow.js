// One flow: how far it is, its graph, and what is chosen in it.

import { get, p } from '../core/api.js';
import { h, text } from '../core/dom.js';
import { count } from '../core/format.js';
import { go, setQuery, to } from '../core/router.js';
import { now } from '../core/time.js';
import { refused } from '../ui/act.js';
import { copy, empty } from '../ui/empty.js';
import { icon } from '../ui/icons.js';
import { sheet } from '../ui/sheet.js';
import { seg } from '../ui/tabs.js';
import { flowHeader } from '../flow/header.js';
import { bare, byState, finder, take, takeView, tally, unpack } from '../flow/model.js';
import { outline } from '../flow/outline.js';
import { panel } from '../flow/panel.js';
import { critical, medians, remaining } from '../flow/path.js';
import { recount, sceneOf } from '../flow/scene.js';
import { graphView } from '../flow/view.js';

const UNFOLDED = 2000;
const READ_MS = 1000;
// What is costly to read is read less often: most of the time nothing is asked for.
const PATIENCE = 4;
const LARGE_MS = 5000;
const OVERLAP_MS = 2000;
const AT_ONCE = 100;
const DAY_MS = 86_400_000;
const FLOW_EVENTS = ['flow_opened', 'flow_cancelled', 'flow_ended', 'flow_reopened'];

export async function page(ctx) {
  const { id } = ctx.params;
  const path = p`/flows/${id}`;
  const [read, answer] = await Promise.all([get(path, {}, ctx), get(`${path}/graph`, {}, ctx)]);
  let flow = read;
  let model = unpack(answer);
  let scene = null;
  const usual = medians(model.size, (i) => model.kindOf[i], model.started, model.ended);
  let matches = null;
  ctx.title(flow.flow_kind, flow.state);

  const phone = matchMedia('(max-width: 759px)');
  const label = `Graph of ${flow.flow_kind}`;
  const top = flowHeader({ flow, onstate: (state) => find(`state:${state}`), onfind: () => tools.classList.toggle('finding') && input.focus(), done: () => readFlow(), items: () => (phone.matches ? foldings : []) });
  const side = panel(ctx, flow.flow_id);
  const details = h('button.btn.flow-pill', { type: 'button', hidden: true, onclick: () => sheet({ title: 'Chosen', body: [side.el] }) });
  const view = graphView({ label, onselect: selected, onopen: open });
  const list = outline({ label, onselect: (box) => (view.choose(box), list.select(box, true)), onopen: open });
  const found = h('span.ink3.meta');
  const input = h('input', { type: 'search', placeholder: 'Find in this flow', 'aria-label': 'Find in this flow', value: ctx.query.get('find') ?? '', oninput: () => find(input.value), onkeydown: (event) => event.key === 'Enter' && nextFound() });
  const pathButton = h('button.btn', { type: 'button', title: 'Critical path', onclick: () => setQuery({ path: ctx.query.get('path') ? null : '1' }, { replace: true }) }, icon('path'), h('span.desk-only', 'Critical path'));
  const ways = [{ id: 'groups', label: 'Groups' }, ...(model.whole && model.size <= UNFOLDED ? [{ id: 'members', label: 'Members' }] : []), { id: 'list', label: 'List' }];
  const foldNow = () => ctx.query.get('fold') ?? 'groups';
  const refold = (fold) => setQuery({ fold: fold === 'groups' ? null : fold }, { replace: true });
  const folding = seg(ways, foldNow(), refold);
  const foldings = ways.map(({ id, label }) => ({ label, get checked() { return foldNow() === id; }, run: () => refold(id) }));
  const tools = h('div.flow-tools', h('label.flow-find', icon('search'), input, found, h('kbd.desk-only', 'F')), pathButton, folding);
  const nothing = h('div', { hidden: true }, empty({ says: 'This flow has no members yet.' }));
  const body = h('div.flow-body', h('div.flow-stage', tools, view.el, list.el, details), h('div.flow-side', side.el));
  sum();
  ctx.root.append(top.el, nothing, body);

  const keyOf = (box) => (model.ids ? bare(model.ids[box.members[0]]).slice(-8) : `${box.members[0]}`);
  const boxAt = (key, next) => next.boxes.find((box) => keyOf(box) === key);

  function selected(box, member) {
    side.show(model, box, member);
    details.hidden = !box;
    if (box) text(details, `${member === undefined ? box.name : model.kind(member)} · details`);
    const key = box ? keyOf(box) : null;
    if (ctx.query.get('at') !== key) setQuery({ at: key }, { replace: true });
    list.select(box, false);
  }

  function open(box, member) {
    const one = member ?? (box.many ? undefined : box.members[0]);
    if (one !== undefined && model.ids) go(to(p`/executions/${model.ids[one]}`));
    else go(to('/executions', { flow: flow.flow_id, kind: box.kinds === 1 ? box.kind : null }));
  }

  function find(text) {
    if (input.value !== text) input.value = text;
    setQuery({ find: text || null }, { replace: true });
  }

  function nextFound() {
    const hits = scene.boxes.filter((box) => matches?.(box));
    if (hits.length) view.choose(hits[(hits.indexOf(view.selected) + 1) % hits.length]);
  }

  /** Draws what the address asks for. */
  function arrange() {
    body.hidden = !model.size;
    nothing.hidden = model.size > 0;
    if (!model.size) return;
    const fold = foldNow();
    const members = fold === 'members' && model.whole && model.size <= UNFOLDED;
    const down = phone.matches;
    if (!scene || scene.members !== members || scene.down !== down || scene.of !== model) {
      scene = { ...sceneOf(model, { members, down }), of: model };
      view.show(model, scene, (next) => boxAt(ctx.query.get('at'), next));
      selected(view.selected ?? null);
    }
    view.el.hidden = fold === 'list';
    list.el.hidden = fold !== 'list';
    folding.select(fold);
    matches = finder(model, ctx.query.get('find') ?? '');
    found.textContent = matches ? count(scene.boxes.filter(matches).length) : '';
    pathButton.setAttribute('aria-pressed', String(Boolean(ctx.query.get('path'))));
    light();
    if (fold === 'list') list.show(model, scene, view.selected);
  }

  function light() {
    const steps = new Set();
    if (ctx.query.get('path')) {
      const boxes = critical(model, usual, now() - model.begun).members.map((i) => scene.boxOf[i]);
      boxes.slice(1).forEach((box, k) => steps.add(`${boxes[k]} ${box}`));
    }
    view.light({ dim: matches && ((box) => !matches(box)), path: (from, to) => steps.has(`${from} ${to}`) });
  }

  function sum() {
    for (const [kind, here] of medians(model.size, (i) => model.kindOf[i], model.started, model.ended)) {
      if (!(usual.get(kind)?.samples > here.samples)) usual.set(kind, here);
    }
    top.show(flow, byState(tally(model, model.states.keys())), remaining(model, usual, now() - model.begun));
  }

  /** These members changed: their boxes, the counts, and what is shown beside. */
  function changed(members) {
    if (!members.length) return;
    const boxes = new Set(members.map((i) => scene.boxes[scene.boxOf[i]]));
    for (const box of boxes) recount(model, box);
    view.changed(boxes);
    side.show(model, view.selected);
    if (foldNow() === 'list') list.show(model, scene, view.selected);
    sum();
  }

  let reading = null;
  let cost = READ_MS / PATIENCE;
  const unsure = new Set();
  const wanted = new Set();
  ctx.signal.addEventListener('abort', () => clearTimeout(reading), { once: true });
  function later(run) {
    wanted.add(run);
    reading ??= setTimeout(() => {
      reading = null;
      const runs = wanted.has(readGraph) ? [readGraph] : [...wanted];
      wanted.clear();
      for (const run of ctx.signal.aborted ? [] : runs) run().catch((problem) => failed(problem, run));
    }, model.ids ? READ_MS : Math.min(LARGE_MS, Math.max(READ_MS / PATIENCE, PATIENCE * cost)));
  }

  function failed(problem, run) {
    cost = READ_MS;
    if (problem.status === 0 || problem.retryable) later(run);
    else if (problem.name !== 'AbortError') refused(problem);
  }

  async function readFlow() {
    flow = await get(path, {}, ctx);
    ctx.title(flow.flow_kind, flow.state);
    sum();
  }

  async function readGraph() {
    const asked = performance.now();
    const next = unpack(await get(`${path}/graph`, {}, ctx));
    const same = next.graph_revision === model.graph_revision && next.size === model.size;
    if (same) Object.assign(model, { states: next.states, started: next.started, ended: next.ended });
    else model = next;
    if (!same) arrange();
    else changed([...model.states.keys()]);
    cost = performance.now() - asked;
    await readFlow();
  }

  async function readMembers() {
    const some = [...unsure].slice(0, AT_ONCE);
    for (const i of some) unsure.delete(i);
    const { items } = await get('/executions', { id: some.map((i) => model.ids[i]), namespace: ctx.ns }, ctx).catch((problem) => {
      for (const i of some) unsure.add(i);
      throw problem;
    });
    changed(items.flatMap((item) => takeView(model, item)));
    if (unsure.size) later(readMembers);
  }

  ctx.live({ flow: flow.flow_id, from: answer.as_of - OVERLAP_MS }, ({ lines, skipped, back }) => {
    const news = take(model, lines);
    changed(news.changed);
    if (skipped || back || news.structure) return later(readGraph);
    for (const i of news.unsure) unsure.add(i);
    if (unsure.size) later(readMembers);
    else if (lines.some(({ what }) => FLOW_EVENTS.includes(what))) later(readFlow);
  }, () => later(readGraph));

  ctx.onQuery(arrange);
  phone.addEventListener('change', arrange, { signal: ctx.signal });
  ctx.every(1000, view.tick);
  ctx.every(LARGE_MS, sum);
  const arrow = (key) => [null, () => view.step(key)];
  ctx.keys({
    '+': ['Zoom in', () => view.zoomBy(1.25)], '-': ['Zoom out', () => view.zoomBy(0.8)], 0: ['Show all of it', view.fit],
    Left: ['Along the edges', () => view.step('Left')], Right: arrow('Right'), Up: arrow('Up'), Down: arrow('Down'),
    c: ['Critical path', () => pathButton.click()], f: ['Find in this flow', () => input.focus()],
    Enter: ['Open what is chosen', () => view.selected && open(view.selected)], Esc: ['Choose nothing', () => view.choose(null)],
    y: ['Copy id', () => copy(flow.flow_id)],
  });
  arrange();
  const few = model.kinds.filter((_, kind) => !(usual.get(kind)?.samples >= 20));
  if (few.length && flow.ended_at === undefined) await fromSeries(few);
  sum();

  /** Kinds of which too few ended here have their times from everywhere. */
  async function fromSeries(kinds) {
    const answer = await get('/series', { of: kinds.slice(0, 50).map((kind) => `kind:${kind}`), namespace: ctx.ns, from: Math.round(now() - DAY_MS + READ_MS), step_ms: DAY_MS }, ctx).catch(() => ({ series: [] }));
    for (const one of answer.series) {
      const samples = (one.completed ?? []).reduce((sum, n) => sum + n, 0);
      const p50 = one.p50_ms?.findLast((ms) => ms != null);
      if (p50 !== undefined && p50 !== null) usual.set(model.kinds.indexOf(one.of.slice(5)), { p50, samples });
    }
  }
}
