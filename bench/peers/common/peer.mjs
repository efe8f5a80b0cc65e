// What the peers for Node.js share: how they are asked, how a round is measured and checked, and the one line they print.

import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Jobs in one call that submits. */
const BATCH = 256;
/** Callers that submit at the same time. */
const SUBMITTERS = 4;

/** What the command line asks for. */
function asked() {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', default: '' },
      scenario: { type: 'string', default: 's1' },
      tasks: { type: 'string', default: '20000' },
      steps: { type: 'string', default: '40' },
      payload: { type: 'string', default: '4096' },
      workers: { type: 'string', default: '16' },
      batch: { type: 'string', default: '32' },
      warmup: { type: 'string', default: '500' },
      'store-process': { type: 'string', multiple: true, default: [] },
    },
  });
  const number = (name) => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number above 0`);
    return value;
  };
  return {
    store: values.store,
    scenario: values.scenario,
    tasks: number('tasks'),
    steps: number('steps'),
    payload: number('payload'),
    workers: number('workers'),
    batch: number('batch'),
    warmup: number('warmup'),
    storeProcesses: values['store-process'].map(Number),
  };
}

/** Text of so many bytes that no database can make smaller. */
export function incompressible(bytes) {
  return randomBytes(bytes).toString('base64').slice(0, bytes);
}

/** CPU seconds of processes and their children, those too that have ended, as Linux tells them. */
function cpuSeconds(processes) {
  const stats = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      stats.push({ id: Number(name), fields: text.slice(text.lastIndexOf(')') + 2).split(' ') });
    } catch {
      // It has ended: its time is its parent's from now on.
    }
  }
  const ticks = (fields, first) => Number(fields[first]) + Number(fields[first + 1]);
  let sum = 0;
  for (const { id, fields } of stats) {
    if (processes.includes(id)) sum += ticks(fields, 11) + ticks(fields, 13);
    else if (processes.includes(Number(fields[1]))) sum += ticks(fields, 11);
  }
  return sum / 100;
}

/** Which tasks of a round ran and were acknowledged; every task has its number. */
export class Deliveries {
  #ran;
  #acknowledged = 0;
  #told;

  constructor(tasks) {
    this.tasks = tasks;
    this.#ran = new Uint32Array(tasks);
    this.all = new Promise((resolve, reject) => {
      this.#told = { resolve, reject };
    });
  }

  /** The body of a task ran. */
  ran(number) {
    this.#ran[number] += 1;
  }

  /** The store took a task as done. */
  acknowledged() {
    this.#acknowledged += 1;
    if (this.#acknowledged === this.tasks) this.#told.resolve();
  }

  /** Something went wrong that nobody waits for. */
  failed(error) {
    this.#told.reject(error);
  }

  /** Refuses a round that lost a task or ran one twice. */
  check() {
    this.#ran.forEach((times, number) => {
      if (times !== 1) throw new Error(`task ${number} ran ${times} times`);
    });
    if (this.#acknowledged !== this.tasks) {
      throw new Error(`${this.#acknowledged} of ${this.tasks} tasks were acknowledged`);
    }
  }
}

/** Calls `submit(from, to)` for every batch of numbers below `tasks`, some at the same time. */
export async function inBatches(tasks, submit) {
  let next = 0;
  const submitter = async () => {
    while (next < tasks) {
      const from = next;
      next = Math.min(tasks, from + BATCH);
      await submit(from, next);
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
}

/** The version of an installed package. */
function version(name, from) {
  const paths = createRequire(from).resolve.paths(name);
  for (const path of paths) {
    try {
      return JSON.parse(readFileSync(join(path, name, 'package.json'), 'utf8')).version;
    } catch {
      // It is in none of the folders before the one it is in.
    }
  }
  throw new Error(`${name} is not installed`);
}

/**
 * Measures a peer, whose package is called `name`; `perTask(asked)` says how many a task counts for. `start(asked)` gives `store`, `round(deliveries)`, which submits the tasks and returns when all are done,
 * `left()`, how many tasks the store still has to do, and `stop()`.
 */
export async function main({ peer, name = peer, from, scenarios, perTask = () => 1 }, start) {
  const ask = asked();
  if (!scenarios.includes(ask.scenario)) throw new Error(`${peer} knows ${scenarios.join(', ')}, not ${ask.scenario}`);
  const running = await start(ask);
  const round = async (tasks) => {
    const deliveries = new Deliveries(tasks);
    await Promise.race([running.round(deliveries), deliveries.all.then(() => new Promise(() => {}))]);
    return deliveries;
  };
  // Code that runs for the first time is slow, and so are plans and pools.
  const rounds = [await round(ask.warmup)];
  const before = cpuSeconds(ask.storeProcesses);
  const started = performance.now();
  rounds.push(await round(ask.tasks));
  const seconds = (performance.now() - started) / 1000;
  const cpu = cpuSeconds(ask.storeProcesses) - before;
  const left = await running.left();
  await running.stop();
  for (const deliveries of rounds) deliveries.check();
  if (left !== 0) throw new Error(`${left} tasks are not done`);
  const tasks = ask.tasks * perTask(ask);
  const line = {
    peer,
    version: version(name, from),
    store: running.store,
    scenario: ask.scenario,
    tasks,
    seconds,
    per_second: tasks / seconds,
    exact: true,
  };
  if (ask.storeProcesses.length > 0) line.store_cpu_us_per_task = (cpu * 1e6) / tasks;
  console.log(JSON.stringify(line));
}
