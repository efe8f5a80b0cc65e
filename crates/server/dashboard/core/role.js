// Who looks at the page, and what their key allows.

import { get } from './api.js';
import { signal } from './store.js';
import { sync } from './time.js';

/** What `GET /v1/me` said. */
export const me = signal(null);

let allowed = new Set();

/** Whether the key may call an operation, by its name. */
export const may = (operation) => allowed.has(operation);

export async function recognise() {
  const asked = Date.now();
  const said = await get('/me');
  sync(said.server_time, asked);
  allowed = new Set(said.may);
  me.set(said);
  return said;
}
