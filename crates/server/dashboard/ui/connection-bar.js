// Whether what is shown is what is: a word on top, and a bar when the server has been silent for a while.

import { $, fill, h } from '../core/dom.js';
import { unreachable } from '../core/api.js';
import { connection } from '../core/live.js';
import { clock, now } from '../core/time.js';
import { say } from './toast.js';

const PATIENCE_MS = 2_000;

export function connectionBar() {
  const word = $('#link');
  const bar = $('#lost');
  let told = false;
  const show = () => {
    const { state, since, retryAt } = connection.get();
    const from = state === 'lost' ? since : unreachable.get();
    const lost = from != null && Date.now() - from > PATIENCE_MS;
    const [hue, says] = lost ? ['red', 'Not connected'] : state === 'live' ? ['teal', 'Live'] : ['grey', state === 'quiet' ? 'Paused' : ''];
    fill(word, says && h(`span.live.h-${hue}`, says));
    bar.hidden = !lost;
    if (lost) {
      const next = retryAt > Date.now() ? ` in ${Math.ceil((retryAt - Date.now()) / 1_000)} s` : '';
      bar.textContent = `Not connected since ${clock(from + now() - Date.now())}, trying again${next}`;
    }
    if (lost !== told) say(lost ? 'Connection lost' : 'Connected again');
    told = lost;
  };
  connection.on(show);
  unreachable.on(show);
  setInterval(() => (connection.get().state === 'lost' || unreachable.get() !== null) && show(), 1_000);
}
