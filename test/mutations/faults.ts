/** A small change of the code that a test must notice. */
export interface Fault {
  what: string;
  file: string;
  /** Occurs once in the file. */
  from: string;
  to: string;
  /** The files whose tests should see it. */
  tests: string[];
}

const fault = (what: string, file: string, from: string, to: string, ...tests: string[]): Fault => ({
  ...{ what, file, from, to },
  tests: tests.map((name) => `test/${name}.test.ts`),
});

const DELIVERIES = "services/sense/deliveries";
const CALLERS = "services/identity/auth/callers.ts";
const CODES = "services/identity/devices/codes.ts";

export const FAULTS: Fault[] = [
  // Scopes and who may call.
  fault(
    "any agent may make keys",
    "services/identity/keys/keys.contract.ts",
    "  access: admin,\n  outlives: true,\n  overQuota: true,\n  path: agent,",
    '  access: { by: "any" },\n  outlives: true,\n  overQuota: true,\n  path: agent,',
    "http/who-may-call",
  ),
  fault(
    "a token keeps a scope that its key has lost",
    CALLERS,
    'const scopes = caller.scopes.filter((scope) => key.scopes.includes(scope) || key.scopes.includes("admin"));',
    "const scopes = caller.scopes;",
    "unit/callers",
  ),
  fault(
    "every scope is admin's",
    "lib/access/caller.ts",
    "return caller.scopes.includes(scope) || isAdmin(caller);",
    "return caller.scopes.length > 0;",
    "http/who-may-call",
  ),
  fault(
    "an agent's owner approves the scope admin",
    "services/identity/keys/approval.ts",
    'if (isOwner && !scopes.includes("admin"))',
    "if (isOwner)",
    "http/approvals",
    "http/devices",
  ),
  // Tokens and sessions.
  fault("an expired token is valid", CALLERS, "caller.expires_at <= now || ", "", "unit/callers"),
  fault(
    "the tokens of a suspended tenant are valid",
    CALLERS,
    'tenant?.status !== "active"',
    "!tenant",
    "unit/callers",
  ),
  fault(
    "the tokens of an inactive agent are valid",
    CALLERS,
    ' || agent.status !== "active"',
    "",
    "unit/callers",
  ),
  fault(
    "tokens survive a deactivation",
    CALLERS,
    "if (agent.token_version !== (caller.token_version ?? 0)) return null;",
    "",
    "unit/callers",
  ),
  fault(
    "a code of the second factor works twice",
    "services/identity/users/totp.ts",
    "step > totp.last_step",
    "step >= totp.last_step",
    "http/totp",
  ),
  fault(
    "a used recovery code stays",
    "services/identity/users/totp.ts",
    "recovery, failures: 0 }",
    "failures: 0 }",
    "http/totp",
  ),
  fault(
    "a password has one attempt more",
    "services/identity/auth/attempts.ts",
    "window.count >= this.#limit",
    "window.count > this.#limit",
    "unit/attempts",
  ),
  fault(
    "a device code works after its time",
    CODES,
    "expires_at.getTime() <= now",
    "expires_at.getTime() < 0",
    "http/device-times",
    "unit/device-codes",
  ),
  fault(
    "one address may claim more codes",
    "services/identity/devices/claim-budget.ts",
    "standing.attempts <= this.#most",
    "standing.attempts <= this.#most + 2",
    "http/devices",
  ),
  fault(
    "OAuth redirects to http sites",
    "services/identity/oauth/redirects.ts",
    'if (protocol === "http:") return LOOPBACK.has(hostname);',
    'if (protocol === "http:") return true;',
    "unit/oauth",
    "http/oauth",
  ),
  // Who reads what.
  fault(
    "private rows are read by all",
    "lib/access/visibility.ts",
    'if (scope === "institutional") return true;',
    'if (scope !== "team") return true;',
    "http/memories",
    "unit/memories",
  ),
  fault(
    "a team's rows are listed for all teams",
    "lib/access/visibility.ts",
    '[{ scope: "team" as const, team_id: { $in: team_ids } }]',
    '[{ scope: "team" as const }]',
    "unit/visibility",
  ),
  fault(
    "events about a private memory reach all",
    "lib/cloudevents/audience.ts",
    "return audience.has(id) || (team_id !== null && audience.has(team_id));",
    "return true;",
    "unit/audience",
    "http/live",
  ),
  fault(
    "a team's document is institutional",
    "services/remember/documents/audience.ts",
    'return team_id === null ? "agent" : "team";',
    'return team_id === null ? "institutional" : "team";',
    "http/documents-access",
  ),
  fault(
    "a document for nobody in particular is found by nobody",
    "services/remember/documents/audience.ts",
    "    everyone(kind),\n",
    "",
    "http/documents-access",
    "http/documents",
  ),
  fault(
    "agents manage interests of others",
    "services/sense/interests/authorize.ts",
    "caller.agent_id === agent_id",
    "caller.agent_id !== null",
    "http/interests",
    "http/who-may-call",
  ),
  fault(
    "idempotency keys are shared in a tenant",
    "services/edge/idempotency/record.ts",
    "JSON.stringify([tenant_id, caller_id, key])",
    "JSON.stringify([tenant_id, key])",
    "unit/idempotency",
    "http/idempotency",
  ),
  fault(
    "state is shared between agents",
    "services/remember/state/put.ts",
    "return { _id, tenant_id, agent_id, namespace: toStored(namespace), key };",
    "return { _id: namespace + key, tenant_id, agent_id, namespace: toStored(namespace), key };",
    "http/state",
  ),
  // Settlement and leases.
  fault(
    "an agent extends another's lease",
    `${DELIVERIES}/settle.ts`,
    '{ _id: { $in: delivery_ids }, agent_id, state: "leased", ...under(lease) }',
    '{ _id: { $in: delivery_ids }, state: "leased", ...under(lease) }',
    "http/delivery",
  ),
  fault(
    "an agent acknowledges another's delivery",
    `${DELIVERIES}/settle.ts`,
    "{ _id: { $in: delivery_ids }, agent_id, state: { $in: PENDING } }",
    "{ _id: { $in: delivery_ids }, state: { $in: PENDING } }",
    "http/delivery",
  ),
  fault(
    "a late nack ends the next lease",
    `${DELIVERIES}/settle.ts`,
    "if (!isUnder({ lease, attempt_count }, named?.(_id))) continue;",
    "",
    "http/delivery",
  ),
  fault(
    "one attempt too many",
    `${DELIVERIES}/settle.ts`,
    "attempt_count >= retry_budget",
    "attempt_count > retry_budget",
    "http/dlq",
    "http/delivery",
  ),
  fault(
    "a sweep ends an extended lease",
    `${DELIVERIES}/sweep.ts`,
    "const filter = { ...byId(rows), tenant_id, state, due_at };",
    "const filter = { ...byId(rows), tenant_id, state };",
    "unit/deliveries",
  ),
  fault(
    "a lease that ends is one attempt too many",
    `${DELIVERIES}/sweep.ts`,
    "attempt_count >= budget",
    "attempt_count > budget",
    "http/delivery",
    "http/dlq",
    "unit/deliveries",
  ),
  fault(
    "a breaker gives up too early",
    "services/sense/push/breaker.ts",
    "now - opened_at >= PARKED_MS",
    "now - opened_at >= PARKED_MS / 2",
    "unit/push-worker",
    "unit/push",
  ),
  fault(
    "probes come without end",
    "services/sense/push/breaker.ts",
    "FIRST_PROBE_MS * 2 ** probes",
    "FIRST_PROBE_MS",
    "unit/push-worker",
    "unit/push",
  ),
  // Runs, schedules, memories.
  fault(
    "a step starts before the one it waits for",
    "services/work/runs/transitions.ts",
    "if (waitingOn(step, doneKeys(run.steps, run.progress)).length > 0) throw notReady(run, step);",
    "",
    "unit/run-transitions",
    "http/runs",
  ),
  fault(
    "a done step is skipped",
    "services/work/runs/transitions.ts",
    'throw new Fault("step_not_skippable", message, { step_key });',
    "return draft;",
    "unit/run-transitions",
    "http/runs-refusals",
  ),
  fault(
    "people accept their own offers",
    "services/work/runs/offer-transitions.ts",
    'if (actor.actor_kind !== "user" || actor.actor_id !== offered_by.actor_id) return;',
    "return;",
    "http/runs-position",
  ),
  fault(
    "a memory replaces an expired one",
    "services/remember/memories/supersede.ts",
    'if (memories.isExpired(winner)) throw notFound("memory", winner_id);',
    "",
    "http/memories-supersede",
  ),
  fault(
    "a memory that is not active is replaced",
    "services/remember/memories/supersede.ts",
    'if (loser.status !== "active") throw notActive(loser);',
    "",
    "http/memories-supersede",
  ),
  fault(
    "versions of state are not compared",
    "services/remember/state/put.ts",
    "if (wanted === undefined || wanted === version) return;",
    "return;",
    "http/state",
  ),
  fault(
    "an idempotency key keeps another request's answer",
    "services/edge/idempotency/record.ts",
    'if (doc.fingerprint !== fingerprint) return "other_request";',
    "",
    "unit/idempotency",
    "http/idempotency",
  ),
  // Limits, addresses, durability.
  fault(
    "a bucket refills beyond its burst",
    "lib/queue/token-bucket.ts",
    "Math.min(this.#burst, this.left + amount)",
    "this.left + amount",
    "unit/token-bucket",
  ),
  fault(
    "a tenant may have one interest more",
    "services/sense/interests/limits.ts",
    "if (size + (creating?.size ?? 0) < perTenant)",
    "if (size + (creating?.size ?? 0) <= perTenant)",
    "http/interest-limits",
  ),
  fault(
    "pushes may carry a password in their address",
    "connectors/address-guard.ts",
    "if (username || password) throw",
    "if (username && !password) throw",
    "unit/address-guard",
  ),
  fault(
    "private addresses are reached",
    "connectors/address-guard.ts",
    "if (refused !== undefined) throw",
    "if (refused === null) throw",
    "unit/address-guard",
    "http/push-guard",
  ),
  fault(
    "a blob's file is not synced",
    "storage/blobs/files.ts",
    "      await file.sync();\n",
    "",
    "rounds/sync",
  ),
];
