import { Type } from "typebox";
import { SCOPES } from "../../../lib/access/caller.ts";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Limit, Name, Timestamp } from "../../../lib/contract/schema.ts";

export const Session = Type.Object(
  {
    session_id: Id("ses"),
    state: oneOf(["active", "idle", "ended"], {
      description:
        "`active`: seen within 24 hours. `ended`: its key was revoked, or its approval has ended, because the person who " +
        "approved it was disabled, lost the role or the agent, the agent was deactivated or the organisation suspended: " +
        "connect it again.",
    }),
    client_name: Type.String(),
    client_version: Type.String(),
    oauth_client_id: Type.Optional(
      Type.String({ description: "The client of OAuth that a person has approved; absent for a device." }),
    ),
    approved_by: nullable(
      Type.Object(
        { id: Id("usr"), name: Name },
        { description: "The person who approved it; null if that was not recorded." },
      ),
    ),
    scopes: nullable(
      Type.Array(oneOf(SCOPES), { description: "What it was approved for; null if that was not recorded." }),
    ),
    connected_at: Timestamp,
    last_activity_at: Timestamp,
  },
  { title: "Session" },
);

export const listSessions = operation({
  action: "sessions.list",
  route: "GET /agents/{agent_id}/sessions",
  summary: "List an agent's connected devices and clients, most recent first",
  description:
    "For the agent itself, its owner, or callers with the scope `admin`. Devices with a revoked key are listed " +
    "until `SESSION_RETENTION_DAYS` after they were last seen.",
  access: { by: "any" },
  query: {
    limit: Limit(100, 20),
  },
  answer: Type.Object({ sessions: Type.Array(Session) }),
  errors: ["insufficient_scope"],
});

export const deleteSession = operation({
  action: "sessions.delete",
  route: "DELETE /agents/{agent_id}/sessions/{session_id}",
  summary: "Disconnect a device or client",
  description: "Revokes its key. Its tokens are refused within 5 seconds.",
  access: { by: "any", scope: "admin" },
});

export const sendSessionHeartbeat = operation({
  action: "sessions.heartbeat",
  route: "POST /sessions/{session_id}/heartbeat",
  summary: "Report that a device is alive",
  description: "Call this with a token of the session's key, at most once a minute.",
  access: { by: "agent", otherwise: "forbidden" },
  overQuota: true,
  reserved: true,
  answer: Type.Object({ last_seen_at: Timestamp, next_allowed_at: Timestamp, server_now: Timestamp }),
});
