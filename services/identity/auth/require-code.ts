import type { Call } from "../../../lib/access/caller.ts";
import { Fault, rateLimited } from "../../../lib/contract/faults.ts";
import type { CodeCheck } from "../users/totp.ts";
import type { UserState } from "../users/users.contract.ts";
import { noteRefusedSignIn } from "./sign-ins.ts";

const WRONG_CODE =
  "The code is wrong, has expired or was used before. Send the authenticator's current one, or a recovery code.";

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
  if (check.is === "later") {
    const { wait_ms } = check;
    const message = "Too many wrong codes for this account. Use a recovery code, or retry";
    throw rateLimited(message, 1, Math.ceil(wait_ms / 1000), wait_ms);
  }
  await noteRefusedSignIn(ctx, { id: user_id, tenant_id }, "authentication_failed", { factor: "code" });
  throw new Fault("authentication_failed", WRONG_CODE, { reason: "code" });
}
