// pg-boss: jobs inserted by the batch; every worker fetches a batch and completes it, as soon as it has done the one before.

import { setTimeout as sleep } from 'node:timers/promises';

import { PgBoss } from 'pg-boss';

import { inBatches, incompressible, main } from '../common/peer.mjs';

const NAME = 'bench';
/** How long a worker that found nothing waits, in milliseconds. */
const PAUSE = 2;

await main({ peer: 'pg-boss', from: import.meta.url, scenarios: ['s1'] }, async (asked) => {
  const boss = new PgBoss({
    connectionString: asked.store,
    // Workers and who submits have a connection each.
    max: asked.workers + 4,
    supervise: false,
    schedule: false,
  });
  let current;
  boss.on('error', (error) => current?.failed(error));
  await boss.start();
  await boss.createQueue(NAME);
  const payload = incompressible(asked.payload);
  const work = async (deliveries, isOver) => {
    while (!isOver()) {
      const jobs = await boss.fetch(NAME, { batchSize: asked.batch });
      for (const job of jobs) deliveries.ran(job.data.number);
      if (jobs.length === 0) {
        await sleep(PAUSE);
        continue;
      }
      const { affected } = await boss.complete(NAME, jobs.map((job) => job.id));
      for (let count = 0; count < affected; count += 1) deliveries.acknowledged();
    }
  };
  return {
    store: 'PostgreSQL',
    async round(deliveries) {
      let isOver = false;
      current = deliveries;
      const working = Array.from({ length: asked.workers }, () => work(deliveries, () => isOver));
      const submitted = inBatches(deliveries.tasks, (from, to) => {
        const job = (_, at) => ({ data: { number: from + at, payload } });
        return boss.insert(NAME, Array.from({ length: to - from }, job), { returnId: false });
      });
      // What fails is told at once, not after all others have ended.
      await Promise.race([Promise.all([submitted, deliveries.all]), Promise.all([...working, new Promise(() => {})])]);
      isOver = true;
      await Promise.all(working);
    },
    async left() {
      const open = `SELECT count(*)::int AS count FROM pgboss.job WHERE state <> 'completed'`;
      const { rows } = await boss.getDb().executeSql(open);
      return rows[0].count;
    },
    stop: () => boss.stop({ graceful: false }),
  };
});
