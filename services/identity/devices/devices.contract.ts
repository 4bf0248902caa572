import { Type } from "typebox";
import { SCOPES } from "../../../lib/access/caller.ts";
import { USER_CODE_PATTERN } from "../../../lib/access/user-code.ts";
import { component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { AnyText, Id, Limit, Name, SECRET, Timestamp } from "../../../lib/contract/schema.ts";

const UserCode = Type.String({
  pattern: USER_CODE_PATTERN,
  "x-expected": "a device code: four characters, a hyphen, four characters",
  description: "Device code: four characters, a hyphen, four characters. Case and hyphen do not matter.",
  examples: ["BCDF-2345"],
});

const Scopes = Type.Array(oneOf(SCOPES), {
  minItems: 1,
  uniqueItems: true,
  description: "Scopes of the device's key, at most the caller's. Default: the caller's except `admin`.",
});

/** A device's description of itself, shown to the person who confirms it; never a proof. */
export const ClientInfo = component(
  "ClientInfo",
  {
    name: { ...Name, description: "Name of the client program." },
    version: AnyText(100, "Its version.", "1.4.0"),
    signature: Type.Optional(nullable(AnyText(1000, "Signature of the client; stored, not verified."))),
    host: AnyText(255, "Name of the device.", "ada-laptop"),
  },
  {
    additionalProperties: false,
    description: "The device as it describes itself, shown to the person who confirms it. Not verified.",
  },
);

const code = { user_code: UserCode, expires_at: Timestamp, server_now: Timestamp };
const client = { client_info: ClientInfo, claimed_at: Timestamp };

const Status = Type.Union(
  [
    Type.Object({ state: Type.Literal("waiting"), ...code, scopes: Scopes }),
    Type.Object({
      state: Type.Literal("verifying"),
      ...code,
      ...client,
      scopes: Scopes,
      claim_id: Type.Optional(Id("clm", "The claim to confirm; shown only to people.")),
    }),
    Type.Object({
      state: Type.Literal("connected"),
      ...code,
      ...client,
      scopes: Scopes,
      session_id: Id("ses"),
      confirmed_at: Timestamp,
    }),
    Type.Object({ state: Type.Literal("denied"), ...code, scopes: Scopes }),
    Type.Object({ state: Type.Literal("expired"), ...code, scopes: Scopes }),
  ],
  { title: "DeviceStatus" },
);

export const issueDeviceCode = operation({
  action: "devices.issue",
  route: "POST /agents/{agent_id}/device-code",
  summary: "Issue a code that connects a device to an agent",
  description:
    "For the agent itself, its owner, or callers with the scope `admin`. The code is valid for 10 minutes; a " +
    "newer code for the same agent replaces a pending one.",
  access: { by: "any" },
  overQuota: true,
  body: { scopes: Type.Optional(Scopes) },
  results: {
    201: Type.Object({
      ...code,
      verification_uri: Type.String({ format: "uri" }),
      verification_uri_complete: Type.String({ format: "uri" }),
    }),
  },
  errors: ["insufficient_scope"],
  secret: true,
});

export const getDeviceCodeStatus = operation({
  action: "devices.status",
  route: "GET /agents/{agent_id}/device-code",
  summary: "Read the status of an agent's newest device code",
  description:
    "For the agent itself, its owner, or callers with the scope `admin`. Never returns an API key.",
  access: { by: "any" },
  answer: Status,
  errors: ["insufficient_scope"],
});

const CLAIM_BUDGET = "Claims and lookups are limited to `DEVICE_CLAIMS_PER_HOUR` per address.";

export const claimDeviceCode = operation({
  action: "devices.claim",
  route: "POST /device-codes:claim",
  summary: "Claim a code from the device",
  description: `The code is the credential. Unknown, used, denied and expired codes all return 404. ${CLAIM_BUDGET}`,
  access: { by: "public" },
  body: { user_code: UserCode, client_info: ClientInfo },
  answer: Type.Object({ claim_id: Id("clm") }),
  errors: ["not_found", "rate_limited"],
});

export const confirmDeviceCode = operation({
  action: "devices.confirm",
  route: "POST /agents/{agent_id}/device-code:confirm",
  summary: "Approve or reject the device that claimed a code",
  description:
    "For the agent's owner and org admins. Only org admins can approve a code with the scope `admin`.",
  access: { by: "user" },
  overQuota: true,
  body: { claim_id: Id("clm"), action: oneOf(["approve", "reject"], { description: "The decision." }) },
  answer: Type.Object({ state: oneOf(["approved", "denied"]), confirmed_at: Timestamp }),
  errors: ["insufficient_scope", "conflict"],
});

export const completeDeviceCode = operation({
  action: "devices.complete",
  route: "POST /device-codes:complete",
  summary: "Fetch the API key of an approved claim, once",
  description:
    "The claim id is the credential. Returns 409 `conflict` before approval, and 404 after denial, expiry or the " +
    "first fetch. The key is returned only here.",
  access: { by: "public" },
  body: { claim_id: Type.String({ ...Id("clm"), ...SECRET }) },
  answer: Type.Object({
    session_id: Id("ses"),
    agent_id: Id("ag"),
    api_key: Type.String({ examples: ["ak_live_<32 letters and digits>"] }),
    access_token: Type.String({ description: "A JWT (ES256), valid for one hour." }),
    expires_at: Timestamp,
    server_now: Timestamp,
  }),
  errors: ["not_found", "conflict", "rate_limited"],
});

export const lookUpDeviceCode = operation({
  action: "devices.look_up",
  route: "GET /device-codes/{code}",
  summary: "Read the agent of a device code",
  description:
    "Denied, expired and unknown codes return 404. With a token the answer includes the scopes, and callers other than " +
    `the agent itself, its owner and admins get 404. ${CLAIM_BUDGET}`,
  access: { by: "public", identified: true },
  path: { code: UserCode },
  answer: Type.Object({ agent_id: Id("ag"), scopes: Type.Optional(Scopes) }),
  errors: ["not_found"],
});

export const Session = component("Session", {
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
});

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
