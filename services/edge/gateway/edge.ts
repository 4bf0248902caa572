import type { IncomingMessage } from "node:http";
import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Runtime } from "../../runtime.ts";
import type { AuthChange } from "./access/authenticate.ts";
import { clientAddress } from "./access/client.ts";
import type { Envelope } from "./answer/respond.ts";
import type { BodyReader } from "./body/params.ts";
import { splitter } from "./body/splitter.ts";
import type { Arrival, Exchange, Link, StreamHandler } from "./exchange.ts";
import { CallerLimits, LocalRateCounters } from "./limits/limits.ts";
import { Overload } from "./limits/overload.ts";
import { PublicFailures } from "./limits/public-failures.ts";
import { SharedRateCounters } from "./limits/shared-limits.ts";
import { RequestObserver } from "./observe/observe.ts";

/** Resolves the caller of a request; throws authentication_failed. */
export interface Callers {
  resolve(req: IncomingMessage, ip?: string): Caller | Promise<Caller>;
  forget(change: AuthChange): void;
  start(): void;
  stop(): void;
}

/** Dependencies of a gateway besides its operations. */
export interface EdgeParts {
  callers: Callers;
  /** One for each `consumes` other than JSON. */
  bodyReaders: Record<string, BodyReader>;
  /** By the operation's action. */
  streams: Record<string, StreamHandler>;
}

/** State shared by a gateway's hooks: counters, limits and caches of this node. */
export class Edge {
  readonly runtime: Runtime;
  readonly broker: ServiceBroker;
  readonly parts: EdgeParts;
  readonly observer: RequestObserver;
  readonly limits: CallerLimits;
  readonly failures: PublicFailures;
  readonly overload: Overload;
  /** Returns the client's address. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, broker: ServiceBroker, parts: EdgeParts) {
    const { config, windows, secrets } = runtime;
    const counters = windows ? new SharedRateCounters(windows) : new LocalRateCounters();
    this.runtime = runtime;
    this.broker = broker;
    this.parts = parts;
    this.observer = new RequestObserver(runtime);
    this.limits = new CallerLimits(config, counters);
    this.failures = new PublicFailures(config, secrets, windows);
    this.overload = new Overload(config.MAX_WRITES_IN_FLIGHT);
    this.addressOf = clientAddress(config.TRUST_PROXY);
  }

  start(): void {
    this.overload.start();
    this.parts.callers.start();
  }

  /** Closes connections after their answer from now on. */
  drain(): void {
    this.#ending.abort();
  }

  async stop(): Promise<void> {
    this.overload.stop();
    this.parts.callers.stop();
    await splitter.close();
  }

  /** Returns the signals that end a waiting request or a stream. */
  linkOf({ req, ctx }: Exchange): Link {
    const recheck = async () => this.parts.callers.resolve(req, ctx.meta.ip);
    return { ending: this.#ending.signal, recheck };
  }

  envelopeOf({ request_id, allowance }: Arrival): Envelope {
    return { request_id, allowance, last: this.#ending.signal.aborted };
  }
}
