// Acts: what the key does not allow is not there, what the state forbids says why, and nothing is shown done before it is.

import { h } from '../core/dom.js';
import { newKey } from '../core/api.js';
import { connection } from '../core/live.js';
import { may } from '../core/role.js';
import { icon } from './icons.js';
import { sheet } from './sheet.js';
import { toast } from './toast.js';

/** Says what was refused: a conflict in words, anything else with what helps to find it. */
export function refused(problem) {
  if (problem.name === 'AbortError') return;
  if (!(problem.status >= 0)) throw problem;
  if (problem.status === 409) toast(problem.detail);
  else toast(`${problem.title}: ${problem.detail}${problem.request_id ? ` (${problem.request_id})` : ''}`, { hue: 'red' });
}

/** Whether acts make sense now; says so if not. */
function connected() {
  if (connection.get().state !== 'lost') return true;
  toast('Not connected: nothing was done.', { hue: 'amber' });
  return false;
}

/** Runs with one key for all its tries, while the button says what is going on; null: refused. */
async function running(button, busy, run) {
  const shown = [...button.childNodes];
  button.disabled = true;
  button.setAttribute('aria-busy', 'true');
  button.replaceChildren(busy);
  // What stands beside it stays when it says again what it said.
  button.style.minWidth = `${button.offsetWidth}px`;
  try {
    return (await run()) ?? {};
  } catch (problem) {
    refused(problem);
    return null;
  } finally {
    button.disabled = false;
    button.removeAttribute('aria-busy');
    button.replaceChildren(...shown);
  }
}

function reasonField(reason) {
  const input = h('textarea', { rows: '2', maxlength: '1000', id: 'reason' });
  return [
    input,
    h('div.field', h('label', { for: 'reason' }, reason === 'needed' ? 'Reason' : 'Reason (for the record, if you like)'), input),
  ];
}

/** Asks once, with what will happen; answers what the server did, or null, also to who closed it while it was under way. */
export function confirm({ title, body, label, hue = 'red', reason = null, busy = 'Working…', run }) {
  if (!connected()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const key = newKey();
    const [input, field] = reason ? reasonField(reason) : [null, null];
    let reply = null;
    const pressed = async () => {
      if (yes.disabled) return;
      const why = input?.value.trim();
      const wrong = place.querySelector(':invalid');
      if (wrong) {
        wrong.reportValidity();
        return;
      }
      if (reason === 'needed' && !why) {
        input.focus();
        return;
      }
      reply = running(yes, busy, () => run(key, why || undefined));
      // Who filled something in may want to change it.
      if ((await reply) || !place.querySelector('input, select')) shown.close();
    };
    const yes = h(`button.btn.${hue}`, { type: 'button', onclick: pressed }, label);
    const foot = [h('span.grow'), h('button.btn', { type: 'button', onclick: () => shown.close() }, 'Leave it'), yes];
    const entered = (event) => event.key === 'Enter' && event.target.matches('input:not([type=checkbox])') && pressed();
    const place = h('div.stack', { onkeydown: entered });
    const shown = sheet({ title, body: [place, field], foot, onclose: () => resolve(reply) });
    const asked = typeof body === 'function' ? body() : body;
    const filled = (nodes) => {
      place.append(...[nodes].flat().filter(Boolean));
      (input ?? place.querySelector('input:enabled') ?? yes).focus();
    };
    Promise.resolve(asked).then(filled, refused);
  });
}

/**
 * A button of one operation; null where the key does not allow it. `why` greys it and says so. `ask` opens a sheet first.
 * `run(key, reason)` gets the Idempotency-Key; `done(reply)` may answer a sentence to be said.
 */
export function actButton({ op, label, busy, icon: name, hue, key, why, run, done = () => null, ask }) {
  if (!may(op)) return null;
  const pressed = async () => {
    if (button.getAttribute('aria-disabled') || button.disabled || !connected()) return;
    const idem = newKey();
    const reply = ask ? await confirm({ busy, run, ...ask }) : await running(button, busy ?? label, () => run(idem));
    const said = reply && done(reply);
    if (said) toast(said);
  };
  const button = h(
    'button.btn',
    { type: 'button', class: hue ?? '', onclick: pressed, title: why, 'aria-disabled': why ? 'true' : null },
    name && icon(name),
    label,
    key && h('kbd.desk-only', key),
  );
  return button;
}
