// A graph as a list, layer by layer: the same boxes, the same choice, for who reads rather than looks.

import { fill, h } from '../core/dom.js';
import { count } from '../core/format.js';
import { now } from '../core/time.js';
import { mark, stateWord } from '../ui/state-mark.js';
import { second } from './scene.js';

const MOST = 500;

/** `onselect(box)` when another line is chosen; `show(model, scene, selected)` fills it. */
export function outline({ label, onselect, onopen }) {
  const el = h('div.outline', { role: 'tree', 'aria-label': label });
  const lines = new Map();

  function line(model, box) {
    const item = h('div.item.row', { role: 'treeitem', 'aria-level': '2', tabindex: '-1', onclick: () => onselect(box) },
      mark(box.state, stateWord(box.state)), h('span.strong', box.name), h('span.ink2.cut', second(model, box, now() - model.begun)));
    item.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') onopen(box);
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Enter' || by) {
        event.preventDefault();
        event.stopPropagation();
      }
      const all = [...lines.keys()];
      const next = by && all[all.indexOf(box) + by];
      if (next) onselect(next);
    });
    lines.set(box, item);
    return item;
  }

  function select(box, focus) {
    for (const [one, item] of lines) {
      item.setAttribute('aria-selected', String(one === box));
      item.tabIndex = one === box || (!box && one === lines.keys().next().value) ? 0 : -1;
    }
    const item = lines.get(box);
    if (focus && item) item.focus();
  }

  function show(model, scene, selected) {
    const focus = el.contains(document.activeElement);
    lines.clear();
    const layers = [];
    for (const box of scene.boxes.slice(0, MOST)) (layers[box.layer] ??= []).push(box);
    fill(el, layers.map((boxes, layer) => boxes && h('div', { role: 'group', 'aria-label': `Layer ${layer + 1}` },
      h('div.ink3.meta', { role: 'treeitem', 'aria-level': '1', 'aria-expanded': 'true' }, `Layer ${layer + 1}`), boxes.map((box) => line(model, box)))),
      scene.boxes.length > MOST && h('p.meta', `and ${count(scene.boxes.length - MOST)} more: fold the graph to groups, or find what you look for`));
    select(selected, focus);
  }

  return { el, show, select };
}
