import type { ServiceBroker } from "moleculer";
import { type AgentCaller, isAdmin } from "../../../lib/access/caller.ts";
import { type Fault, forbidden, isFault, notFound, rateLimited } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { deletion, inTurns, tenantsIn } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import { ownAgent } from "./agent-access.ts";
import { deleteSession, listSessions, Session, sendSessionHeartbeat } from "./devices.contract.ts";
import { DeviceCodeModel, type SessionDoc, SessionModel } from "./devices.model.ts";

const IDLE_AFTER_MS = 24 * 60 * 60_000;
const HEARTBEAT_MS = 60_000;
const SWEEP_MS = 5 * 60_000;
const FORGET_MS = 60 * 60_000;

type Named = { id: string; name: string };
type SessionId = { tenant_id: string; session_id: string };
type Connected = SessionId &
  Pick<SessionDoc, "agent_id" | "key_id" | "client_name" | "approved_by" | "scopes"> & { client_id: string };

/** Manages devices that are connected to agents (spec: Session). */
export const sessionsService: ServiceFactory = ({ store, config }) => {
  const sessions = store.collection(SessionModel);
  const codes = store.collection(DeviceCodeModel);
  const keptMs = config.SESSION_RETENTION_DAYS * DAY_MS;
  const at = (agoMs: number) => new Date(store.now() - agoMs);
  // Null is no date, so sessions with a key do not match.
  const sweep = new SharedLoop(
    "unfetched",
    deletion({ rows: sessions, by: "fetch_by", now: store.now }),
    SWEEP_MS,
  );
  const forget = (broker: ServiceBroker) => forgetGone(sessions, broker, at(keptMs));
  const forgetting = new SharedLoop("gone", forget, FORGET_MS);

  return {
    name: "sessions",
    mixins: [sweep.mixin, forgetting.mixin],
    actions: {
      list: action(listSessions, async (ctx) => {
        const { agent_id, limit = 20 } = ctx.params;
        const { id, tenant_id } = await ownAgent(ctx, agent_id);
        const sort = { connected_at: -1, _id: -1 } as const;
        const docs = await sessions.find(tenant_id, { agent_id: id }, { sort, limit });
        const key_ids = docs.flatMap(({ key_id }) => key_id ?? []);
        const user_ids = docs.flatMap(({ approved_by }) => approved_by ?? []);
        const [keys, people] = await Promise.all([
          ctx.call<KeyState[], object>("keys.of_tokens", { key_ids }),
          ctx.call<Named[], object>("users.names", { tenant_id, user_ids }),
        ]);
        const idle_at = at(IDLE_AFTER_MS);
        const listed = docs.map((doc) => {
          const isEnded = doc.key_id !== null && !keys.some((key) => key.id === doc.key_id);
          return presentAs(Session, doc, {
            session_id: doc._id,
            state: isEnded ? "ended" : doc.last_seen_at > idle_at ? "active" : "idle",
            approved_by: people.find((person) => person.id === doc.approved_by) ?? null,
            last_activity_at: doc.last_seen_at.toISOString(),
          });
        });
        return { sessions: listed };
      }),

      delete: action(deleteSession, async (ctx) => {
        const { agent_id, session_id } = ctx.params;
        const { tenant_id } = ctx.meta.caller;
        const own = { _id: session_id, agent_id };
        if (!(await sessions.exists(tenant_id, own))) throw notFound("session", session_id);
        // An approved device that has not fetched its key yet would recreate the session.
        const approved = { agent_id, session_id, state: "approved" as const };
        await codes.updateMany(tenant_id, approved, { $set: { state: "denied" } });
        const session = await sessions.findOne(tenant_id, own);
        // The key first: a crash between the two leaves a session that can be deleted again, not a hidden key.
        if (session?.key_id)
          await ctx.call("keys.revoke", { agent_id, key_id: session.key_id }).catch(revokedBefore);
        await sessions.delete(tenant_id, { _id: session_id });
      }),

      /** Adds a client that a person has approved. */
      open: idempotent<Connected>(async ({ params }) => {
        const { session_id: _id, client_id: oauth_client_id, ...connected } = params;
        const now = at(0);
        const times = { connected_at: now, last_seen_at: now, last_heartbeat_at: null, fetch_by: null };
        await sessions.insertOnce({ ...connected, _id, oauth_client_id, client_version: "", ...times });
      }),

      /** Records that a client got another token. */
      seen: idempotent<SessionId>(async ({ params: { tenant_id, session_id } }) => {
        await sessions.update(tenant_id, { _id: session_id }, { $set: { last_seen_at: at(0) } });
      }),

      /** Removes a client whose connection has ended; returns its key. */
      close: idempotent<SessionId>(async ({ params: { tenant_id, session_id } }) => {
        const session = await sessions.findOne(tenant_id, { _id: session_id });
        await sessions.delete(tenant_id, { _id: session_id });
        return session?.key_id ?? null;
      }),

      heartbeat: action(sendSessionHeartbeat, async ({ params: { session_id: _id }, meta: { caller } }) => {
        if (caller.kind !== "agent") throw notTheDevice();
        const now = store.now();
        const { tenant_id, agent_id, key_id } = caller;
        const due = [
          { last_heartbeat_at: null },
          { last_heartbeat_at: { $lte: new Date(now - HEARTBEAT_MS) } },
        ];
        const $set = { last_heartbeat_at: new Date(now), last_seen_at: new Date(now) };
        if (!(await sessions.reserved.update(tenant_id, { _id, agent_id, key_id, $or: due }, { $set })))
          throw refusal(await sessions.findOne(tenant_id, { _id }), _id, caller, now);
        const next_allowed_at = new Date(now + HEARTBEAT_MS).toISOString();
        const server_now = new Date(now).toISOString();
        return { last_seen_at: server_now, next_allowed_at, server_now };
      }),
    },
  };
};

