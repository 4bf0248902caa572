import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Fault } from "../../../lib/contract/faults.ts";
import { RateWindows } from "../../../observability/rate-windows.ts";
import type { AuthChange } from "../../identity/tenants/auth-change.ts";
import type { Runtime } from "../../runtime.ts";
import { clientAddress } from "./access/client-address.ts";
import { sendFromBlob } from "./answer/from-blob.ts";
import { Output, SMALL_BYTES } from "./answer/output.ts";
import { type Envelope, send, sendLong, sizeOf, toFault } from "./answer/respond.ts";
import { reserveBody } from "./body/budget.ts";
import {
  type Answer,
  type EarlyHttpExchange,
  type HttpExchange,
  type Link,
  type Refuse,
  requestShare,
  type StreamHandler,
} from "./http-exchange.ts";
import { CredentialGuard } from "./limits/guard.ts";
import { CallerLimits } from "./limits/limits.ts";
import { Overload } from "./limits/overload.ts";
import { RequestObserver } from "./observe/observe.ts";

/** Resolves the caller of a request; throws authentication_failed. */
interface Callers {
  resolve(req: IncomingMessage): Caller | Promise<Caller>;
  /** Calls `refuse` once the caller of an open request is refused; returns a function that ends this. */
  watch(req: IncomingMessage, refuse: Refuse): () => void;
  forget(change: AuthChange): void;
  start(): void;
  stop(): void;
}

/** Dependencies of a gateway besides its operations. */
export interface GatewayDeps {
  callers: Callers;
  /** By the operation's action. */
  streams: Record<string, StreamHandler>;
}

/** State shared by a gateway's hooks: counters, limits and caches of this node. */
export class GatewayContext {
  readonly runtime: Runtime;
  readonly broker: ServiceBroker;
  readonly deps: GatewayDeps;
  readonly observer: RequestObserver;
  readonly limits: CallerLimits;
  readonly guard: CredentialGuard;
  readonly overload: Overload;
  /** Emits a tenant's changes under its id, for the streams of them here. */
  readonly changes = new EventEmitter().setMaxListeners(0);
  /** Emits the id of a tenant whose events are streamed here when it has new ones. */
  readonly arrivals = new EventEmitter().setMaxListeners(0);
  /** Returns the client's address. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly #ending = new AbortController();
  #leaving = false;

  constructor(runtime: Runtime, broker: ServiceBroker, depsOf: (edge: GatewayContext) => GatewayDeps) {
    const { config, windows, secrets } = runtime;
    this.runtime = runtime;
    this.broker = broker;
    this.observer = new RequestObserver(runtime);
    this.limits = new CallerLimits(config, new RateWindows(windows));
    this.guard = new CredentialGuard(config, secrets, windows);
    this.overload = new Overload(config.MAX_WRITES_IN_FLIGHT);
    this.addressOf = clientAddress(config.TRUST_PROXY);
    this.deps = depsOf(this);
  }

  start(): void {
    this.overload.start();
    this.deps.callers.start();
  }

  /** Closes connections after their answer from now on: a balancer that counts connections sends the next elsewhere. */
  leave(): void {
    this.#leaving = true;
  }

  /** Ends waiting requests and streams. */
  drain(): void {
    this.leave();
    this.#ending.abort();
  }

  stop(): void {
    this.overload.stop();
    this.deps.callers.stop();
  }

  /** Aborts when the node is about to stop. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Returns the signals that end a waiting request or a stream. */
  linkOf({ req }: HttpExchange): Link {
    const { callers } = this.deps;
    return {
      ending: this.ending,
      watch: (refuse) => callers.watch(req, refuse),
      recheck: () => callers.resolve(req),
    };
  }

  envelopeOf({ request_id, allowance }: EarlyHttpExchange): Envelope {
    return { request_id, allowance, last: this.#leaving };
  }

  /** Holds a slot among this node's writes or streams, and memory for the body, while a task runs. */
  async hold<T>(exchange: HttpExchange, task: () => Promise<T>): Promise<T> {
    const leave = this.overload.enter(exchange.op, requestShare(exchange));
    try {
      const reserved = reserveBody(exchange);
      if (reserved) exchange.releaseBody = await reserved;
      return await task();
    } finally {
      leave?.();
      exchange.releaseBody?.();
    }
  }

  send(exchange: EarlyHttpExchange, answer: Answer): void | Promise<void> {
    const { res, caller, ctx, op } = exchange;
    const envelope = this.envelopeOf(exchange);
    const { insert } = answer;
    // What is refused before its caller is known is short.
    if (!ctx || (!insert && sizeOf(answer.body) <= SMALL_BYTES)) return send(res, answer, envelope);
    const output = new Output(res, requestShare({ caller, ctx }), op?.action ?? "none");
    if (!insert || !caller) return sendLong(res, answer, envelope, output);
    return sendFromBlob(res, answer, envelope, output, caller.tenant_id, this.runtime.blobs);
  }

  /** Returns the fault for the caller and logs details hidden from it. */
  faultOf(err: unknown, request_id: string): Fault {
    const fault = toFault(err);
    if (fault.type === "internal_error") this.broker.logger.error({ err, request_id }, "request failed");
    return fault;
  }
}
