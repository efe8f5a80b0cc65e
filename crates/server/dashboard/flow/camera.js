// What part of a picture is seen: scrolling moves it, wheel with Ctrl or two fingers zoom at their place, and nothing has to be dragged.

const LEAST = 0.02;
const MOST = 3;
const CLICK = 5;
const LINE_PX = 16;

const within = (n, least, most) => Math.min(most, Math.max(least, n));

/** A point of the picture stands at `zoom * point + (x, y)` in `el`. `moved()` after each change, `clicked(x, y, twice)` in the picture's units. */
export function camera(el, moved, clicked) {
  const at = { x: 0, y: 0, zoom: 1 };
  const fingers = new Map();
  let way = 0;
  let pressed = 0;

  const here = (event) => {
    const box = el.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  function zoomTo(zoom, [px, py] = [el.clientWidth / 2, el.clientHeight / 2]) {
    const by = within(zoom, LEAST, MOST) / at.zoom;
    at.x = px - (px - at.x) * by;
    at.y = py - (py - at.y) * by;
    at.zoom *= by;
    moved();
  }

  function pan(x, y) {
    at.x += x;
    at.y += y;
    moved();
  }

  el.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode ? LINE_PX : 1;
    if (event.ctrlKey) zoomTo(at.zoom * Math.exp(-event.deltaY * unit * 0.004), here(event));
    else if (event.shiftKey && !event.deltaX) pan(-event.deltaY * unit, 0);
    else pan(-event.deltaX * unit, -event.deltaY * unit);
  }, { passive: false });

  el.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.target.closest('button, input, a')) return;
    fingers.set(event.pointerId, here(event));
    way = fingers.size > 1 ? Infinity : 0;
  });

  el.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const after = here(event);
    const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    way += Math.hypot(dx, dy);
    if (way < CLICK) return;
    el.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, after);
    if (fingers.size === 1) {
      pan(dx, dy);
      return;
    }
    const [[, other]] = [...fingers].filter(([id]) => id !== event.pointerId);
    const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    zoomTo((at.zoom * apart(after)) / apart(before), [(after[0] + other[0]) / 2, (after[1] + other[1]) / 2]);
  });

  el.addEventListener('pointerup', (event) => {
    if (!fingers.delete(event.pointerId) || way >= CLICK) return;
    const [x, y] = here(event);
    const twice = event.timeStamp - pressed < 350;
    pressed = event.timeStamp;
    clicked((x - at.x) / at.zoom, (y - at.y) / at.zoom, twice);
  });
  el.addEventListener('pointercancel', (event) => fingers.delete(event.pointerId));

  return {
    at,
    zoomBy: (by) => zoomTo(at.zoom * by),
    /** Puts a point of the picture at a place in the element. */
    put(point, place, zoom = at.zoom) {
      at.zoom = within(zoom, LEAST, MOST);
      at.x = place[0] - point[0] * at.zoom;
      at.y = place[1] - point[1] * at.zoom;
      moved();
    },
    pan,
  };
}
