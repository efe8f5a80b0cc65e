// How much of a budget was used at each moment, out of how much was charged in each minute. Nothing here touches the page.

/**
 * `used` per step from `from` on, of a budget that stands at `current` now, began at `created` and begins again every `period` ms, next at `next` (both may be missing).
 * Answers a line of values for each stretch between resets, null where it is not known, the newest last; and the moments of the resets.
 */
export function linesOf({ used, from, step, now, current, created, period, next }) {
  const place = (moment) => Math.floor((moment - from) / step);
  const resets = [];
  for (let at = next - period; period > 0 && at > Math.max(from, created); at -= period) if (at <= now) resets.unshift(at);
  const starts = [created > from ? place(created) : 0, ...resets.map(place)];
  const lines = starts.map((start, i) => {
    const line = Array(used.length).fill(null);
    const end = starts[i + 1] ?? used.length;
    const isCurrent = i === starts.length - 1;
    // What was used before the first of these minutes is not known, but what is used now is.
    if (isCurrent) backwards(line, used, start, end, current);
    else if (i > 0 || created > from) forwards(line, used, start, end);
    // It began with nothing.
    if ((i > 0 || created > from) && start > 0 && line[start] !== null) line[start - 1] = 0;
    return line;
  });
  return { lines: lines.filter((line, i) => i === lines.length - 1 || line.some((value) => value !== null)), resets };
}

function forwards(line, used, start, end) {
  let sum = 0;
  for (let i = start; i < end; i += 1) line[i] = sum += used[i] ?? 0;
}

/** Until more was charged than is used: there it was reset by hand. */
function backwards(line, used, start, end, current) {
  let value = current;
  for (let i = end - 1; i >= start && value >= 0; i -= 1) {
    line[i] = value;
    value -= used[i] ?? 0;
  }
}
