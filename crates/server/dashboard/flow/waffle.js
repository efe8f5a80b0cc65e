// A box of many shows each member as a cell, column by column in the order of the members.

const PITCH = 4;
const CELLS = 2000;

/** What a cell that stands for several shows: the first of these that any of them is in. */
const WORST = 'feslardwuxkc';

/** The grid for so many members: rows, columns, the step from cell to cell, members in each cell. */
export function grid(count) {
  const per = Math.ceil(count / CELLS);
  const cells = Math.ceil(count / per);
  const pitch = cells <= 32 ? PITCH + 1 : PITCH;
  const rows = cells <= 32 ? 1 : Math.max(2, Math.round(Math.sqrt(cells / 2.5)));
  const columns = Math.ceil(cells / rows);
  return { rows, columns, pitch, per, cells, width: columns * pitch - 1, height: rows * pitch - 1 };
}

/** One path for each state: a column's neighbours in the same state are one line, its dashes are the cells. */
export function lines(states, members) {
  const { rows, pitch, per, cells } = grid(members.length);
  const paths = {};
  let from = 0;
  let state = worst(states, members, 0, per);
  for (let cell = 1; cell <= cells; cell++) {
    const next = cell < cells ? worst(states, members, cell, per) : null;
    if (next === state && cell % rows) continue;
    const x = Math.floor(from / rows) * pitch + (pitch - 1) / 2;
    paths[state] = `${paths[state] ?? ''}M${x} ${(from % rows) * pitch}v${(cell - from) * pitch - 1}`;
    from = cell;
    state = next;
  }
  return paths;
}

/** The member at a point of the grid; for a cell of several the first of them. */
export function memberAt(members, x, y) {
  const { rows, columns, pitch, per } = grid(members.length);
  const [column, row] = [Math.floor(x / pitch), Math.floor(y / pitch)];
  if (column < 0 || row < 0 || column >= columns || row >= rows) return undefined;
  return members[(column * rows + row) * per];
}

function worst(states, members, cell, per) {
  if (per === 1) return states[members[cell]];
  let least = WORST.length;
  for (let i = cell * per; i < Math.min(members.length, (cell + 1) * per); i++) {
    least = Math.min(least, WORST.indexOf(states[members[i]]));
  }
  return WORST[least] ?? 'w';
}
