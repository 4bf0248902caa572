import type { SharedWindows } from "../../../../connectors/redis.ts";
import { knownDevice } from "../../../../lib/access/device-cookie.ts";
import { FAULTS, rateLimited } from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../../lib/http/network-address.ts";
import { TokenBuckets } from "../../../../lib/queue/token-bucket.ts";
import { Guarded } from "../../../identity/auth/guarded.ts";
import { toFault } from "../answer/respond.ts";
import type { Answer, HttpExchange } from "../http-exchange.ts";

/** A device that polls before its approval is early, and a rate-limited one was not tried. */
const NO_FAILURES = new Set([409, 429]);

/** Processor time of this node that an address may spend on requests that fail, in ms: in a second, and at once. */
const CPU_MS_PER_SECOND = 50;
const CPU_BURST_MS = 1000;
/** Reading and copying a body. */
const BYTES_PER_MS = 500_000;

interface Settings {
  PUBLIC_FAILURES_PER_MINUTE: number;
  PUBLIC_URL: string | null;
}

/**
 * Budgets per address for failed requests without a token. Their processor time counts for all of them; their number for
 * guarded ones: logins, token exchanges and device codes.
 */
export class PublicFailures {
  readonly #guarded: Guarded;
  readonly #cpu = new TokenBuckets(CPU_MS_PER_SECOND, CPU_BURST_MS);
  readonly #publicUrl: string | null;
  readonly #secrets: SecretBox;

  constructor(settings: Settings, secrets: SecretBox, windows: SharedWindows | null) {
    this.#guarded = new Guarded(settings.PUBLIC_FAILURES_PER_MINUTE, windows);
    this.#publicUrl = settings.PUBLIC_URL;
    this.#secrets = secrets;
  }

  /**
   * Executes a request; counts its failure for public operations.
   *
   * @throws Fault rate_limited, before reading the body.
   */
  async count(exchange: HttpExchange, carryOut: () => Promise<Answer>): Promise<Answer> {
    const { op, ctx, req } = exchange;
    // Probes and documents have no body, and answer while an address waits.
    if (op.access.by !== "public" || exchange.caller || (op.method === "GET" && !op.access.guarded))
      return carryOut();
    const address = networkOf(ctx.meta.ip ?? "");
    const waitMs = this.#cpu.waitOf(address, performance.now());
    if (waitMs > 0)
      throw rateLimited(
        "Failed requests from this address took too much time. Retry",
        CPU_MS_PER_SECOND,
        1,
        waitMs,
      );
    const readBefore = req.socket.bytesRead;
    try {
      return await this.#countGuarded(exchange, address, carryOut);
    } catch (err) {
      const spentMs = (ctx.meta.$cpu_ms ?? 0) + (req.socket.bytesRead - readBefore) / BYTES_PER_MS;
      if (isFailure(err)) this.#cpu.take(address, spentMs, performance.now());
      throw err;
    }
  }

  #countGuarded(exchange: HttpExchange, address: string, carryOut: () => Promise<Answer>): Promise<Answer> {
    const { op, req, ctx } = exchange;
    if (op.access.by !== "public" || !op.access.guarded) return carryOut();
    const device = knownDevice(this.#secrets, req.headers.cookie, this.#publicUrl);
    if (device) ctx.meta.device = device;
    const key = device ? `device ${device.id}` : `address ${address}`;
    return this.#guarded.run(`public ${key}`, carryOut, (_, error) => isFailure(error));
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
