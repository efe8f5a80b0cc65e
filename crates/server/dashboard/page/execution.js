// One execution: a sentence that says why it stands where it stands, its timeline, and everything it has.

import { fill, h, text } from '../core/dom.js';
import { may } from '../core/role.js';
import { setQuery, to } from '../core/router.js';
import { costOf, duration, tail } from '../core/format.js';
import { now, since } from '../core/time.js';
import { canonical } from '../core/url.js';
import { actsOf } from '../run/acts.js';
import { banner } from '../run/banner.js';
import { factsOf } from '../run/facts.js';
import { advance, intervals, spent } from '../run/intervals.js';
import { isOver, loader } from '../run/load.js';
import { paneNames, showPane, showStep } from '../run/panes.js';
import { streamView } from '../run/stream-view.js';
import { timeline } from '../run/timeline.js';
import { copyButton, problemCard } from '../ui/empty.js';
import { head } from '../ui/head.js';
import { stateChip, stateWord } from '../ui/state-mark.js';
import { tabs } from '../ui/tabs.js';

/** Scrolls a row of tabs, and nothing else, to one of them. */
function shownWhole(tab) {
  if (!tab) return;
  const [own, row] = [tab.getBoundingClientRect(), tab.parentElement.getBoundingClientRect()];
  tab.parentElement.scrollLeft += Math.min(0, own.left - row.left) || Math.max(0, own.right - row.right);
}

