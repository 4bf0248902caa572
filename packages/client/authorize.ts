import type { Operation } from "./operation.ts";

/** How requests prove who makes them. */
export interface Authorization {
  /** The headers that prove it. @throws what the exchange of a credential throws */
  headers(operation: Operation, exchange: Exchange): Promise<Record<string, string>>;
  /** Told of a 401: whether other headers are worth another try. */
  refused?(): boolean;
  /** Whether the browser's cookies go along. Default: they do not. */
  credentials?: "same-origin";
}

/** Calls an operation that needs no proof, such as an exchange of credentials; gives the body and the server's time. */
export type Exchange = (operation: Operation, params: object) => Promise<{ body: unknown; now: number }>;

/** An agent's API key: exchanged for a token, which is renewed before it ends. */
export function byKey(apiKey: string): Authorization {
  return renewing({ method: "POST", path: "/auth/token", open: true }, { api_key: apiKey });
}

/** What a person signs in with. */
export interface Login {
  email: string;
  password: string;
  /** Needed when the e-mail stands in several tenants. */
  tenant_slug?: string;
}

/** A person's e-mail and password, as the console signs in; the token is renewed before it ends. */
export function byLogin(login: Login): Authorization {
  return renewing({ method: "POST", path: "/auth/login", open: true }, login);
}

/** A token that somebody else got and renews: an access token, or the operator's. */
export function byToken(token: string | (() => string | Promise<string>)): Authorization {
  return {
    async headers() {
      return bearer(typeof token === "string" ? token : await token());
    },
  };
}

/** What a page of the console's origin knows of its session; the cookie itself it never sees. */
export interface Session {
  /** The CSRF token of the session; undefined while nobody is signed in. */
  csrfToken: () => string | undefined;
  /** The header it goes in. */
  header?: string;
}

/** A browser's session cookie on the service's own origin; what changes something carries the CSRF token too. */
export function bySession({ csrfToken, header = "X-CSRF-Token" }: Session): Authorization {
  return {
    credentials: "same-origin",
    async headers({ method }) {
      const token = method === "GET" ? undefined : csrfToken();
      return token === undefined ? {} : { [header]: token };
    },
  };
}

interface Granted {
  access_token: string;
  expires_at: string;
}

/** The part of a token's life after which it is renewed. */
const RENEW_AT = 0.9;

/** One exchange at a time, whoever waits for it; a failed one is tried again by the next request. */
function renewing(operation: Operation, credential: object): Authorization {
  let token: Promise<{ value: string; renewAt: number }> | undefined;
  const renew = async (exchange: Exchange) => {
    const started = performance.now();
    const { body, now } = await exchange(operation, credential);
    const { access_token, expires_at } = body as Granted;
    // By the server's clock: the caller's own may be wrong.
    const life = Math.max(0, Date.parse(expires_at) - now);
    return { value: access_token, renewAt: started + life * RENEW_AT };
  };
  const start = (exchange: Exchange) => {
    const started = renew(exchange);
    token = started;
    started.catch(() => {
      if (token === started) token = undefined;
    });
    return started;
  };
  return {
    async headers(_, exchange) {
      const held = await (token ?? start(exchange));
      const good = performance.now() < held.renewAt ? held : await start(exchange);
      return bearer(good.value);
    },
    refused() {
      // Without a token it was the credential itself that was refused.
      const worthIt = token !== undefined;
      token = undefined;
      return worthIt;
    },
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
