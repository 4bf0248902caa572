import type { Caller } from "../../../lib/access/caller.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, event, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./auth.contract.ts";
import { Auth, type ClientToken, requireToken } from "./auth.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import * as factorContract from "./second-factor.contract.ts";
import { SecondFactor } from "./second-factor.ts";
import { JWKS_SECONDS } from "./signing-keys.ts";
import { readWays, whoAmI } from "./who-am-i.ts";

const FLUSH_MS = 5000;
const SWEEP_MS = 10 * 60_000;
/** How often every node reads the signing keys, in case it missed the event. */
const SIGNING_KEYS_MS = 60_000;
const FLUSH_FAILED = "auth: the last use of some keys was not recorded";

export const authService: ServiceFactory = (runtime) => {
  const auth = new Auth(runtime);
  const oidc = new OidcSignIn(runtime);
  const sessions = new BrowserSessions(runtime, auth, oidc);
  const factor = new SecondFactor(auth.credentials);
  const flush = new ServiceLoop((broker) => auth.flushUses(broker), FLUSH_MS, FLUSH_FAILED);
  const keys = auth.signingKeys;
  const follow = new ServiceLoop(
    () => keys.load().then(() => false),
    SIGNING_KEYS_MS,
    "auth: the signing keys could not be read",
  );
  const sweep = new SharedLoop(
    "ended tokens",
    async () => (await keys.retireEnded()) || auth.removeExpired(),
    SWEEP_MS,
    "auth: expired tokens and signing keys could not be removed; the next sweep retries",
  );

  return {
    name: "auth",
    mixins: [flush.mixin, follow.mixin, sweep.mixin],
    actions: {
      token: action(contract.exchangeKey, (ctx) => auth.exchangeKey(ctx)),
      login: action(contract.login, (ctx) => auth.login(ctx)),
      logout: action(contract.logout, (ctx) => {
        requireToken(ctx.meta.caller);
        return auth.signOut(ctx);
      }),
      me: action(contract.whoAmI, whoAmI),
      password: action(contract.changePassword, (ctx) => auth.changePassword(ctx)),
      start_session: action(contract.startSession, (ctx) => sessions.start(ctx)),
      session: action(contract.readSession, (ctx) => sessions.read(ctx)),
      renew_session: action(contract.renewSession, (ctx) => sessions.renew(ctx)),
      end_session: action(contract.endSession, (ctx) => sessions.end(ctx)),
      methods: action(contract.readMethods, () => ({
        password: runtime.config.PASSWORD_SIGN_IN,
        oidc: oidc.name === null ? null : { name: oidc.name },
      })),
      begin_oidc: action(contract.beginOidc, (ctx) => oidc.begin(ctx)),
      finish_oidc: action(contract.finishOidc, (ctx) => sessions.startByOidc(ctx)),
      sign_in_ways: action(factorContract.readSignIn, readWays),
      begin_totp: action(factorContract.beginTotp, (ctx) => factor.begin(ctx)),
      confirm_totp: action(factorContract.confirmTotp, (ctx) => factor.confirm(ctx)),
      remove_totp: action(factorContract.removeTotp, (ctx) => factor.remove(ctx)),
      jwks: action(contract.jwks, (ctx) => {
        ctx.meta.$responseHeaders = { "Cache-Control": `public, max-age=${JWKS_SECONDS}` };
        return { keys: keys.jwks(auth.now(), ctx.params) };
      }),

      issue: internal<ClientToken>((ctx) => auth.issue(ctx)),
      verify: idempotent<{ token: string }>((ctx) => auth.verify(ctx)),
      verify_key: idempotent<{ hash: string }>((ctx) => auth.verifyKey(ctx)),
      states: idempotent<{ callers: Caller[] }>((ctx) => auth.current(ctx, ctx.params.callers)),

      signing_keys: idempotent(() => keys.states(auth.now())),
      rotate_signing_key: internal<{ at_once: boolean }>(async (ctx) => {
        await keys.rotate(ctx.params.at_once);
        await ctx.broadcast("auth.signing_keys");
        return keys.states(auth.now());
      }),

      /** Signs a statement of the service (RFC 7519) that its JWKS verifies. */
      sign_receipt: internal<{ claims: object }>(({ params }) =>
        auth.tokens.receipt(params.claims, auth.now()),
      ),
    },

    events: {
      "auth.signing_keys": event(() => follow.nudge()),
    },

    started: () => keys.load(),

    async stopped() {
      // A failure loses only the last use of some keys.
      await auth.flushUses(this.broker).catch((err) => this.logger.warn({ err }, FLUSH_FAILED));
    },
  };
};