export async function page(ctx) {
  const id = canonical(ctx.params.id);
  let step = null;
  let data = null;
  let rows = new Map();
  let dirty = null;
  let wasOver = false;
  let noted = [];
  let told = '';
  const top = h('div');
  const paid = h('b');
  const phone = h('div.phone-only.run-phone');
  const why = banner(ctx.signal);
  const facts = h('div.facts');
  const side = h('div.run-pane', { tabindex: 0 });
  const stepPane = h('div.run-step', { tabindex: 0 });
  const card = h('section.card.run-side', { 'aria-label': 'Details' });
  // What is costly to show is shown less often.
  let cost = 0;
  const load = loader(id, ctx.signal, () => {
    dirty ||= setTimeout(draw, Math.min(2_000, 10 * cost));
  });
  const { run } = load;
  const show = (changes) => setQuery(changes, { replace: true });
  const line = timeline({
    signal: ctx.signal,
    onpick: (row) => show({ step: row.key === step ? null : row.key }),
    onscale: (folded) => show({ t: folded ? null : 'true' }),
  });

  ctx.live({ execution: id }, load.heard, load.again);
  await load.all();

  const names = paneNames();
  const first = () => (isOver(run.view) && run.view.result_bytes !== undefined && may('get_result') ? 'result' : names[0].id);
  const tab = () => names.find((name) => name.id === ctx.query.get('tab'))?.id ?? first();
  const attempt = (index) => run.attempts.find((attempt) => attempt.index === index);
  const stream = names[0].id === 'output' ? streamView({
    id,
    signal: ctx.signal,
    heard: load.frame,
    wasLost: (index) => attempt(index)?.end?.state === 'interrupted_reclaimed',
    attemptLine(index) {
      const kept = run.steps.filter((step) => step.attempt_index < index && step.state === 'done').length;
      return [`attempt ${index}`, attempt(index)?.worker_instance_id, kept > 0 && `${kept} ${kept === 1 ? 'step' : 'steps'} from the journal`].filter(Boolean).join(' · ');
    },
    noteOf(index, key) {
      const done = rows.get(key)?.step;
      if (done?.attempt_index !== index) return '';
      const took = done.started_at && duration(Math.max(0, done.recorded_at - done.started_at));
      return [costOf(spent([done])), took].filter(Boolean).join(' · ');
    },
  }) : null;
  const choose = tabs(names, tab(), (tab) => show({ tab, step: null }));
  let shown = '';

  async function replay(from = step) {
    const { replaySheet } = await import('../run/replay-sheet.js');
    const known = run.steps.some((step) => step.key === from) ? from : null;
    replaySheet({ view: run.view, steps: run.steps, from: known, marked: line.again, done: load.again });
  }
  let acts = null;

  /** The pane beside the timeline, made anew when another one is asked for or what it shows has changed. */
  function pane() {
    step = ctx.query.get('step');
    line.select(step);
    line.rescale(ctx.query.get('t') !== 'true');
    const row = step === null ? null : rows.get(step);
    const id = tab();
    choose.select(row ? '' : id);
    shownWhole(choose.querySelector('[aria-selected=true]'));
    if (stream) stream.el.hidden = id !== 'output' || row != null;
    stepPane.hidden = !row;
    side.hidden = Boolean(row) || id === 'output';
    const of = { attempts: run.attempts, history: run.history, signals: run.history }[id];
    const wanted = row ? `step ${step} ${row.seq} ${row.state}` : `${id} ${of?.length ?? ''} ${run.view.attempt_index} ${run.view.completed_at}`;
    if (wanted === shown) return;
    shown = wanted;
    if (row) {
      const again = isOver(run.view) && row.seq !== undefined && may('replay_execution')
        && h('button.btn.small', { type: 'button', onclick: () => replay(step) }, 'Replay from here…');
      const leave = h('button.btn.small', { type: 'button', onclick: () => show({ step: null }) }, 'Close');
      showStep(stepPane, row, run, ctx.signal, h('div.row', again, leave));
    } else if (id !== 'output') showPane(side, id, run, ctx.signal);
  }

  let signed = '';
  /** The head, when what can be done has changed. */
  function heading() {
    const { view, explain } = run;
    const sign = [stateWord(view), view.worker_instance_id, view.lease_epoch, view.priority, explain?.conditions[0]?.blocks].join();
    if (sign === signed) return;
    signed = sign;
    acts = actsOf(run, { changed: () => load.soon('view', 'explain', 'history'), replay });
    const chip = () => stateChip(view.public_state, stateWord(view));
    const own = h('span.mono.ink2.desk-only', { title: id }, tail(id));
    const beside = [h('span.desk-only', chip()), own, h('span.desk-only', copyButton(id, 'Copy the id'))];
    const had = top.contains(document.activeElement);
    fill(top, head({ crumbs: [{ label: 'Executions', href: to('/executions') }], title: view.execution_kind, beside, acts: acts.nodes }));
    fill(phone, chip(), h('span.mono.ink2', tail(id)), h('span.grow'), paid, h('span.long', since(view.created_at, view.completed_at)));
    if (had) top.querySelector('h1').focus();
    ctx.title(`${view.execution_kind} ${tail(id)}`, view.public_state);
  }

  function draw() {
    dirty = null;
    if (ctx.signal.aborted) return;
    if (run.problem) {
      fill(ctx.root, h('div.page', problemCard(run.problem, () => location.reload())));
      return;
    }
    const began = performance.now();
    const { view, attempts, history, steps, frames } = run;
    data = intervals({ execution: view, attempts, history, steps, frames: [...frames.values()], now: now() });
    rows = new Map(data.rows.map((row) => [row.key, row]));
    heading();
    text(paid, costOf(run.view.usage) ?? '');
    why.show(run, data);
    const known = JSON.stringify([run.view.usage, run.view.priority, run.view.tags]);
    if (told !== known) fill(facts, factsOf(run.view));
    told = known;
    if (wasOver && !isOver(run.view)) stream?.again();
    wasOver = isOver(run.view);
    line.show(data);
    if (noted[0] !== run.steps || noted[1] !== run.attempts) stream?.refresh();
    noted = [run.steps, run.attempts];
    pane();
    cost = performance.now() - began;
  }

  fill(card, choose, stream?.el, side, stepPane);
  ctx.root.append(top, h('div.page.run', phone, why.nodes[0], why.nodes[1], facts, h('div.run-cols', line.el, card)));
  draw();
  ctx.onQuery(pane);
  ctx.every(1_000, () => {
    stream?.tick();
    why.show(run, data);
    if (isOver(run.view)) return;
    data = advance(data, now());
    line.show(data);
  });
  ctx.every(5_000, () => run.view.public_state === 'active' && load.soon('steps'));
  ctx.every(10_000, () => !isOver(run.view) && run.view.public_state !== 'active' && load.soon('view', 'explain'));
  const press = (key) => () => acts.press[key]();
  ctx.keys({
    e: ['Every condition', () => why.open()],
    t: ['True scale', line.toggle],
    c: ['Cancel', press('c')],
    h: ['Hold or let go', press('h')],
    r: ['Replay', press('r')],
    y: ['Copy the id', press('y')],
    '[': ['Tab before', () => choose.step(-1)],
    ']': ['Next tab', () => choose.step(1)],
    p: ['Pause the output', () => stream?.toggle()],
    '.': ['Newest output', () => stream?.newest()],
    u: ['Up to the list', () => history.back()],
  });
}
