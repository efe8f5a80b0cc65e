// Flows of more members than one call takes.
import { done } from './worker.mjs';

/** As many members as one call takes. */
const PART = 1_000;

/** Makes a flow, a part after the other, and opens it with the last one. Answers its id and those of its members. */
export async function makeFlow(server, { flow_kind, members, edges }) {
  let flow_id;
  const ids = [];
  for (let at = 0; at < members.length; at += PART) {
    const part = members.slice(at, at + PART);
    const keys = new Set(part.map(({ key }) => key));
    const told = await done(server, 'POST', '/flows/graph', {
      flow_id, flow_kind, members: part, edges: edges.filter(({ downstream }) => keys.has(downstream)), open: at + PART >= members.length,
    });
    ({ flow_id } = told);
    ids.push(...told.execution_ids);
  }
  return { id: flow_id, ids };
}
