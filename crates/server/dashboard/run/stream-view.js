// The live output of a run, over all its attempts: one block for each try of a step.

import { get, p } from '../core/api.js';
import { fill, h, text } from '../core/dom.js';
import { bytes, count } from '../core/format.js';
import { follow } from '../core/sse.js';
import { now } from '../core/time.js';
import { refused } from '../ui/act.js';
import { icon } from '../ui/icons.js';
import { block, flush, placeOf, write } from './frames.js';

const KEPT = 2_000;
const OLDER = 50;
const PAGE = 1_000;
const NEAR_END = 24;
const RATE_MS = 3_000;
const TOUCH_MS = 800;

/**
 * `attemptLine(index)` says what stands over the output of an attempt, `wasLost(index)` whether it lost its worker, `noteOf(attempt, key)`
 * what stands beside the name of a step; `heard(attempt, key, at)` is told of every frame that a step wrote.
 */
export function streamView({ id, signal, attemptLine, wasLost, noteOf, heard }) {
  const list = h('div.out-list');
  const view = h('div.out-scroll', { tabindex: 0, role: 'log', 'aria-live': 'off', 'aria-label': 'Output' }, list);
  const status = h('span.row.gap4');
  const size = h('span.meta');
  const button = h('button.btn.small', { type: 'button', onclick: () => pause(!paused) });
  const el = h('div.out-pane', view, h('div.out-foot', status, size, h('span.grow'), button));
  const blocks = new Map();
  const dropped = [];
  const before = h('button.btn.small', { type: 'button', onclick: () => readBack() }, 'Older output');
  const dirty = new Set();
  let [paused, total, behind, over, drawing, current] = [false, 0, 0, false, false, -1];
  let [recent, type, last, touched] = [[], 'frame', null, -Infinity];
  const lines = new Map();

  const key = (at) => at.key || `\u0000${at.attempt}`;
  const remove = (name) => {
    blocks.get(name)?.el.remove();
    blocks.delete(name);
  };

  function pause(value) {
    paused = value;
    [behind, touched] = [0, -Infinity];
    if (!paused) view.scrollTop = view.scrollHeight;
    shown();
  }

  function shown() {
    const since = now() - RATE_MS;
    recent = recent.filter((at) => at > since);
    const rate = recent.length ? `${count(Math.ceil(recent.length / (RATE_MS / 1_000)))} ${type}s/s` : '';
    const word = over ? 'Ended' : paused ? (behind ? `${count(behind)} new` : 'Paused') : 'Following';
    if (status.dataset.word !== word) fill(status, h('i', { class: `dot h-${over ? 'grey' : paused ? 'amber' : 'blue'}` }), word);
    status.dataset.word = word;
    text(size, bytes(total));
    list.classList.toggle('following', !over && !paused);
    if (last) text(last.note, noteOf(last.attempt, last.key) || rate);
    const label = over || !paused ? 'Pause' : 'Newest';
    if (button.dataset.label !== label) fill(button, icon(paused ? 'down' : 'pause'), label, h('kbd.desk-only', paused ? '.' : 'P'));
    button.dataset.label = label;
    button.hidden = over;
  }

  function draw() {
    drawing = false;
    for (const to of dirty) flush(to);
    dirty.clear();
    if (!paused) view.scrollTop = view.scrollHeight;
    shown();
  }

  /** The block of a frame. A later try, or a later attempt at the same step, takes the place of what an earlier one wrote. */
  function blockOf(at) {
    const known = blocks.get(key(at));
    if (known && known.number === at.number && known.attempt === at.attempt) return known;
    remove(key(at));
    if (!at.key && wasLost(at.attempt - 1)) remove(`\u0000${at.attempt - 1}`);
    const made = block(at);
    text(made.note, noteOf(at.attempt, at.key));
    list.append(made.el);
    blocks.set(key(at), made);
    if (blocks.size > KEPT) drop();
    return made;
  }

  /** Only the newest blocks stay; where the others were is kept. */
  function drop() {
    const [name, { attempt, key, number, from, to }] = blocks.entries().next().value;
    remove(name);
    dropped.push({ attempt, key, number, from, to });
    if (!before.isConnected) list.prepend(before);
  }

  async function readBack() {
    before.disabled = true;
    await older().catch(refused);
    before.disabled = false;
  }

  /** Reads the last blocks that were dropped again, and puts them where they were. */
  async function older() {
    pause(true);
    const { attempt } = dropped.at(-1);
    const first = Math.max(dropped.findIndex((one) => one.attempt === attempt), dropped.length - OLDER);
    const some = dropped.slice(first);
    const made = new Map(some.map((one) => [`${one.key}/${one.number}`, block(one)]));
    for (let from = some[0].from, last = null; from !== last; ) {
      const { frames } = await get(p`/executions/${id}/attempts/${attempt}/stream`, { from, to: some.at(-1).to, limit: PAGE }, { signal });
      // A page begins with the last frame of the one before.
      for (const frame of frames.slice(last ? 1 : 0)) {
        const at = placeOf(frame, attempt);
        const to = made.get(`${at.key}/${at.number}`);
        if (to) write(to, frame);
      }
      [last, from] = [from, frames.at(-1)?.id ?? from];
    }
    // It may have begun anew since.
    if (dropped[first] !== some[0]) return;
    dropped.splice(first, some.length);
    for (const to of made.values()) {
      flush(to);
      text(to.note, noteOf(attempt, to.key));
    }
    before.after(...[...made.values()].map((to) => to.el));
    if (dropped.length === 0) before.remove();
  }

  function line(index) {
    if (index === current) return;
    current = index;
    lines.set(index, h('span', attemptLine(index)));
    list.append(h('div.out-attempt', lines.get(index)));
  }

  function on(name, data, eventId) {
    const said = JSON.parse(data);
    if (name === 'attempt' && said.attempt_index > 0) line(said.attempt_index);
    if (name === 'gap') list.append(h('div.meta', 'Some output is not kept any more.'));
    if (name === 'frame') {
      const at = placeOf(said, Number(eventId.split('/')[0]));
      const moment = Number(said.id.split('-')[0]);
      if (said.frame_type === 'summary') return true;
      const to = blockOf(at);
      total += write(to, said);
      dirty.add(to);
      recent.push(moment);
      [type, last] = [said.frame_type, to];
      if (paused) behind += 1;
      if (at.key) heard(at.attempt, at.key, moment);
      if (!drawing) requestAnimationFrame(draw);
      drawing = true;
    }
    if (name !== 'end') return true;
    if (total === 0) fill(list, h('p.meta', 'It wrote no output.'));
    ended();
    return false;
  }

  function ended(problem) {
    over = true;
    if (problem) list.append(h('p.meta', problem.detail));
    shown();
  }

  // New output moves the view, too, and so does what it takes to say that it pauses: only who touches it wants something.
  for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown']) view.addEventListener(kind, () => (touched = performance.now()), { passive: true });
  view.addEventListener('scroll', () => {
    const atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < NEAR_END;
    if (performance.now() - touched > TOUCH_MS) return;
    touched = performance.now();
    if (atEnd === paused && !over) pause(!atEnd);
  }, { passive: true });
  shown();
  const start = () => follow(p`/executions/${id}/stream`, {}, { signal, on, refused: ended });
  start();
  return {
    el,
    toggle: () => pause(!paused),
    newest: () => pause(false),
    /** Shows anew what stands beside the names of steps, and over attempts. */
    refresh() {
      for (const [index, of] of lines) text(of, attemptLine(index));
      for (const to of blocks.values()) if (to.key) text(to.note, noteOf(to.attempt, to.key));
      shown();
    },
    /** Time went on: how fast output comes may be another. */
    tick: shown,
    /** Follows again what has ended and was replayed. */
    again() {
      if (!over) return;
      over = false;
      fill(list);
      blocks.clear();
      dropped.length = 0;
      [total, current] = [0, -1];
      start();
    },
  };
}
