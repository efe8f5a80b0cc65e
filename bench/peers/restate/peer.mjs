// Restate: agents are handlers of a service, each of their steps a recorded action, kept by a Restate server.

import * as restate from '@restatedev/restate-sdk';

import { incompressible, main } from '../common/peer.mjs';
import { freePort, startServer } from './server.mjs';

/** Agents under way for each worker: the server is at work on all of them at the same time. */
const AGENTS_PER_WORKER = 8;

const settings = {
  peer: 'restate',
  name: '@restatedev/restate-server',
  from: import.meta.url,
  scenarios: ['s10'],
  perTask: ({ steps }) => steps,
};

await main(settings, async (asked) => {
  const output = incompressible(asked.payload);
  let current;
  let bodies;
  const agent = restate.service({
    name: 'agent',
    handlers: {
      run: async (ctx, number) => {
        for (let step = 0; step < asked.steps; step += 1) {
          await ctx.run(`turn ${step}`, () => {
            bodies[number * asked.steps + step] += 1;
            return output;
          });
        }
        return number;
      },
    },
  });
  const server = await startServer();
  asked.storeProcesses.push(server.process);
  const port = await freePort();
  await restate.endpoint().setLogger(() => {}).bind(agent).listen(port);
  const answer = async (response) => {
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const post = (url, body) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).then(answer);
  await post(`${server.admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
  return {
    store: 'Restate',
    async round(deliveries) {
      current = deliveries;
      bodies = new Uint32Array(deliveries.tasks * asked.steps);
      let next = 0;
      const caller = async () => {
        while (next < deliveries.tasks) {
          const number = next;
          next += 1;
          const ended = await post(`${server.ingress}/agent/run`, number);
          current.ran(ended);
          current.acknowledged();
        }
      };
      await Promise.all(Array.from({ length: AGENTS_PER_WORKER * asked.workers }, caller));
      const wrong = bodies.findIndex((times) => times !== 1);
      if (wrong >= 0) throw new Error(`the body of step ${wrong} ran ${bodies[wrong]} times`);
    },
    async left() {
      const query = "SELECT count(*) AS count FROM sys_invocation WHERE status <> 'completed'";
      const response = await fetch(`${server.admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { rows } = await answer(response);
      return rows[0].count;
    },
    stop: () => server.stop(),
  };
});
// Its endpoint would go on listening.
process.exit(0);
