// Limits of a budget, to be changed: of one dimension or of all of them.

import { act, p } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { amount, isMoney } from '../core/format.js';
import { actButton } from './act.js';

const number = (value, label) => h('input', { type: 'number', min: '0', step: '1', inputmode: 'numeric', value: value ?? '', placeholder: 'none', 'aria-label': label });

const read = (input) => (input.value === '' ? undefined : Number(input.value));

/** Inputs for the limits of a dimension, with what they mean in money. */
export function limitFields(dimension, { soft, hard }, change = () => {}) {
  const inputs = { soft: number(soft, `Soft limit of ${dimension}`), hard: number(hard, `Hard limit of ${dimension}`) };
  const says = (input) => {
    const el = h('span.meta');
    const show = () => fill(el, isMoney(dimension) && input.value !== '' ? amount(dimension, Number(input.value)) : '');
    input.addEventListener('input', () => (show(), change()));
    show();
    return el;
  };
  const field = (label, input) => h('label.field', h('span.ink2', label), input, says(input));
  const el = h('div.limit-fields', h('b', dimension), field('Hard: nothing is admitted from here on', inputs.hard), field('Soft: reported above it', inputs.soft));
  const limits = () => ({ ...(read(inputs.soft) !== undefined && { soft: read(inputs.soft) }), ...(read(inputs.hard) !== undefined && { hard: read(inputs.hard) }) });
  return { el, limits };
}

/** A button that opens the limits of these dimensions; `done()` when they were changed. */
export function limitsButton(budget, { label, hue, name, names, done }) {
  let fields = [];
  return actButton({
    op: 'update_limits', label, hue,
    ask: {
      title: `Limits of ${name}`, label: 'Set limits', hue: 'primary', busy: 'Setting…',
      body() {
        const { n = 0, at_least: more } = budget().waiting ?? {};
        fields = names().map((name) => [name, limitFields(name, budget().dimensions[name] ?? {})]);
        return [n > 0 && h('p', `${n}${more ? ' or more' : ''} executions wait for this budget; as soon as every use is below its hard limit they may start.`), ...fields.map(([, { el }]) => el)];
      },
    },
    run: (key) => act('PATCH', p`/budgets/${budget().budget_id}`, { dimensions: Object.fromEntries(fields.map(([name, { limits }]) => [name, limits()])) }, { key }),
    done() {
      done();
      return 'Limits set';
    },
  });
}
