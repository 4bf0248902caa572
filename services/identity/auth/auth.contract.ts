import { Type } from "typebox";
import { API_KEY_PATTERN } from "../../../lib/access/api-key.ts";
import { SCOPES } from "../../../lib/access/caller.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, Name, SECRET, SomeText, Timestamp, Whole } from "../../../lib/contract/schema.ts";
import { Agent } from "../agents/agents.contract.ts";
import { Email, NewPassword, ROLES } from "../users/users.contract.ts";
import { Code, Password } from "./second-factor.contract.ts";

/** The cookie of a browser that signs in, or has signed in, by the identity provider. No node keeps any state. */
export const OIDC_COOKIE = "sensorium_oidc";

const AccessToken = {
  access_token: Type.String({
    description: "A JWT (ES256), valid for one hour.",
    examples: ["eyJhbGciOiJFUzI1…"],
  }),
  token_type: Type.Literal("Bearer"),
  expires_at: Timestamp,
};

const SignedIn = Type.Object({
  ...AccessToken,
  user: Type.Object({
    id: Id("usr"),
    display_name: Name,
    role: oneOf(ROLES),
    tenant_id: Id("tn"),
  }),
});

const ApiKey = Type.String({
  ...SECRET,
  pattern: API_KEY_PATTERN,
  "x-expected": "an API key: ak_live_ and 32 letters and digits",
  description: "The agent's API key.",
  examples: [`ak_live_${"0".repeat(32)}`],
});

const restrictions = {
  ...optional({
    scope: AnyText(
      2048,
      "Scopes of the token, separated by spaces: at most those of the key, which are the default.",
      "memory:read",
    ),
    resource: AnyText(
      2048,
      "The only resource that the token is for (RFC 8707): `/mcp`, or the origin. Default: everything.",
      "https://sensorium.example.com/mcp",
    ),
  }),
};

export const createAccessToken = operation({
  action: "auth.token",
  route: "POST /auth/token",
  summary: "Exchange an API key for an access token",
  description:
    "The API key is the credential. The token expires after an hour, or with its key. Wrong keys are limited per " +
    "address. With `scope` or `resource` the token has less than the key.\n\nAs a form, this is the client credentials grant of OAuth 2.0: the key is `client_secret`, or the " +
    "password of HTTP Basic. Errors then have OAuth's form, with `error` and `error_description`.",
  access: { by: "public" },
  origin: true,
  body: {
    api_key: ApiKey,
    ...restrictions,
  },
  form: {
    grant_type: Type.Literal("client_credentials", { description: "The OAuth 2.0 grant." }),
    client_id: Type.Optional(Type.String({ description: "Any value; ignored.", examples: ["my-agent"] })),
    client_secret: Type.Optional(ApiKey),
    ...restrictions,
  },
  answer: Type.Object({
    ...AccessToken,
    expires_in: Whole({ description: "Seconds until `expires_at`.", examples: [3599] }),
    scope: Type.String({ description: "The scopes of the token.", examples: ["send memory:read"] }),
    agent: Type.Object({
      id: Id("ag"),
      name: Name,
      team: nullable(Type.String({ description: "The name of the agent's team." })),
      tenant_id: Id("tn"),
    }),
  }),
  errors: ["validation_error", "authentication_failed", "rate_limited"],
});

export const logIn = operation({
  action: "auth.login",
  route: "POST /auth/login",
  summary: "Sign in as a person",
  description:
    "Pass `tenant_slug` if the e-mail address and password fit accounts in several tenants, and `code` if the account " +
    "has a second factor (`totp_required`). Failures are limited per account and address.",
  access: { by: "public" },
  tries: true,
  body: {
    email: SomeText(254, "E-mail address of the account.", "ada@example.com"),
    password: Password,
    tenant_slug: Type.Optional(AnyText(63, "Slug of the tenant, if the credentials fit several.", "acme")),
    code: Type.Optional(Code),
  },
  answer: SignedIn,
  errors: ["authentication_failed", "totp_required", "forbidden", "rate_limited"],
});

export const getCaller = operation({
  action: "auth.me",
  route: "GET /auth/me",
  summary: "Read the current caller",
  description:
    "Use this to check a credential. Returns the calling agent or person, the tenant, the scopes and the token's " +
    "expiry.",
  access: { by: "any" },
  answer: Type.Object({
    kind: oneOf(["agent", "user"]),
    agent: Type.Optional(Agent),
    user: Type.Optional(Type.Object({ ...SignedIn.properties.user.properties, email: Email })),
    tenant: Type.Object({ id: Id("tn"), slug: Type.String(), name: Name }),
    scopes: Type.Array(oneOf(SCOPES)),
    expires_at: nullable(Timestamp),
  }),
  mcp: true,
});

