import { MESSAGE_BYTES, pagesBySize, upToSize } from "../../../lib/broker/message-size.ts";

interface Sized {
  size: number;
}

const sizeOf = ({ size }: Sized) => size;

/** Limits deliveries to the size of one answer, of which the first may be larger. */
export const upToBytes = <T extends Sized>(docs: T[], most = MESSAGE_BYTES) =>
  upToSize(docs, sizeOf, Math.min(most, MESSAGE_BYTES));

/** Splits deliveries into batches that fit into one call between nodes. */
export const inBatches = <T extends Sized>(docs: T[]) => pagesBySize(docs, sizeOf, MESSAGE_BYTES);
