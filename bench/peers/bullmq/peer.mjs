// BullMQ: jobs added in bulk, taken by one worker with a concurrency, removed when they are done.

import { Queue, Worker } from 'bullmq';
import { Cluster, Redis } from 'ioredis';

import { inBatches, incompressible, main } from '../common/peer.mjs';

const NAME = 'bench';
// All keys of a queue have to be in one slot of a cluster.
const PREFIX = '{bull}';

/** A connection to the server that `urls` names, or to the cluster of which it names several nodes. */
function connect(urls) {
  const nodes = urls.split(',').map((url) => new URL(url));
  const addresses = nodes.map(({ hostname: host, port }) => ({ host, port: Number(port) }));
  // Workers wait in a command: it must not be given up.
  const options = { maxRetriesPerRequest: null };
  if (addresses.length > 1) return new Cluster(addresses, { redisOptions: options });
  return new Redis({ ...addresses[0], ...options });
}

await main({ peer: 'bullmq', from: import.meta.url, scenarios: ['s1'] }, async (asked) => {
  const connections = [];
  const connection = () => {
    connections.push(connect(asked.store));
    return connections.at(-1);
  };
  const queue = new Queue(NAME, {
    connection: connection(),
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  const payload = incompressible(asked.payload);
  let current;
  const worker = new Worker(NAME, async (job) => current.ran(job.data.number), {
    connection: connection(),
    prefix: PREFIX,
    concurrency: asked.workers,
  });
  worker.on('completed', () => current.acknowledged());
  worker.on('failed', (_, error) => current.failed(error));
  worker.on('error', (error) => current?.failed(error));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return {
    store: 'Valkey',
    async round(deliveries) {
      current = deliveries;
      await inBatches(deliveries.tasks, (from, to) => {
        const job = (_, at) => ({ name: NAME, data: { number: from + at, payload } });
        return queue.addBulk(Array.from({ length: to - from }, job));
      });
      await deliveries.all;
    },
    async left() {
      const counts = await queue.getJobCounts();
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async stop() {
      await worker.close();
      await queue.close();
      for (const open of connections) open.disconnect();
    },
  };
});
