import type { Operation } from "./operation.ts";

/** How requests are authenticated. */
export interface Authorization {
  /** Returns the headers that authenticate a request. @throws the error of the credential's exchange */
  headers(operation: Operation, exchange: Exchange): Promise<Record<string, string>>;
  /** Called after a 401: whether a retry with new headers is worthwhile. */
  refused?(): boolean;
  /** Whether to send the browser's cookies. Default: no. */
  credentials?: "same-origin";
}

/**
 * Calls an operation that needs no authentication, such as an exchange of credentials; returns the body and the
 * server's time.
 */
export type Exchange = (operation: Operation, params: object) => Promise<{ body: unknown; now: number }>;

/** Authenticates with an agent's API key, exchanged for a token that is renewed before it expires. */
export function byKey(apiKey: string): Authorization {
  return renewing({ method: "POST", path: "/auth/token", open: true }, () => ({ api_key: apiKey }));
}

/** A person's sign-in. */
export interface Login {
  email: string;
  password: string;
  /** Required if several tenants have an account with this e-mail. */
  tenant_slug?: string;
  /** Returns a code of the second factor, if the account has one: called for each sign-in, as a code counts once. */
  code?: () => string | Promise<string>;
}

/** Authenticates with a person's e-mail and password, like the console; the token is renewed before it expires. */
export function byLogin({ code, ...login }: Login): Authorization {
  const withCode = async () => (code ? { ...login, code: await code() } : login);
  return renewing({ method: "POST", path: "/auth/login", open: true }, withCode);
}

/** Authenticates with a token that the caller obtains and renews: an access token, or the operator's. */
export function byToken(token: string | (() => string | Promise<string>)): Authorization {
  return {
    async headers() {
      return bearer(typeof token === "string" ? token : await token());
    },
  };
}

/** The session as a page on the console's origin knows it; pages never see the cookie itself. */
export interface Session {
  /** The CSRF token of the session; undefined while signed out. */
  csrfToken: () => string | undefined;
  /** The header for it. */
  header?: string;
}

/** Authenticates with a browser's session cookie on the service's origin, and changes also with the CSRF token. */
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

/** The fraction of a token's lifetime after which it is renewed. */
const RENEW_AFTER = 0.9;

/** Shares one exchange at a time among all waiting requests; after a failure the next request retries. */
function renewing(operation: Operation, credential: () => object | Promise<object>): Authorization {
  let token: Promise<{ value: string; renewAt: number }> | undefined;
  const renew = async (exchange: Exchange) => {
    const started = performance.now();
    const { body, now } = await exchange(operation, await credential());
    const { access_token, expires_at } = body as Granted;
    // By the server's clock: the caller's may be wrong.
    const life = Math.max(0, Date.parse(expires_at) - now);
    return { value: access_token, renewAt: started + life * RENEW_AFTER };
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
      // Without a token the credential itself was refused.
      const worthIt = token !== undefined;
      token = undefined;
      return worthIt;
    },
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
