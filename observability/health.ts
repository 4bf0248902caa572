import { setTimeout } from "node:timers/promises";

/** Returns a component's problem, or null if it is healthy. */
type HealthCheck = () => string | null | Promise<string | null>;

interface HealthReport {
  status: "ready" | "not_ready";
  /** Each component by name: `ok`, or the problem. */
  checks: Record<string, string>;
}

const CHECK_MS = 2000;

/** Whether this node can serve. Each component adds its check; the node is ready when all of them pass. */
export class Health {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #remarks = new Map<string, () => string | null>();

  /** Adds a component's check (`store`, `fan_out`, …). A check fails if it throws or takes over 2 s. */
  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check);
  }

  /** Adds a remark on a component that the node can serve without. */
  remark(name: string, look: () => string | null): void {
    this.#remarks.set(name, look);
  }

  async report(): Promise<HealthReport> {
    const reasons = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await run(check)] as const),
    );
    const remarks = [...this.#remarks].map(([name, look]) => [name, look()] as const);
    return {
      status: reasons.every(([, reason]) => reason === null) ? "ready" : "not_ready",
      checks: Object.fromEntries([...reasons, ...remarks].map(([name, reason]) => [name, reason ?? "ok"])),
    };
  }
}

async function run(check: HealthCheck): Promise<string | null> {
  const late = setTimeout(CHECK_MS, `did not respond within ${CHECK_MS} ms`, { ref: false });
  try {
    return await Promise.race([check(), late]);
  } catch {
    // Without the error's text: this answer is public.
    return "failed";
  }
}
