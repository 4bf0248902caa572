import { Errors } from "moleculer";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import type { Verified } from "../../../identity/auth/auth.ts";

/** Calls at once; tokens that come meanwhile are verified together when one of them ends. */
const AT_ONCE = 4;
const MOST_TOKENS = 100;

interface Waiting {
  token: string;
  resolve: (caller: Caller) => void;
  reject: (err: unknown) => void;
}

/** Verifies the tokens of new callers: of many that come at once, as after a restart of a gateway, by few calls. */
export class Verifications {
  readonly #call: (action: string, params: object) => Promise<unknown>;
  readonly #waiting: Waiting[] = [];
  #calls = 0;

  constructor(call: (action: string, params: object) => Promise<unknown>) {
    this.#call = call;
  }

  /** Returns the caller of a token. @throws Fault authentication_failed */
  verify(token: string): Promise<Caller> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ token, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#calls >= AT_ONCE || this.#waiting.length === 0) return;
    this.#calls++;
    void this.#settle(this.#waiting.splice(0, MOST_TOKENS)).finally(() => {
      this.#calls--;
      this.#next();
    });
  }

  async #settle(batch: Waiting[]): Promise<void> {
    try {
      if (batch.length === 1) return await this.#settleEach(batch);
      const tokens = batch.map(({ token }) => token);
      const verified = (await this.#call("auth.verify_all", { tokens })) as Verified[];
      for (const [i, { resolve, reject }] of batch.entries()) {
        const { caller, fault } = verified[i] as Verified;
        if (caller) resolve(caller);
        else reject(new Fault("authentication_failed", fault.message, fault.data));
      }
    } catch (err) {
      // All nodes with tokens are of an earlier version.
      if (err instanceof Errors.ServiceNotFoundError) return this.#settleEach(batch);
      for (const { reject } of batch) reject(err);
    }
  }

  async #settleEach(batch: Waiting[]): Promise<void> {
    const each = batch.map(({ token, resolve, reject }) =>
      this.#call("auth.verify", { token }).then((caller) => resolve(caller as Caller), reject),
    );
    await Promise.all(each);
  }
}
