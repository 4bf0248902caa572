import type { CloudEvent, DeliveryEvent } from "./generated/types.ts";

/** A handler's context in addition to the event. */
export interface HandlerContext {
  /** The event's delivery: its attempts, and why this agent received it. */
  delivery: DeliveryEvent;
  /** Aborts when the listener is stopped and its grace period is over: the handler should end. */
  signal: AbortSignal;
  /**
   * Sets the delivery's log, such as the end of what a program has written: its last 16,384 characters are kept with the
   * delivery, acknowledged or rejected, and shown to people.
   */
  log(text: string): void;
}

/**
 * Handles an event. Returning acknowledges the delivery; throwing rejects it with the error's message as the reason.
 * Delivery is at least once: be idempotent on `event.id`.
 */
export type Handler<Event = CloudEvent> = (event: Event, context: HandlerContext) => unknown;

/** Options of `listen`. */
export interface ListenOptions {
  /**
   * `stream`: one connection with server-sent events. `poll`: long-polls, which share the work fairly among several
   * processes that listen as the same agent. Default `stream`.
   */
  by?: "stream" | "poll";
  /** Concurrent handlers. Default 1. */
  concurrency?: number;
  /** Deliveries held at a time. Default: for streams twice the concurrency, so that the next one is ready. */
  maxInFlight?: number;
  /** Called with each problem that is retried, and each error of the handler. Default: warns on the console. */
  onProblem?: (problem: unknown) => void;
  /** Stops the listener, like `stop`. */
  signal?: AbortSignal;
}

/** Thrown by a handler to set the time until redelivery, instead of the agent's delays. */
export class RetryLater extends Error {
  readonly delaySeconds: number;

  constructor(reason: string, delaySeconds: number) {
    super(reason);
    this.name = "RetryLater";
    this.delaySeconds = delaySeconds;
  }
}

/** Thrown by a handler for an event that no retry can handle: its delivery is dead-lettered at once, with the reason. */
export class GiveUp extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "GiveUp";
  }
}

/**
 * Thrown by a handler that was ended with its program, before it could handle the event: no failure. The stream returns
 * the delivery as it closes, without counting an attempt; a poll returns it at once.
 */
export class Interrupted extends RetryLater {
  constructor() {
    super("interrupted", 0);
    this.name = "Interrupted";
  }
}

/** Thrown by a handler that has not begun with the event, and has not failed: the attempt does not count. */
export class Untried extends RetryLater {}

/** Thrown by a handler whose delivery another call rejects: the listener forgets it, and takes it again if it comes back. */
export class RejectedElsewhere extends Error {}
