import { invalidValue, ruleBroken } from "../../../lib/contract/faults.ts";
import type { CallOf } from "../../runtime.ts";
import type { Credentials } from "./credentials.ts";
import type * as contract from "./second-factor.contract.ts";
import { callingUser } from "./who-am-i.ts";

const WRONG_PASSWORD = "password: it is wrong. Send the password that you sign in with.";

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