/** Returns why a sendSessionHeartbeat was refused. */
function refusal(session: SessionDoc | null, session_id: string, caller: AgentCaller, now: number): Fault {
  const own = session && (session.agent_id === caller.agent_id || isAdmin(caller));
  if (!own) return notFound("session", session_id);
  return session.key_id === caller.key_id ? tooSoon(session, now) : notTheDevice();
}

function revokedBefore(err: unknown): void {
  if (!isFault(err) || err.type !== "not_found") throw err;
}

function notTheDevice(): Fault {
  return forbidden(
    "Only the device itself can send heartbeats: use the key that it got when it was connected.",
  );
}

function tooSoon({ last_heartbeat_at }: SessionDoc, now: number): Fault {
  const waitMs = (last_heartbeat_at?.getTime() ?? now) + HEARTBEAT_MS - now;
  return rateLimited(
    "A device can send one sendSessionHeartbeat per minute. Retry",
    1,
    HEARTBEAT_MS / 1000,
    waitMs,
  );
}

const BATCH = 500;

/**
 * Removes devices without recent heartbeats whose keys are no longer valid. With a valid key a device stays visible, so
 * that someone can disconnect it. Returns false: nothing is left to do.
 */
async function forgetGone(
  sessions: TenantCollection<SessionDoc>,
  broker: Pick<ServiceBroker, "call">,
  since: Date,
): Promise<false> {
  const options = { sort: { _id: 1 }, limit: BATCH, projection: { key_id: 1 } } as const;
  const last = new Map<string, string>();
  await inTurns("sessions", await tenantsIn(sessions), async ({ tenant_id }) => {
    const quiet = { last_seen_at: { $lt: since }, key_id: { $ne: null } };
    const after = { _id: { $gt: last.get(tenant_id) ?? "" }, ...quiet };
    const rows = await sessions.find(tenant_id, after, options);
    const params = { key_ids: rows.map(({ key_id }) => key_id) };
    const good = rows.length ? await broker.call<KeyState[], object>("keys.of_tokens", params) : [];
    const known = new Set<string | null>(good.map(({ id }) => id));
    const gone = rows.filter(({ key_id }) => !known.has(key_id)).map(({ _id }) => _id);
    if (gone.length) await sessions.deleteMany(tenant_id, { _id: { $in: gone }, ...quiet });
    last.set(tenant_id, rows.at(-1)?._id ?? "");
    return rows.length === BATCH;
  });
  return false;
}
