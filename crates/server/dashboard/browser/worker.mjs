// A worker that does what a test says, one thing at a time, over the interface that any worker uses.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

const LEASE_MS = 60_000;

/** A registered worker process. `more` is said with the registration: `slots`, `version`, `capabilities`. */
export async function worker(server, { instance = 'web-7', lanes = ['default'], key, ...more } = {}) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const own = { worker_id: instance.replace(/-\d+$/, ''), incarnation: randomUUID() };
  const call = async (method, path, body) => {
    const reply = await server.api(method, path, body, headers);
    assert(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const path = `/workers/${encodeURIComponent(instance)}`;
  await call('PUT', path, { ...own, lanes, ...more });
  const exchange = (said) => call('POST', `${path}/exchange`, { ...own, ...said });
  const fence = ({ execution_id, lease_id, lease_epoch, attempt_id }) => ({ execution_id, lease_id, lease_epoch, attempt_id });

  return {
    exchange,
    fence,
    /** Says that it is there. */
    alive: () => call('POST', `${path}/heartbeat`, { incarnation: own.incarnation }),
    /** Waits until it is given work, all that there is up to `max`. */
    async take(max = 1, { ttl = LEASE_MS, within = 10_000 } = {}) {
      const want = { lanes, max, lease_ttl_ms: ttl, ...(more.capabilities && { capabilities: more.capabilities }) };
      const { tasks } = await exchange({ want, wait_ms: within });
      assert(tasks.length > 0, `${instance} was given nothing`);
      // The first lease is short until it is renewed.
      await exchange({ renew: tasks.map((task) => ({ ...fence(task), ttl_ms: ttl })) });
      return max === 1 ? tasks[0] : tasks;
    },
    /** Says what is being done, and keeps the lease. */
    doing: (task, step) => exchange({ renew: [{ ...fence(task), ttl_ms: LEASE_MS, doing: [{ step, started_at: task.server_time }] }] }),
    /** Records steps, each `{key, output, usage…}`. */
    async steps(task, steps, progress) {
      const { steps: [told] } = await exchange({ steps: [{ ...fence(task), steps, ...(progress && { progress }) }] });
      assert(!told.error, JSON.stringify(told));
    },
    /** Writes frames, each `{payload, …}`; they are text of one step unless they say otherwise. */
    async frames(task, frames) {
      const all = frames.map((frame) => ({ ...fence(task), frame_type: 'token', request_id: randomUUID(), ...frame }));
      const { frames: told } = await exchange({ frames: all });
      for (const one of told ?? []) assert(!one.error, JSON.stringify(one));
      return told;
    },
    /** Lets a task go: `finish(task, 'complete', {result})`. */
    async finish(task, op, how = {}) {
      const { results: [told] } = await exchange({ finished: [{ ...fence(task), op, ...how }] });
      assert(!told.error, JSON.stringify(told));
      return told;
    },
    /** Asks a person under the name of a waitpoint. */
    ask(task, name = 'review#0', how = {}) {
      return this.finish(task, 'suspend', {
        step: name,
        waitpoints: [{ fresh: { waitpoint_key: name } }],
        resume_condition: { single: { waitpoint_key: name, matcher: 'any' } },
        reason_code: 'waiting_for_approval',
        ...how,
      });
    },
    leave: () => call('DELETE', `${path}?incarnation=${own.incarnation}`),
  };
}

/** Does something, with a key if there is one, and answers what was said. */
export async function done(server, method, path, body, key) {
  const { status, body: told } = await server.api(method, path, body, key ? { authorization: `Bearer ${key}` } : {});
  assert(status < 300, `${method} ${path}: ${status} ${JSON.stringify(told)}`);
  return told;
}

/** Submits one execution and answers its id. */
export async function submit(server, kind, more = {}, key) {
  return (await done(server, 'POST', '/executions', { execution_kind: kind, ...more }, key)).execution_id;
}

/** What the interface says, when it says yes. */
export async function said(server, path) {
  const { status, body } = await server.api('GET', path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
}
