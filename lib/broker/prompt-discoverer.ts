import { Discoverers } from "moleculer";

const CHECK_MS = 250;

/**
 * Moleculer's discoverer with a check for nodes silent for `heartbeatTimeout` four times a second. The original checks
 * once per `heartbeatTimeout` and so notices a failed node only after up to twice that time.
 */
export class PromptDiscoverer extends Discoverers.Local {
  #checking: NodeJS.Timeout | undefined;

  override startHeartbeatTimers(): void {
    super.startHeartbeatTimers();
    this.#checking = setInterval(() => this.checkRemoteNodes(), CHECK_MS).unref();
  }

  override stopHeartbeatTimers(): void {
    super.stopHeartbeatTimers();
    clearInterval(this.#checking);
  }
}
