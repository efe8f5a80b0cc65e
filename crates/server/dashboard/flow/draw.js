// The picture of a graph in few elements: all boxes of a state are one path, all plain lines one, and only boxes in view have labels.

import { fill, plain, s } from '../core/dom.js';
import { hue, mark, STATES } from '../ui/state-mark.js';
import { ENDED, LETTERS } from './model.js';
import { second } from './scene.js';
import { grid, lines } from './waffle.js';

const ROUND = 8;
const LINES = 1500;
const LABELS = 150;

/** Below these zooms: boxes alone, and names without what is in the boxes. */
export const FAR = 0.35;
export const NEAR = 0.8;

const rect = ({ x, y, width, height }, r = ROUND) => {
  const [w, h] = [width - 2 * r, height - 2 * r];
  return `M${x + r} ${y}h${w}a${r} ${r} 0 0 1 ${r} ${r}v${h}a${r} ${r} 0 0 1-${r} ${r}h${-w}a${r} ${r} 0 0 1-${r}-${r}v${-h}a${r} ${r} 0 0 1 ${r}-${r}z`;
};

const round = (n) => Math.round(n * 10) / 10;

/** Where a line leaves or meets a box: at the middle of its side, a little towards the other end. */
function gate(box, down, out, towards) {
  const lean = (middle, size) => middle + Math.max(-size / 5, Math.min(size / 5, (towards - middle) / 12));
  return down
    ? [lean(box.x + box.width / 2, box.width), out ? box.y + box.height : box.y]
    : [out ? box.x + box.width : box.x, lean(box.y + box.height / 2, box.height)];
}

function curve({ boxes, down }, { from, to, bends }) {
  const across = (box) => (down ? box.x + box.width / 2 : box.y + box.height / 2);
  const side = down ? 0 : 1;
  const [a, b] = [boxes[from], boxes[to]];
  const points = [gate(a, down, true, bends[0]?.[side] ?? across(b)), ...bends, gate(b, down, false, bends.at(-1)?.[side] ?? across(a))];
  let d = `M${points[0].map(round).join(' ')}`;
  points.slice(1).forEach((point, i) => {
    const [x1, y1, x2, y2] = [...points[i], ...point].map(round);
    const middle = round(down ? (y1 + y2) / 2 : (x1 + x2) / 2);
    d += down ? `C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` : `C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  });
  return d;
}

/** The elements of a picture, and what fills them. */
export function drawing() {
  const edge = Object.fromEntries(['plain', 'dashed', 'near', 'critical'].map((name) => [name, s(`path.edge.${name}`)]));
  const outlines = STATES.flatMap((state) => ['', 'dim'].map((dim) => [state + dim, s(`path.box.h-${hue(state)}.s-${state}${dim && '.dim'}`)]));
  const outline = new Map(outlines);
  const chosen = s('path.box-chosen');
  const labels = s('g');
  const world = s('g', Object.values(edge), [...outline.values()], chosen, labels);
  const drawn = new Map();

  return {
    world,

    /** The same boxes in their colours, for a map. */
    silhouettes: () => [...outline].map(([, path]) => s(`path.${path.getAttribute('class').replaceAll(' ', '.').replace('box.', 'spot.')}`, { d: path.getAttribute('d') })),

    boxes({ boxes }, isDim) {
      const paths = new Map();
      for (const box of boxes) {
        const key = box.state + (isDim(box) ? 'dim' : '');
        paths.set(key, (paths.get(key) ?? '') + rect(box));
      }
      for (const [key, path] of outline) path.setAttribute('d', paths.get(key) ?? '');
    },

    /** `onPath(from, to)` says which lines are critical. Lines along which nothing has come yet are dashed. */
    edges(scene, selected, onPath) {
      const paths = { plain: '', dashed: '', near: '', critical: '' };
      const few = scene.links.length <= LINES;
      for (const link of scene.links) {
        const near = selected && (link.from === selected.index || link.to === selected.index);
        if (!few && !near && !onPath(link.from, link.to)) continue;
        const begun = [...ENDED].some((letter) => scene.boxes[link.from].counts[letter]);
        const name = onPath(link.from, link.to) ? 'critical' : near ? 'near' : begun ? 'plain' : 'dashed';
        paths[name] += curve(scene, link);
      }
      for (const [name, path] of Object.entries(edge)) path.setAttribute('d', paths[name]);
    },

    chosen(box) {
      chosen.setAttribute('d', box ? rect(box) : '');
      chosen.setAttribute('class', `box-chosen h-${box ? hue(box.state) : 'blue'}`);
    },

    /** Labels of the boxes that `sees` says are in view; those that stay are left as they are. */
    labels(model, scene, { zoom, sees, now, isDim }) {
      const detail = zoom < FAR ? 0 : zoom < NEAR ? 1 : 2;
      const wanted = new Set(detail ? scene.boxes.filter(sees).slice(0, LABELS) : []);
      for (const [box, label] of drawn) {
        if (wanted.has(box) && label.detail === detail && (detail === 2 || label.zoom === zoom)) continue;
        label.el.remove();
        drawn.delete(box);
      }
      for (const box of wanted) {
        if (!drawn.has(box)) {
          const el = s('g', detail === 2 ? whole(model, box, now) : named(box, zoom));
          labels.append(el);
          drawn.set(box, { el, detail, zoom });
        }
        drawn.get(box).el.classList.toggle('dim', isDim(box));
      }
    },

    /** Draws the label of a box again the next time. */
    stale(box) {
      drawn.get(box)?.el.remove();
      drawn.delete(box);
    },

    /** Times of what runs go on. */
    tick(model, now) {
      for (const [box, { el, detail }] of drawn) {
        if (detail !== 2 || box.many || box.state !== 'active') continue;
        const line = el.querySelector('.box-line');
        const text = plain(second(model, box, now));
        if (line.textContent !== text) line.textContent = text;
      }
    },

    clear() {
      drawn.clear();
      fill(labels);
    },
  };
}

function symbol(state, x, y, size) {
  const el = mark(state);
  for (const [name, value] of Object.entries({ x, y, width: size, height: size })) el.setAttribute(name, value);
  return el;
}

function whole(model, box, now) {
  const { x, y } = box;
  return [
    s('title', box.kind),
    symbol(box.state, x + 11, y + 10, 15),
    s('text.box-name', { x: x + 33, y: y + 22 }, box.name),
    s('text.box-line', { x: x + 12, y: y + 41 }, second(model, box, now)),
    box.many && waffle(model, box),
  ];
}

function waffle(model, { x, y, members }) {
  const { pitch } = grid(members.length);
  return s('g', { transform: `translate(${x + 11} ${y + 54})`, 'stroke-width': pitch - 1, 'stroke-dasharray': `${pitch - 1} 1` },
    Object.entries(lines(model.states, members)).map(([letter, d]) => s(`path.cell.h-${hue(LETTERS[letter])}.s-${LETTERS[letter]}`, { d })));
}

/** From further away the name alone, in letters of the same size on the screen as far as they fit. */
function named({ x, y, width, height, name, state }, zoom) {
  const size = 12 / zoom;
  const room = Math.floor((width - 2.2 * size) / (size * 0.57));
  const text = name.length <= room ? name : room > 3 ? `${name.slice(0, room - 1)}…` : '';
  return [
    symbol(state, x + size / 2, y + height / 2 - size * 0.6, size * 1.2),
    s('text.box-name', { x: x + size * 2, y: y + height / 2 + size * 0.36, 'font-size': size }, text),
  ];
}