export const logOut = operation({
  action: "auth.logout",
  route: "POST /auth/logout",
  summary: "Sign out, or revoke an agent's token",
  description:
    "For people, all tokens of this sign-in are refused within 5 seconds, renewed ones included. For agents, " +
    "only this token is revoked and its key stays valid; an API key sent as the bearer token is revoked itself.",
  access: { by: "any" },
  overQuota: true,
  errors: ["forbidden"],
});

export const changePassword = operation({
  action: "auth.password",
  route: "POST /auth/password",
  summary: "Change the caller's password",
  description: "Revokes all tokens of the person and returns a new one.",
  access: { by: "user" },
  tries: true,
  overQuota: true,
  body: { current_password: Password, new_password: NewPassword },
  answer: SignedIn,
  errors: ["validation_error"],
  secret: true,
});

const credentials = logIn.body as NonNullable<typeof logIn.body>;

const BrowserSession = component("BrowserSession", {
  user: Type.Object({ ...SignedIn.properties.user.properties, email: Email }),
  tenant: Type.Object({ id: Id("tn"), slug: Type.String(), name: Name }),
  expires_at: Timestamp,
  csrf_token: Type.String({ description: "For the header X-CSRF-Token of requests that change state." }),
});

export const startBrowserSession = operation({
  action: "auth.start_session",
  route: "POST /auth/session",
  summary: "Sign in a browser",
  description:
    "Sets the token as an httpOnly cookie for this origin only. Requests with the cookie that change state need " +
    "`X-CSRF-Token`. Rate limits are those of `POST /auth/login`.",
  access: { by: "public" },
  tries: true,
  body: credentials,
  cookie: OIDC_COOKIE,
  answer: BrowserSession,
  errors: ["authentication_failed", "totp_required", "forbidden", "rate_limited"],
});

export const getBrowserSession = operation({
  action: "auth.session",
  route: "GET /auth/session",
  summary: "Read the signed-in person and the session's CSRF token",
  access: { by: "user" },
  answer: BrowserSession,
});

export const renewBrowserSession = operation({
  action: "auth.renew_session",
  route: "POST /auth/session/renew",
  summary: "Renew a session",
  description: "Extends the session by an hour, up to 12 hours after sign-in.",
  access: { by: "user" },
  overQuota: true,
  audit: false,
  answer: BrowserSession,
  secret: true,
});

export const endBrowserSession = operation({
  action: "auth.end_session",
  route: "DELETE /auth/session",
  summary: "Sign a browser out",
  description:
    "Removes the cookie. All tokens of the session are refused within 5 seconds. If the identity provider began the " +
    "session, `sign_out_url` is where to send the browser to sign out there too.",
  access: { by: "user" },
  audit: false,
  cookie: OIDC_COOKIE,
  answer: Type.Object({
    sign_out_url: nullable(
      Type.String({
        description: "The provider's page.",
        examples: ["https://id.example.com/logout?client_id=sensorium&…"],
      }),
    ),
  }),
});

export const getSignInMethods = operation({
  action: "auth.methods",
  route: "GET /auth/methods",
  summary: "Read how people can sign in",
  access: { by: "public" },
  answer: Type.Object({
    password: Type.Boolean({ description: "By an e-mail address and a password." }),
    oidc: nullable(
      Type.Object(
        { name: Type.String({ description: "The provider's name.", examples: ["SSO"] }) },
        { description: "By an identity provider." },
      ),
    ),
  }),
});

export const beginOidcSignIn = operation({
  action: "auth.begin_oidc",
  route: "POST /auth/oidc",
  summary: "Begin a sign-in by the identity provider",
  description:
    "Returns where to send the browser, and sets a cookie that its answer must fit. The provider sends the browser back " +
    "to `/sign-in/callback` of the console.",
  access: { by: "public" },
  answer: Type.Object({
    url: Type.String({
      description: "The provider's page.",
      examples: ["https://id.example.com/authorize?client_id=sensorium&…"],
    }),
  }),
  errors: ["not_found"],
});

export const finishOidcSignIn = operation({
  action: "auth.finish_oidc",
  route: "POST /auth/oidc/session",
  summary: "Sign in a browser that the identity provider has sent back",
  description:
    "The cookie of `POST /auth/oidc` is required. The session is that of `POST /auth/session`. The role follows the " +
    "provider's claims at each sign-in. `forbidden` says in `details.reason` who cannot sign in: `no_role`, `disabled`, " +
    "`no_email`, `email_unverified` or `email_taken`.",
  access: { by: "public" },
  tries: true,
  body: {
    query: Type.String({
      ...SECRET,
      minLength: 1,
      maxLength: 8192,
      description: "The query of the address that the provider sent the browser to.",
      examples: ["code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj"],
    }),
  },
  cookie: OIDC_COOKIE,
  answer: BrowserSession,
  errors: ["authentication_failed", "forbidden", "not_found", "rate_limited"],
});
