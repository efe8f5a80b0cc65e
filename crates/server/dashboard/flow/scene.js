// Boxes with their names, sizes and places. Nothing here touches the page.

import { count, duration } from '../core/format.js';
import { around, degree } from './dag.js';
import { boxed, ENDED, stateOf, tally } from './model.js';
import { place } from './place.js';
import { grid } from './waffle.js';

const LETTER = 8;
const SMALL = 7;
const NAME = 26;
const GAP = 30;

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** All that is drawn of a graph; `down`: from top to bottom, as on a phone. */
export function sceneOf(model, { members, down }) {
  const { boxes, boxOf, links } = boxed(model, members);
  for (const box of boxes) describe(model, box);
  const sizes = boxes.map(({ width, height }) => (down ? [height, width] : [width, height]));
  const placed = place(sizes, links, GAP);
  const turn = ([along, across]) => (down ? [across, along] : [along, across]);
  boxes.forEach((box, i) => Object.assign(box, { index: i, layer: placed.layer[i], x: turn(placed.at[i])[0], y: turn(placed.at[i])[1] }));
  const [width, height] = turn(placed.size);
  return {
    down, boxes, boxOf, width, height, members,
    links: links.map(([from, to, n], i) => ({ from, to, n, bends: placed.bends[i].map(turn) })),
  };
}

function describe(model, box) {
  const { members, run } = box;
  const kinds = new Set(members.map((i) => model.kindOf[i]));
  const first = model.kind(members[0]);
  const kind = kinds.size === 1 ? first : `${first} → ${model.kind(members.at(-1))}`;
  box.many = members.length > 1;
  box.kind = kind;
  box.kinds = kinds.size;
  box.name = box.many ? `${cut(kind, NAME - 6)} ×${count(members.length)}` : cut(kind, NAME);
  box.note = run > 1 ? `${count(run)} in a row` : '';
  recount(model, box);
  const ways = model.whole && !box.many ? degree(model.graph.in, members[0]) : 0;
  const second = box.many ? 150 : 24 + SMALL * (ways > 1 ? upstream(ways, ways).length : 10);
  const named = Math.ceil(50 + LETTER * box.name.length);
  const cells = box.many ? grid(members.length) : null;
  box.width = Math.max(96, named, second, cells ? cells.width + 22 : 0);
  box.height = cells ? 54 + cells.height + 16 : 52;
}

/** Counts the states of a box again. */
export function recount(model, box) {
  box.counts = tally(model, box.members);
  box.state = stateOf(box.counts);
}

const upstream = (ended, all) => `${count(ended)} of ${count(all)} ended`;

/** The line under the name, as it is at `now` (ms after the flow's start). */
export function second(model, box, now) {
  if (box.many) return ofMany(box);
  const [i] = box.members;
  const letter = model.states[i];
  if (model.ended[i] !== null) return model.started[i] === null ? '' : duration(model.ended[i] - model.started[i]);
  if (letter === 'a' && model.started[i] !== null) return duration(now - model.started[i]);
  if (letter === 'u' && model.whole) {
    const before = around(model.graph.in, i);
    if (before.length > 1) return upstream(before.filter((j) => ENDED.includes(model.states[j])).length, before.length);
    return before.length ? `after ${cut(model.kind(before[0]), 12)}` : '';
  }
  return { u: 'for upstream', w: 'waits', d: 'delayed', l: 'held', r: 'ready to resume', s: 'waits for outside' }[letter] ?? '';
}

function ofMany({ counts, width, note }) {
  const sum = (letters) => [...letters].reduce((all, letter) => all + (counts[letter] ?? 0), 0);
  const parts = [[sum('c'), 'done'], [sum('fe'), 'failed'], [sum('a'), 'running'], [sum('l'), 'held'], [sum('s'), 'suspended']]
    .filter(([n]) => n > 0).map(([n, word]) => `${count(n)} ${word}`);
  if (note) parts.push(note);
  if (!parts.length) parts.push(`${count(sum('wdur'))} waiting`);
  let text = parts.shift();
  for (const part of parts) if ((text.length + part.length + 3) * SMALL < width - 20) text += ` · ${part}`;
  return text;
}
