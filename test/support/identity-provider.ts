import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { TestServer } from "./server.ts";

export const CLIENT_ID = "sensorium";
export const CLIENT_SECRET = "the secret of the tests' client: long enough";

const HOUR = 3600;

/** The provider's claims about a person who signs in under a name. */
export type Account = { email?: string; email_verified?: boolean; name?: string; groups?: string[] };

/** A real identity provider (oidc-provider) on loopback, with its own pages to sign in and to consent. */
export interface IdentityProvider {
  issuer: string;
  /** The settings of a server whose people sign in by it. */
  env: Record<string, string>;
  /** By the name that the person enters on the provider's page; any password is right. */
  accounts: Map<string, Account>;
  /** Registers the server as its client, and begins to answer. */
  open(server: Pick<TestServer, "root">): void;
  /** Stops listening, as when it is down. */
  close(): Promise<void>;
  /** Listens again, on the same port. */
  reopen(): Promise<void>;
}

export async function startIdentityProvider(roles = "staff=member,ops=admin"): Promise<IdentityProvider> {
  const server = createServer();
  const { port } = await listen(server, 0);
  const issuer = `http://127.0.0.1:${port}`;
  const accounts = new Map<string, Account>();
  return {
    issuer,
    env: {
      ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET },
      OIDC_ROLES: roles,
      OIDC_NAME: "Example ID",
    },
    accounts,
    open({ root }) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: CLIENT_SECRET,
            redirect_uris: [`${root}/sign-in/callback`],
            post_logout_redirect_uris: [`${root}/`],
          },
        ],
        claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
        cookies: { keys: ["of the tests"] },
        // Given, or it says for each that it should be.
        ttl: { AccessToken: HOUR, Grant: HOUR, IdToken: HOUR, Interaction: HOUR, Session: HOUR },
        jwks: { keys: [signingKey()] },
        findAccount: (_: unknown, id: string) => ({
          accountId: id,
          claims: () => ({ sub: id, ...accounts.get(id) }),
        }),
      });
      server.on("request", provider.callback());
    },
    close: () => close(server),
    reopen: async () => void (await listen(server, port)),
  };
}

function signingKey(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" };
}

async function listen(server: Server, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server.address() as AddressInfo;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** A browser's cookies, by host. */
type Jar = Map<string, string>;

/**
 * Signs in at the provider's pages as a browser does, from the address that the service gave.
 *
 * @param login null to cancel on the provider's page
 * @returns the query that the provider sends the browser back with
 */
export async function visitProvider(url: string, back: string, login: string | null): Promise<string> {
  const jar: Jar = new Map();
  let [next, form]: [string, URLSearchParams | undefined] = [url, undefined];
  for (let steps = 0; steps < 20; steps++) {
    const answer = await visit(next, jar, form);
    const location = answer.headers.get("location");
    if (location) {
      next = new URL(location, next).href;
      if (next.startsWith(back)) return new URL(next).search.slice(1);
      form = undefined;
      continue;
    }
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (!action) throw new Error(`the provider shows: ${page.slice(0, 2000)}`);
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] as string;
    if (login === null) {
      next = new URL(`${action}/abort`, next).href;
      continue;
    }
    next = new URL(action, next).href;
    form = new URLSearchParams({ prompt, ...(prompt === "login" && { login, password: "any" }) });
  }
  throw new Error("the provider sends the browser around in circles");
}

async function visit(url: string, jar: Jar, form: URLSearchParams | undefined): Promise<Response> {
  const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
  const request = form ? { method: "POST", body: form } : {};
  const answer = await fetch(url, { ...request, headers: { cookie }, redirect: "manual" });
  for (const set of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) as unknown as [string, string, string];
    jar.set(name, value);
  }
  return answer;
}
