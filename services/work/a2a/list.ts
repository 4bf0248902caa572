import { Fault } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { TaskState } from "./a2a-tasks.contract.ts";
import type { A2aTaskDoc } from "./a2a-tasks.model.ts";
import type { Side, TaskJson } from "./task.ts";

/** Which tasks of a caller to list. */
export interface TaskQuery extends Side {
  context_id?: string;
  state?: TaskState;
  /** Changed at or after, in milliseconds since the epoch. */
  since?: number;
  /** At most so many; fewer if they are large. */
  limit: number;
  /** `next` of the previous page. */
  cursor?: string;
}

export interface TaskPage {
  tasks: TaskJson[];
  /** Null after the last page. */
  next: string | null;
  total: number;
}

/** Returns a page of a caller's tasks, the last changed first. @throws Fault validation_failed for a bad cursor */
export async function listTasks(
  rows: TenantCollection<A2aTaskDoc>,
  { tenant_id, agent_id, caller_id, context_id, state, since, limit, cursor }: TaskQuery,
): Promise<TaskPage> {
  const chosen = {
    ...{ agent_id, caller_id },
    ...(context_id && { context_id }),
    ...(state && { state }),
    ...(since !== undefined && { updated_at: { $gte: new Date(since) } }),
  };
  const filter = cursor ? { $and: [chosen, after(cursor)] } : chosen;
  const order = { sort: { updated_at: -1, _id: -1 }, limit: limit + 1 } as const;
  const [{ rows: found, more }, total] = await Promise.all([
    rows.findWithin(tenant_id, filter, order),
    rows.count(tenant_id, chosen),
  ]);
  const page = found.slice(0, limit);
  const last = more || page.length < found.length ? page.at(-1) : undefined;
  return {
    tasks: page.map(({ task_json }) => JSON.parse(task_json)),
    next: last ? `${last.updated_at.getTime()}:${last._id}` : null,
    total,
  };
}

function after(cursor: string) {
  const [, ms, id] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(cursor) ?? [];
  if (!ms || !id) {
    const message = "pageToken: expected the nextPageToken of the previous page.";
    throw new Fault("validation_failed", message, { field: "pageToken", value: cursor.slice(0, 200) });
  }
  const updated_at = new Date(Number(ms));
  return { $or: [{ updated_at: { $lt: updated_at } }, { updated_at, _id: { $lt: id } }] };
}
