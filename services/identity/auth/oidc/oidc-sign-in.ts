import type { Call } from "../../../../lib/access/caller.ts";
import {
  Fault,
  type FaultCode,
  forbidden,
  notFound,
  unauthenticated,
} from "../../../../lib/contract/faults.ts";
import type { CallOf, Runtime } from "../../../runtime.ts";
import { originOf } from "../../tenants/origin.ts";
import type { TenantState } from "../../tenants/tenants.contract.ts";
import type { Admission, Identified, RefusedIdentity } from "../../users/identities.ts";
import type { UserState } from "../../users/users.contract.ts";
import type { finishOidcSignIn } from "../auth.contract.ts";
import { noteRefusedSignIn, noteSignIn } from "../sign-ins.ts";
import { type Claims, claimWithoutRole, mapRole, OidcCookie, readProfile } from "./claims.ts";
import type { OidcProvider } from "./provider.ts";

/** The page of the console that the provider sends the browser back to. */
const CALLBACK = "/sign-in/callback";

const REFUSED: Record<RefusedIdentity | "no_role", string> = {
  no_role: "has not given you a role here. Ask an admin of the organisation for one.",
  disabled: "signed you in, but your account here is disabled. Ask an admin of the organisation.",
  no_email: "does not tell your e-mail address, which an account needs. Ask the operator to request it.",
  email_unverified:
    "has not verified your e-mail address, which an account here has already. Verify it there, then sign in again.",
  email_taken:
    "signed you in as somebody else than the account here with your e-mail address. Ask an admin to unlink it.",
};

/** A completed sign-in: the account, and the Set-Cookie for signing out. */
interface SignedIn {
  user: UserState;
  cookie: string;
}

/** Sign-in by the identity provider of the installation, if there is one. */
export class OidcSignIn {
  readonly #runtime: Runtime;
  readonly #cookie: OidcCookie;
  #provider: Promise<OidcProvider> | undefined;

  constructor(runtime: Runtime) {
    const { config, secrets } = runtime;
    this.#runtime = runtime;
    this.#cookie = new OidcCookie(secrets, config.PUBLIC_URL);
  }

  /** The name of the provider; null without one. */
  get name(): string | null {
    const { OIDC_ISSUER, OIDC_NAME } = this.#runtime.config;
    return OIDC_ISSUER && OIDC_NAME;
  }

  /** Returns where to send the browser. */
  async begin(ctx: Call): Promise<{ url: string }> {
    const provider = await this.#require();
    const redirect = (await this.#origin(ctx)) + CALLBACK;
    const { url, attempt } = await this.#ask(ctx, provider, () => provider.begin(redirect));
    ctx.meta.$responseHeaders = { "Set-Cookie": this.#cookie.set(attempt, this.#now()) };
    return { url };
  }

  /** Returns who has come back from the provider. @throws Fault authentication_failed, forbidden */
  async finish(ctx: CallOf<typeof finishOidcSignIn>): Promise<SignedIn> {
    const provider = await this.#require();
    const attempt = this.#cookie.read(ctx.meta.cookie, "attempt", this.#now());
    if (!attempt) throw refusedAnswer();
    const answer = new URL(CALLBACK, await this.#origin(ctx));
    answer.search = ctx.params.query;
    const { claims, id_token } = await this.#ask(ctx, provider, () => provider.finish(answer, attempt));
    const user = await this.#admit(ctx, claims);
    return { user, cookie: this.#cookie.set({ kind: "done", id_token }, this.#now()) };
  }

  /** Returns where to sign out at the provider too; null if the session was not begun there. */
  async signOutUrl(ctx: Call): Promise<string | null> {
    const done = this.#cookie.read(ctx.meta.cookie, "done", this.#now());
    if (!done || this.name === null) return null;
    const provider = await this.#require();
    const back = `${await this.#origin(ctx)}/`;
    // The session here has ended, even if the provider is away.
    return provider.signOutUrl(done.id_token, back).catch((err) => {
      this.#report(ctx, provider, err);
      return null;
    });
  }

  /** Returns the Set-Cookie for who signs out, or signs in otherwise; none for a browser without the cookie. */
  forget(ctx: Call): string[] {
    return ctx.meta.cookie === undefined ? [] : [this.#cookie.set(null, this.#now())];
  }

  async #admit(ctx: Call, claims: Claims): Promise<UserState> {
    const { OIDC_ROLE_CLAIM, OIDC_ROLES, OIDC_ISSUER } = this.#runtime.config;
    const { id: tenant_id } = await this.#tenant(ctx);
    const profile = readProfile(claims);
    const { subject } = profile;
    const by = { by: "oidc", subject };
    const role = mapRole(claims, OIDC_ROLE_CLAIM, OIDC_ROLES);
    if (!role) {
      const claim = claimWithoutRole(claims, OIDC_ROLE_CLAIM);
      return this.#refuse(ctx, { id: null, tenant_id }, "no_role", { ...by, claim });
    }
    const identified: Identified = { tenant_id, issuer: OIDC_ISSUER as string, ...profile, role };
    const admission = await ctx.call<Admission, Identified>("users.admit", identified);
    if ("refused" in admission)
      return this.#refuse(ctx, { id: admission.user_id, tenant_id }, admission.refused, by);
    const { user, by: way, role_before } = admission;
    const change = role_before && { role_before, role };
    await noteSignIn(ctx, user, "oidc", { ...(way !== "identity" && { [way]: true, subject }), ...change });
    return user;
  }

  async #refuse(
    ctx: Call,
    account: { id: string | null; tenant_id: string },
    reason: keyof typeof REFUSED,
    by: object,
  ): Promise<never> {
    const code: FaultCode = "forbidden";
    await noteRefusedSignIn(ctx, account, code, { ...by, reason });
    throw new Fault(code, `${this.name} ${REFUSED[reason]}`, { reason });
  }

  async #tenant(ctx: Call): Promise<TenantState> {
    const slug = this.#runtime.config.OIDC_TENANT;
    const tenant = await ctx.call<TenantState | null, object>("tenants.by_slug", { slug });
    if (tenant?.status === "active") return tenant;
    ctx.broker.logger.error(
      { slug },
      "OIDC_TENANT is not an active tenant: nobody can sign in by the provider",
    );
    throw forbidden(`People of ${this.name} cannot sign in here right now. Ask the operator.`);
  }

  async #ask<T>(ctx: Call, provider: OidcProvider, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (err) {
      throw this.#report(ctx, provider, err);
    }
  }

  #report(ctx: Call, provider: OidcProvider, err: unknown): Fault {
    const { fault, reason } = provider.toFailure(err);
    const { request_id, ip } = ctx.meta;
    ctx.broker.logger.warn({ reason, request_id, ip }, "a sign-in by the identity provider failed");
    return fault;
  }

  /** Loads what speaks OpenID Connect with the first sign-in. @throws Fault not_found without a provider */
  async #require(): Promise<OidcProvider> {
    if (this.name === null) throw notFound("identity_provider", "OIDC_ISSUER");
    const { config } = this.#runtime;
    this.#provider ??= import("./provider.ts").then(({ OidcProvider }) => new OidcProvider(config));
    return this.#provider;
  }

  #origin(ctx: Call): Promise<string> {
    return originOf(ctx.broker, this.#runtime.config);
  }

  #now(): number {
    return this.#runtime.store.now();
  }
}

function refusedAnswer(): Fault {
  const message =
    "This sign-in was not begun in this browser and at this address, or took more than 10 minutes. Start again.";
  return unauthenticated(message, { reason: "no_attempt" });
}
