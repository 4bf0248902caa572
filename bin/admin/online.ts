import type { Config } from "../../config.ts";
import type { Operation } from "../../lib/contract/contract.ts";
import type { ServerFile } from "../../packages/client/cli/server-file.ts";
import { OPERATIONS } from "../../packages/client/generated/operations.ts";
import {
  byLogin,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  isApiError,
} from "../../packages/client/index.ts";
import { AdminError, type Identity, type Target } from "./typed.ts";

/** Erasing a tenant takes long. */
const TIMEOUT_MS = 300_000;
/** Of repeatable requests: half a minute, so that a restart of the server does not end a long export. */
const RETRIES = 7;

/** Calls a running server's API: as the operator on tenants, as an admin on a tenant's resources. */
export function openOnline(
  url: string,
  config: Config,
  identity: Identity,
  credentials: ServerFile | null,
): Target {
  const connect = (options: Partial<ClientOptions>) =>
    createClient({ url, retries: 0, timeoutMs: TIMEOUT_MS, ...options });
  let admin: Client | undefined;
  return {
    async call(op, params) {
      if (op.access.by === "operator") return asOperator(url, config, connect, op, params);
      const login = readLogin(identity, credentials);
      admin ??= connect({ authorize: byLogin(login) });
      return send(admin, op, params).catch((err) => {
        if (isApiError(err, "totp_required"))
          throw new AdminError(
            `${login.email} has a second factor. Add --code with a code from the authenticator.`,
          );
        if (!isApiError(err, "authentication_failed")) throw toAdminError(err);
        const who = adminOf(login.tenant_slug);
        throw new AdminError(`${login.email} could not sign in. Name ${who}, or stop the server.`);
      });
    },
    close: () => Promise.resolve(),
  };
}

async function asOperator(
  url: string,
  { OPERATOR_TOKEN: token }: Config,
  connect: (options: Partial<ClientOptions>) => Client,
  op: Operation,
  params: Record<string, unknown>,
) {
  const hint = "Set OPERATOR_TOKEN to the value with which the server was started, or stop the server";
  if (!token) throw new AdminError(`A server is running at ${url}. ${hint}.`);
  return send(connect({ token }), op, params).catch((err) => {
    // Without the variable the server does not have this path.
    const isHidden = isApiError(err) && err.details.resource_type === "path";
    if (!isHidden && !isApiError(err, "authentication_failed")) throw toAdminError(err);
    throw new AdminError(`The server at ${url} refused OPERATOR_TOKEN. ${hint}.`);
  });
}

const adminOf = (slug: string) => `an admin of the tenant ${slug} with --email and --password-file`;

function readLogin(identity: Identity, credentials: ServerFile | null) {
  const { email = credentials?.admin?.email, password = credentials?.admin?.password } = identity;
  const { tenant: tenant_slug = credentials?.tenant_slug ?? "default" } = identity;
  if (!email || !password) throw new AdminError(`Name ${adminOf(tenant_slug)}.`);
  const { code } = identity;
  return { email, password, tenant_slug, ...(code !== undefined && { code: () => code }) };
}

type Call = (params: object, options: CallOptions) => Promise<Record<string, unknown> | undefined>;

async function send(client: Client, { action }: Operation, params: Record<string, unknown>) {
  const [service, name] = action
    .split(".")
    .map((part) => part.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())) as [string, string];
  const { [service]: calls } = client as unknown as Record<string, Record<string, Call>>;
  const call = calls?.[name];
  if (!call) throw new Error(`the client has no ${action}`);
  const { [service]: table } = OPERATIONS as Record<string, Record<string, { repeatable?: true }>>;
  const options = table?.[name]?.repeatable ? { retries: RETRIES } : {};
  return (await call(params, options)) ?? {};
}

/** The server's refusal, in its words. */
function toAdminError(err: unknown): unknown {
  return isApiError(err) ? new AdminError(`${err.message} (${err.code})`, err.code) : err;
}
