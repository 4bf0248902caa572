import { addressId } from "../../../lib/ids.ts";

/** An event as its waiter sees it. */
export interface AwaitedEvent {
  /** Its id here, `evt_…`. */
  id: string;
  type: string;
  source: string;
  subject: string | null;
}

const PREFIX = "wait_";

/** Returns the id of a wait that these parts address. */
export const waitId = (...parts: string[]): string => PREFIX + addressId(...parts);

/** Whether an id is that of a wait: others are of interests. */
export const isWait = (id: string): boolean => id.startsWith(PREFIX);
