// A graph to look at: what is in view, what is chosen, and the ways along its lines.

import { fill, h, s } from '../core/dom.js';
import { now } from '../core/time.js';
import { icon } from '../ui/icons.js';
import { camera } from './camera.js';
import { drawing, NEAR } from './draw.js';
import { memberAt } from './waffle.js';

const MARGIN = 20;
const TOOLS = 60;
const STEP = 1.25;

/** `onselect(box | null, member?)` when another box is chosen, `onopen(box, member?)` when it is to be opened. */
export function graphView({ label, onselect, onopen }) {
  const picture = drawing();
  const svg = s('svg.graph-svg', { role: 'img', 'aria-label': label }, picture.world);
  const frame = s('rect.seen');
  const spots = s('g');
  const map = s('svg.graph-map', { 'aria-hidden': 'true' }, spots, frame);
  const shown = h('button.btn.ghost.zoom', { type: 'button', title: 'Zoom to 100 %', onclick: () => zoomTo(1) }, '100 %');
  const button = (name, says, run) => h('button.btn.icon', { type: 'button', 'aria-label': says, title: says, onclick: run }, icon(name));
  const zooms = h('div.graph-zoom', button('minus', 'Zoom out', () => look.zoomBy(1 / STEP)), shown, button('plus', 'Zoom in', () => look.zoomBy(STEP)), button('fit', 'Show all of it', () => fit()));
  const el = h('div.graph', { tabindex: '0', role: 'group', 'aria-label': `${label}: arrows follow its lines` }, svg, map, zooms);
  const look = camera(el, () => soon(), pressed);

  let model = null;
  let scene = null;
  let selected = null;
  let isDim = () => false;
  let onPath = () => false;
  let waiting = false;
  let placed = false;

  // On a phone the tools stand at the side.
  const top = () => (scene.down ? MARGIN : TOOLS);
  const since = () => now() - model.begun;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  };

  function paint() {
    if (!scene || !el.clientWidth) return;
    if (!placed) begin();
    const { x, y, zoom } = look.at;
    picture.world.setAttribute('transform', `translate(${x} ${y}) scale(${zoom})`);
    svg.classList.toggle('far', zoom < 0.35);
    el.style.backgroundPosition = `${x}px ${y}px`;
    const [left, top, right, bottom] = [-x / zoom, -y / zoom, (el.clientWidth - x) / zoom, (el.clientHeight - y) / zoom];
    const sees = (box) => box.x < right && box.x + box.width > left && box.y < bottom && box.y + box.height > top;
    picture.labels(model, scene, { zoom, sees, now: since(), isDim });
    shown.textContent = `${Math.round(zoom * 100)} %`;
    map.toggleAttribute('hidden', left <= 0 && top <= 0 && right >= scene.width && bottom >= scene.height);
    for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) frame.setAttribute(name, value);
  }

  /** Everything but labels and place. */
  function redraw() {
    picture.boxes(scene, isDim);
    picture.edges(scene, selected, onPath);
    picture.chosen(selected);
    fill(spots, picture.silhouettes());
    soon();
  }

  function zoomTo(zoom) {
    look.zoomBy(zoom / look.at.zoom);
  }

  function fit() {
    if (!scene) return;
    const [width, height] = [el.clientWidth - 2 * MARGIN, el.clientHeight - top() - MARGIN];
    const zoom = Math.min(1, width / scene.width, height / scene.height);
    look.put([scene.width / 2, scene.height / 2], [el.clientWidth / 2, middle(scene.height * zoom)], zoom);
  }

  /** The middle of the stage, or lower where that would be under the tools. */
  const middle = (tall) => Math.max(el.clientHeight / 2, top() + tall / 2);

  /** All of it if it can be read then; else its beginning. */
  function begin() {
    placed = true;
    const [width, height] = [el.clientWidth - 2 * MARGIN, el.clientHeight - top() - MARGIN];
    if (Math.min(width / scene.width, height / scene.height) >= NEAR) return fit();
    const across = scene.down ? width / scene.width : height / scene.height;
    const zoom = across >= NEAR ? Math.min(1, across) : 1;
    const [first] = scene.boxes.filter(({ layer }) => layer === 0);
    if (scene.down) look.put([across >= NEAR ? scene.width / 2 : first.x + first.width / 2, 0], [el.clientWidth / 2, top()], zoom);
    else look.put([0, across >= NEAR ? scene.height / 2 : first.y + first.height / 2], [MARGIN, middle(scene.height * zoom)], zoom);
  }

  /** Moves just so far that a box is in view. */
  function bring(box) {
    const { x, y, zoom } = look.at;
    const by = (least, from, to, size) => (from < least ? least - from : to > size - MARGIN ? Math.max(least - from, size - MARGIN - to) : 0);
    look.pan(by(MARGIN, box.x * zoom + x, (box.x + box.width) * zoom + x, el.clientWidth), by(top(), box.y * zoom + y, (box.y + box.height) * zoom + y, el.clientHeight));
  }

  function choose(box, member, brought = true) {
    if (!scene) return;
    selected = box;
    picture.edges(scene, selected, onPath);
    picture.chosen(box);
    if (box && brought) bring(box);
    soon();
    onselect(box, member);
  }

  function pressed(x, y, twice) {
    const box = scene?.boxes.find((one) => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + one.height) ?? null;
    const cell = box?.many && look.at.zoom >= NEAR ? memberAt(box.members, x - box.x - 11, y - box.y - 54) : undefined;
    if (box && twice) onopen(box, cell);
    else choose(box, cell, false);
  }

  /** The nearest box one way: along the lines, or beside in the layer. */
  function step(key) {
    if (!scene?.boxes.length) return;
    if (!selected) return choose(scene.boxes.find(({ layer }) => layer === 0));
    const turned = scene.down ? { Left: 'Up', Right: 'Down', Up: 'Left', Down: 'Right' }[key] : key;
    const across = (box) => (scene.down ? box.x + box.width / 2 : box.y + box.height / 2);
    const near = {
      Right: () => scene.links.filter(({ from }) => from === selected.index).map(({ to }) => scene.boxes[to]),
      Left: () => scene.links.filter(({ to }) => to === selected.index).map(({ from }) => scene.boxes[from]),
      Up: () => scene.boxes.filter((box) => box.layer === selected.layer && across(box) < across(selected)),
      Down: () => scene.boxes.filter((box) => box.layer === selected.layer && across(box) > across(selected)),
    }[turned]();
    const far = (box) => Math.abs(across(box) - across(selected));
    if (near.length) choose(near.reduce((best, box) => (far(box) < far(best) ? box : best)));
  }

  map.addEventListener('pointerdown', (event) => {
    event.stopPropagation();
    const box = map.getBoundingClientRect();
    const by = Math.max(scene.width / box.width, scene.height / box.height);
    const point = [scene.width / 2 + (event.clientX - box.left - box.width / 2) * by, scene.height / 2 + (event.clientY - box.top - box.height / 2) * by];
    look.put(point, [el.clientWidth / 2, el.clientHeight / 2]);
  });
  new ResizeObserver(soon).observe(el);

  return {
    el, fit, step, choose,
    zoomBy: look.zoomBy,
    get selected() { return selected; },
    /** Shows a scene; the box `keep` finds in it stays where the chosen one was. */
    show(shownModel, next, keep = () => undefined) {
      const before = selected;
      model = shownModel;
      scene = next;
      selected = keep(next) ?? null;
      picture.clear();
      map.setAttribute('viewBox', `${-MARGIN} ${-MARGIN} ${next.width + 2 * MARGIN} ${next.height + 2 * MARGIN}`);
      if (before && selected && placed) look.pan((before.x - selected.x) * look.at.zoom, (before.y - selected.y) * look.at.zoom);
      redraw();
    },
    /** These boxes have other counts, or all of them another light. */
    changed(boxes) {
      for (const box of boxes) picture.stale(box);
      redraw();
    },
    light({ dim, path }) {
      isDim = dim ?? (() => false);
      onPath = path ?? (() => false);
      if (scene) redraw();
    },
    tick: () => model && picture.tick(model, since()),
  };
}
