import { MESSAGE_BYTES, pagesBySize, upToSize } from "../../../lib/broker/message-size.ts";

interface Sized {
  size: number;
}

const sizeOf = ({ size }: Sized) => size;

/** Limits deliveries to the size of one answer. */
export const upToBytes = <T extends Sized>(docs: T[]) => upToSize(docs, sizeOf, MESSAGE_BYTES);

/** Splits deliveries into batches that fit into one call between nodes. */
export const inBatches = <T extends Sized>(docs: T[]) => pagesBySize(docs, sizeOf, MESSAGE_BYTES);
