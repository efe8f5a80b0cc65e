// Runs an ended execution again, from a step of the choice of whoever asks.

import { act, newKey, p } from '../core/api.js';
import { h } from '../core/dom.js';
import { count } from '../core/format.js';
import { usageText } from '../ui/sentence.js';
import { refused } from '../ui/act.js';
import { sheet } from '../ui/sheet.js';
import { toast } from '../ui/toast.js';
import { spent } from './intervals.js';

/** Which steps run again after a choice. */
export function runsAgain(steps, choice) {
  if (choice === 'none') return steps;
  if (choice === 'done') return steps.filter((step) => step.state !== 'done');
  const from = steps.find((step) => step.key === choice.before)?.seq ?? 0;
  return steps.filter((step) => step.seq >= from || step.state !== 'done');
}

/** What it will touch, in a sentence. */
function consequence(steps, again) {
  const paid = usageText(spent(again));
  const spawned = again.filter((step) => step.kind === 'spawn').map((step) => step.key);
  return [
    h('p', `${count(again.length)} of ${count(steps.length)} steps run again${paid ? `; last time they cost ${paid}` : ''}.`,
      steps.length > again.length && ` ${count(steps.length - again.length)} answer from the journal and are not paid again.`),
    spawned.length > 0 && h('p', `Started anew: ${spawned.slice(0, 5).join(', ')}${spawned.length > 5 ? ` and ${count(spawned.length - 5)} more` : ''}.`),
  ];
}

/**
 * Asks how to replay `view`, beginning with `from` (the key of a step) if one is chosen; `marked(seq)` shows on the timeline what would
 * run again (null: nothing), `done()` is called once it is reopened.
 */
export function replaySheet({ view, steps, from = null, marked, done }) {
  const key = newKey();
  const succeeded = view.public_state === 'completed';
  let choice = from ? { before: from } : succeeded ? 'none' : 'done';
  const says = h('div', { 'aria-live': 'polite' });
  const select = h('select', { 'aria-label': 'The first step that runs again', onchange: () => choose({ before: select.value }) },
    steps.map((step) => h('option', { value: step.key, selected: step.key === from }, step.key)));
  const way = (id, label, beside) => h('label.row.choice', h('input', { type: 'radio', name: 'replay', checked: id === (choice.before ? 'before' : choice),
    onchange: () => choose(id === 'before' ? { before: select.value } : id) }), h('span', label), beside);
  const ways = [
    steps.length > 0 && way('before', 'From this step on', select),
    steps.length > 0 && way('done', 'Keep every step that was done'),
    way('none', steps.length > 0 ? 'Everything, from the first line' : 'From the first line'),
  ];

  function choose(next) {
    choice = next;
    if (next.before) ways[0].querySelector('input').checked = true;
    const again = runsAgain(steps, choice);
    says.replaceChildren(...consequence(steps, again).filter(Boolean));
    marked(again.length ? Math.min(...again.map((step) => step.seq)) : null);
  }

  async function run() {
    go.disabled = true;
    go.textContent = 'Replaying…';
    try {
      await act('POST', p`/executions/${view.execution_id}/replay`, { steps: choice }, { key });
      toast('Reopened: it waits for a worker.');
      shown.close();
      done();
    } catch (problem) {
      refused(problem);
      shown.close();
    }
  }

  const go = h('button.btn.primary', { type: 'button', onclick: run }, 'Replay');
  const shown = sheet({
    title: `Replay ${view.execution_kind}`,
    body: [h('div.stack', { role: 'radiogroup', 'aria-label': 'What runs again' }, ways), says],
    foot: [h('span.grow'), h('button.btn', { type: 'button', onclick: () => shown.close() }, 'Leave it'), go],
    onclose: () => marked(null),
  });
  choose(choice);
}
