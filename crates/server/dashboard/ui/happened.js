// Whether the numbers of a namespace say that something happened, and what a series is while nothing does. Nothing here touches the page.

/** All of the numbers but when they were so, and rates, which fall while nothing happens. */
function gist({ as_of: _, per_second: __, minute: ___, lanes = [], ...rest }) {
  return JSON.stringify([rest, lanes.map(({ throughput: _, failed_per_s: __, ...lane }) => lane)]);
}

const isSilent = ({ per_second: rates, lanes = [] }) => [...Object.values(rates ?? {}), ...lanes.flatMap(({ throughput = 0, failed_per_s: failed = 0 }) => [throughput, failed])].every((n) => n === 0);

/** Asked with each overview that comes: whether anything happened since the last one. Without rates that fall it comes for nothing else. */
export function happenings() {
  let [was, wasSilent] = [null, false];
  return (said) => {
    const [is, silent] = [gist(said), isSilent(said)];
    const happened = is !== was || (silent && wasSilent);
    [was, wasSilent] = [is, silent];
    return happened;
  };
}

/** Numbers that say how it is, and stay so. */
const STATES = new Set(['waiting', 'running', 'oldest_ms']);
/** Numbers that are of something that happened. */
const OF_SOME = new Set(['p50_ms', 'p95_ms']);

/** A series that was read, as it would be read now if nothing happened since: the step that was under way has what it has, and others follow. */
export function rolled(reply, now) {
  const length = Math.max(0, ...reply.series.flatMap((one) => Object.values(one)).filter(Array.isArray).map((column) => column.length));
  const by = Math.min(length, Math.floor((now - reply.from) / reply.step_ms) - length + 1);
  if (!(by > 0)) return reply;
  const rest = (name, column) => (STATES.has(name) ? column.at(-1) : OF_SOME.has(name) ? null : 0);
  const on = (value, name) => {
    if (Array.isArray(value)) return [...value.slice(by), ...Array(by).fill(rest(name, value))];
    return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, on(inside, name)])) : value;
  };
  return { ...reply, from: reply.from + by * reply.step_ms, series: reply.series.map((one) => on(one)) };
}
