import type { Config } from "../../config.ts";
import type { Operation } from "../../lib/contract/contract.ts";
import { login } from "../../services/identity/auth/auth.contract.ts";
import type { Credentials } from "../../services/identity/tenants/first-start.ts";
import { AdminError, type Identity, type Target } from "./target.ts";

/** Calls a running server's API: as the operator on tenants, as an admin on a tenant's resources. */
export function openOnline(
  base_url: string,
  config: Config,
  identity: Identity,
  credentials: Credentials | null,
): Target {
  let signedIn: Promise<string> | undefined;
  return {
    async call(op, params) {
      if (op.access.by === "operator") return asOperator(base_url, config, op, params);
      signedIn ??= signIn(base_url, identity, credentials);
      return send(base_url, op, params, await signedIn);
    },
    close: () => Promise.resolve(),
  };
}

async function asOperator(base_url: string, config: Config, op: Operation, params: Record<string, unknown>) {
  const hint = "set OPERATOR_TOKEN to what the server was started with, or stop the server";
  if (!config.OPERATOR_TOKEN) throw new AdminError(`A server runs at ${base_url}: ${hint}.`);
  try {
    return await send(base_url, op, params, config.OPERATOR_TOKEN);
  } catch (err) {
    const { code, resource_type } = err as Refusal;
    // Without the variable the server does not have this path.
    if (code !== "authentication_failed" && resource_type !== "path") throw err;
    throw new AdminError(`The server at ${base_url} refused: ${hint}.`);
  }
}

async function signIn(
  base_url: string,
  identity: Identity,
  credentials: Credentials | null,
): Promise<string> {
  const { email = credentials?.admin.email, password = credentials?.admin.password } = identity;
  const { tenant: tenant_slug = credentials?.tenant_slug ?? "default" } = identity;
  const who = `an admin of the tenant ${tenant_slug} with --email and --password-file`;
  if (!email || !password) throw new AdminError(`Name ${who}.`);
  try {
    const { access_token } = await send(base_url, login, { email, password, tenant_slug });
    return access_token as string;
  } catch (err) {
    if ((err as Refusal).code !== "authentication_failed") throw err;
    throw new AdminError(`${email} could not sign in: name ${who}, or stop the server.`);
  }
}

/** The server's refusal, in its words. */
class Refusal extends AdminError {
  readonly code: string;
  readonly resource_type: unknown;

  constructor({
    code,
    message,
    details,
  }: { code: string; message: string; details: Record<string, unknown> }) {
    super(`${message} (${code})`);
    this.code = code;
    this.resource_type = details.resource_type;
  }
}

async function send(
  base_url: string,
  op: Operation,
  params: Record<string, unknown>,
  token?: string,
): Promise<Record<string, unknown>> {
  const answer = await fetch(base_url + addressOf(op, params), {
    method: op.method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(op.body && { "content-type": "application/json" }),
    },
    ...(op.body && { body: JSON.stringify(pick(params, op.body)) }),
  });
  const text = await answer.text();
  const body = text ? JSON.parse(text) : {};
  if (!answer.ok) throw new Refusal(body.error);
  return body;
}

function addressOf(op: Operation, params: Record<string, unknown>): string {
  const path = op.url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])));
  const query = new URLSearchParams(
    Object.entries(pick(params, op.query ?? {})).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
  );
  return query.size ? `${path}?${query}` : path;
}

function pick(params: Record<string, unknown>, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(fields, name)));
}
