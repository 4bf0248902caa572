import type { Call } from "../../../lib/access/caller.ts";
import { Fault, invalidValue, rateLimited, ruleBroken } from "../../../lib/contract/faults.ts";
import type { CallOf } from "../../runtime.ts";
import type { CodeCheck } from "../users/totp.ts";
import type { UserState } from "../users/users.contract.ts";
import type { Credentials } from "./credentials.ts";
import type * as contract from "./second-factor.contract.ts";
import { noteRefusedSignIn } from "./sign-ins.ts";
import { callingUser } from "./who-am-i.ts";

const WRONG_CODE =
  "The code is wrong, has expired or was used before. Send the authenticator's current one, or a recovery code.";
const WRONG_PASSWORD = "password: it is wrong. Send the password that you sign in with.";

/**
 * Checks the code of a person whose password is right, and uses it up.
 *
 * @throws Fault totp_required without one, authentication_failed, rate_limited after several wrong ones
 */
export async function requireCode(
  ctx: Call,
  { id: user_id, tenant_id }: UserState,
  code: string | undefined,
): Promise<void> {
  if (code === undefined)
    throw new Fault(
      "totp_required",
      "A code is required too: send it as code, from the authenticator or a recovery code.",
    );
  const check = await ctx.call<CodeCheck, object>("users.check_code", { tenant_id, user_id, code });
  if (check.is === "right") return;
  const error = check.is === "wrong" ? "authentication_failed" : "rate_limited";
  await noteRefusedSignIn(ctx, { id: user_id, tenant_id }, error, { factor: "code" });
  if (check.is === "wrong") throw new Fault("authentication_failed", WRONG_CODE, { reason: "code" });
  throw rateLimited(
    "Too many wrong codes for this account. Use a recovery code, or retry",
    1,
    Math.ceil(check.wait_ms / 1000),
    check.wait_ms,
  );
}

/** The operations on a person's own second factor. */
export class SecondFactor {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async begin(ctx: CallOf<typeof contract.beginTotp>) {
    const { password } = ctx.params;
    const seed = ctx.meta.idempotency_seed;
    const { has_password } = await callingUser(ctx);
    if (!has_password)
      throw ruleBroken(
        "no_password",
        "You sign in by the identity provider alone: set up a second factor there.",
      );
    const wrong = invalidValue("password", WRONG_PASSWORD);
    return this.#credentials.tryOwn(ctx, wrong, (person) =>
      ctx.call<{ secret: string; uri: string } | null, object>("users.begin_totp", {
        ...person,
        password,
        seed,
      }),
    );
  }

  confirm(ctx: CallOf<typeof contract.confirmTotp>) {
    const { code } = ctx.params;
    const seed = ctx.meta.idempotency_seed;
    const wrong = invalidValue(
      "code",
      "code: it is wrong. Check the time of the device with the authenticator.",
    );
    return this.#credentials.tryOwn(ctx, wrong, async (person) => {
      type Confirmed = { recovery_codes: string[] | null };
      const confirmed = await ctx.call<Confirmed, object>("users.confirm_totp", { ...person, code, seed });
      return confirmed.recovery_codes && confirmed;
    });
  }

  async remove(ctx: CallOf<typeof contract.removeTotp>): Promise<void> {
    const { password, recovery_code } = ctx.params;
    if ((password === undefined) === (recovery_code === undefined))
      throw invalidValue("password", "password: send either it or a recovery_code.");
    const field = password === undefined ? "recovery_code" : "password";
    const wrong = invalidValue(
      field,
      password === undefined ? "recovery_code: it is wrong or was used." : WRONG_PASSWORD,
    );
    await this.#credentials.tryOwn(ctx, wrong, async (person) => {
      const removed = await ctx.call<boolean, object>("users.remove_totp", {
        ...person,
        password,
        recovery_code,
      });
      return removed || null;
    });
  }
}
