import type { SharedWindows } from "../../../../connectors/redis.ts";
import { knownDevice } from "../../../../lib/access/device-cookie.ts";
import { FAULTS } from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../../lib/http/network-address.ts";
import { Guarded } from "../../../identity/auth/guarded.ts";
import { toFault } from "../answer/respond.ts";
import type { Answer, Exchange } from "../exchange.ts";

/** A device that polls before its approval is early, and a rate-limited one was not tried. */
const NO_FAILURES = new Set([409, 429]);

interface Settings {
  PUBLIC_FAILURES_PER_MINUTE: number;
  PUBLIC_URL: string | null;
}

/** One budget per address for failed requests without a token: logins, token exchanges and device codes. */
export class PublicFailures {
  readonly #guarded: Guarded;
  readonly #publicUrl: string | null;
  readonly #secrets: SecretBox;

  constructor(settings: Settings, secrets: SecretBox, windows: SharedWindows | null) {
    this.#guarded = new Guarded(settings.PUBLIC_FAILURES_PER_MINUTE, windows);
    this.#publicUrl = settings.PUBLIC_URL;
    this.#secrets = secrets;
  }

  /**
   * Executes a request; counts its failure for guarded public operations.
   *
   * @throws Fault rate_limited, before reading the body.
   */
  count(exchange: Exchange, carryOut: () => Promise<Answer>): Promise<Answer> {
    const { op, req, ctx } = exchange;
    if (op.access.by !== "public" || !op.access.guarded || exchange.caller) return carryOut();
    const device = knownDevice(this.#secrets, req.headers.cookie, this.#publicUrl);
    if (device) ctx.meta.device = device;
    const key = device ? `device ${device.id}` : `address ${networkOf(ctx.meta.ip ?? "")}`;
    return this.#guarded.run([`public ${key}`], carryOut, (_, error) => isFailure(error));
  }
}

function isFailure(error: unknown): boolean {
  if (error === undefined) return false;
  const { type } = toFault(error);
  // The password was right: it is half of a sign-in.
  if (type === "totp_required") return false;
  const { status } = FAULTS[type as keyof typeof FAULTS];
  return status < 500 && !NO_FAILURES.has(status);
}
