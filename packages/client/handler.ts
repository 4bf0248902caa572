import type { CloudEvent, DeliveryEvent } from "./generated/types.ts";

/** What a handler gets besides the event. */
export interface HandlerContext {
  /** The delivery that brought the event: its attempts, and why this agent got it. */
  delivery: DeliveryEvent;
  /** Aborts when the listener is stopped and its time is over: what still runs should end. */
  signal: AbortSignal;
}

/**
 * Does what an event asks for. When it returns, the delivery is acknowledged; when it throws, it is handed back with
 * the error's message as the reason. Delivery is at least once: be idempotent on `event.id`.
 */
export type Handler = (event: CloudEvent, context: HandlerContext) => unknown;

/** How `listen` receives. */
export interface ListenOptions {
  /**
   * `stream`: one connection with server-sent events. `poll`: long-polls, which share the work fairly where several
   * processes listen as the same agent. Default `stream`.
   */
  by?: "stream" | "poll";
  /** Handlers at a time. Default 1. */
  concurrency?: number;
  /** Deliveries held at a time. Default: for streams twice the concurrency, so that the next one is there at once. */
  maxInFlight?: number;
  /** Told of what went wrong and is tried again, and of each error of the handler. */
  onProblem?: (problem: unknown) => void;
  /** Stops it, as `stop` does. */
  signal?: AbortSignal;
}

/** Thrown by a handler to say when the event should come again, instead of after 1 s, 2 s, 4 s … */
export class RetryLater extends Error {
  readonly delaySeconds: number;

  constructor(reason: string, delaySeconds: number) {
    super(reason);
    this.name = "RetryLater";
    this.delaySeconds = delaySeconds;
  }
}
