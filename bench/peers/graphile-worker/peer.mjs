// Graphile Worker: jobs added by the batch, fetched into its local queue, completed by the batch.

import { Logger, makeWorkerUtils, run } from 'graphile-worker';

import { inBatches, incompressible, main } from '../common/peer.mjs';

const NAME = 'bench';

await main({ peer: 'graphile-worker', from: import.meta.url, scenarios: ['s1'] }, async (asked) => {
  const options = { connectionString: asked.store, logger: new Logger(() => () => {}) };
  const utils = await makeWorkerUtils(options);
  await utils.migrate();
  const payload = incompressible(asked.payload);
  let current;
  const runner = await run({
    ...options,
    noHandleSignals: true,
    taskList: { [NAME]: (given) => current.ran(given.number) },
    preset: {
      worker: {
        concurrentJobs: asked.workers,
        maxPoolSize: asked.workers + 2,
        // One pool fetches for all of them.
        localQueue: { size: asked.workers * asked.batch },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  runner.events.on('job:complete', ({ error }) => {
    if (error) current.failed(error);
    else current.acknowledged();
  });
  runner.events.on('pool:fatalError', ({ error }) => current.failed(error));
  const left = async () => {
    const { rows } = await utils.withPgClient((client) =>
      client.query('SELECT count(*)::int AS count FROM graphile_worker.jobs'),
    );
    return rows[0].count;
  };
  return {
    store: 'PostgreSQL',
    async round(deliveries) {
      current = deliveries;
      await inBatches(deliveries.tasks, (from, to) => {
        const job = (_, at) => ({ identifier: NAME, payload: { number: from + at, payload } });
        return utils.addJobs(Array.from({ length: to - from }, job));
      });
      await deliveries.all;
      // The last completions are still under way when it tells of them: what is done is gone from the table.
      while ((await left()) > 0);
    },
    left,
    async stop() {
      await runner.stop();
      await utils.release();
    },
  };
});
