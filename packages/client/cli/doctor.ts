import { ApiError, ConnectionError, isApiError } from "../errors.ts";
import type { Command, Context } from "./command.ts";
import { Failure } from "./usage.ts";

type Mark = "ok" | "note" | "wrong";

interface Finding {
  mark: Mark;
  what: string;
  text: string;
}

const SIGNS: Record<Mark, string> = { ok: "✓", note: "!", wrong: "✗" };

export const doctor: Command = {
  takes: "",
  does: "Checks the address, the clock, and the key with its scopes or the sign-in of a person; counts what waits.",
  as: ["agent", "person"],
  async run(context) {
    const findings: Finding[] = [];
    for await (const finding of examine(context)) {
      findings.push(finding);
      if (!context.options.json) {
        context.print(undefined, `${SIGNS[finding.mark]} ${finding.what.padEnd(8)} ${finding.text}`);
      }
    }
    const wrong = findings.filter(({ mark }) => mark === "wrong");
    if (wrong.length) context.exitCode = 1;
    if (!context.options.json) return;
    context.print(findings, "");
    const told = wrong.map(({ what, text }) => `${what}: ${text}`).join("; ");
    if (wrong.length) throw new Failure(told, "check_failed");
  },
};

/** Yields the findings in order: each check requires that the previous ones passed. */
async function* examine(context: Context): AsyncGenerator<Finding, void> {
  const address = await checkAddress(context);
  yield* address.findings;
  if (!address.reached) return;
  yield checkClock(address.date);
  const key = await checkKey(context);
  yield* key.findings;
  if (!key.agentId) return;
  yield* await checkDelivery(context, key.agentId, key.scopes);
  yield* await checkMemories(context, key.scopes);
}

const HINTS: [RegExp, string][] = [
  [/ECONNREFUSED/, "nothing listens there. Check that the service is running, and the port"],
  [/ENOTFOUND|EAI_AGAIN/, "unknown host name. Check its spelling"],
  [
    /CERT|certificate|SSL|TLS|wrong version number/i,
    "the certificate is not trusted, or only one side uses TLS",
  ],
  [/timeout|aborted/i, "no response in time. Check the host and firewalls"],
];

async function checkAddress({ settings, client, signal }: Context) {
  const { url } = settings.profile;
  const where = `${url} (from ${settings.from.url})`;
  let date = Number.NaN;
  const keepDate: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    date = Date.parse(response.headers.get("date") ?? "") - Date.now();
    return response;
  };
  try {
    await client.gateway.readyz({}, { signal, retries: 0, timeoutMs: 10_000, fetch: keepDate });
    return { reached: true, date, findings: [finding("ok", "address", where)] };
  } catch (error) {
    if (isApiError(error) && error.status === 503) {
      const text = `${where} responds, but is not ready: ${error.message}`;
      return { reached: true, date, findings: [finding("wrong", "address", text)] };
    }
    return {
      reached: false,
      date,
      findings: [finding("wrong", "address", `${where}: ${whyUnreached(error)}`)],
    };
  }
}

function whyUnreached(error: unknown): string {
  if (error instanceof ApiError && error.details.location) return error.message;
  if (error instanceof ApiError) return `the server there is not Sensorium (${error.status})`;
  if (!(error instanceof ConnectionError)) return "the server there is not Sensorium";
  const [, hint] = HINTS.find(([pattern]) => pattern.test(error.message)) ?? [];
  return hint ?? error.message;
}

const MAX_AHEAD_MS = 5000;

function checkClock(ahead: number): Finding {
  if (Number.isNaN(ahead)) return finding("note", "clock", "the service does not report its time");
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (Math.abs(ahead) <= MAX_AHEAD_MS) return finding("ok", "clock", "agrees with the service's");
  const text = `this machine is ${seconds} s ${ahead > 0 ? "behind" : "ahead of"} the service: synchronise it with NTP`;
  return finding("note", "clock", text);
}

const USES: Record<string, string> = {
  send: "publish",
  receive: "listen",
  "memory:read": "recall, handoff list",
  "memory:write": "remember, handoff save, run",
};

async function checkKey({ settings, client, signal }: Context) {
  const { api_key } = settings.profile;
  const none = { agentId: undefined, scopes: [] as string[] };
  if (!api_key && settings.profile.person) {
    const { user, tenant } = await client.auth.me({}, { signal, retries: 0 });
    const text = `${user?.email} (${user?.role}) in ${tenant.name}, for the commands of people`;
    return { ...none, findings: [finding("ok", "sign-in", text)] };
  }
  if (!api_key) {
    const text = "none: run `sensorium connect` or `sensorium login`, or set SENSORIUM_API_KEY";
    return { ...none, findings: [finding("wrong", "key", text)] };
  }
  const shown = `${api_key.slice(0, 12)}… (from ${settings.from.key})`;
  try {
    const { agent, tenant, scopes } = await client.auth.me({}, { signal, retries: 0 });
    const whose = finding("ok", "key", `${shown} of the agent ${agent?.name} in ${tenant.name}`);
    return { agentId: agent?.id, scopes, findings: [whose, ...checkScopes(scopes)] };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const malformed = error.code === "validation_failed";
    const why = malformed
      ? "is not an API key: expected ak_live_ and 32 letters and digits"
      : "is refused: revoked, expired, of an inactive agent, or of another installation";
    const text = [401, 400].includes(error.status) ? `${shown} ${why}` : `${shown}: ${error.message}`;
    return { ...none, findings: [finding("wrong", "key", text)] };
  }
}

function checkScopes(scopes: readonly string[]): Finding[] {
  const missing = scopes.includes("admin")
    ? []
    : Object.keys(USES).filter((scope) => !scopes.includes(scope));
  const found = [finding("ok", "scopes", scopes.join(", "))];
  for (const scope of missing) found.push(finding("note", "scopes", `without ${scope}: no ${USES[scope]}`));
  return found;
}

async function checkDelivery({ client, signal }: Context, agent_id: string, scopes: readonly string[]) {
  if (!scopes.includes("receive") && !scopes.includes("admin")) return [];
  const { total } = await client.interests.list({ agent_id, limit: 1 }, { signal });
  const { pending, dead } = await client.deliveries.stats({}, { signal });
  const toCome = counted(pending, "delivery", "deliveries");
  const interests = total
    ? finding("ok", "events", `${counted(total, "interest", "interests")}; ${toCome} pending`)
    : finding("note", "events", "the agent has no interests: it receives only events of its channels");
  const letters = counted(dead, "dead letter waits", "dead letters wait");
  return dead ? [interests, finding("note", "events", `${letters} to review`)] : [interests];
}

/** How far the embedder is: with a new one, all texts get new vectors. */
async function checkMemories({ client, signal }: Context, scopes: readonly string[]) {
  if (!scopes.includes("memory:read") && !scopes.includes("admin")) return [];
  const { embed_gap_count: left } = await client.memories.health({}, { signal });
  if (left === 0) return [finding("ok", "memories", "all are found by meaning")];
  const text =
    left === null
      ? "search does not respond"
      : `${counted(left, "memory waits", "memories wait")} for the embedder: until then only words find them`;
  return [finding("note", "memories", text)];
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function finding(mark: Mark, what: string, text: string): Finding {
  return { mark, what, text };
}
