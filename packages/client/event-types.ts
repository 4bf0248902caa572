import type { CloudEvent } from "./generated/types.ts";

/** An event whose type and data a program knows. That is its promise: nothing checks the data of events that arrive. */
export type EventOf<Data = unknown, Type extends string = string> = CloudEvent & { type: Type; data: Data };

/** The events of a map from types to their data, told apart by `type`: `{ "com.example.order.placed": { total: number } }`. */
export type EventsOf<Types extends object> = {
  [Type in keyof Types & string]: EventOf<Types[Type], Type>;
}[keyof Types & string];

/** A CloudEvent to publish; other names are extension attributes. */
export type NewEvent = Partial<CloudEvent> & Pick<CloudEvent, "type" | "source"> & Record<string, unknown>;

/** An event of such a map to publish. */
export type NewEventOf<Types extends object> = NewEvent &
  { [Type in keyof Types & string]: { type: Type; data: Types[Type] } }[keyof Types & string];
