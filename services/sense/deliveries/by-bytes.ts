import { MESSAGE_BYTES, pagesBySize, upToSize } from "../../../lib/broker/message-size.ts";

interface Sized {
  size: number;
}

const sizeOf = ({ size }: Sized) => size;

/** As many deliveries as one answer may hold. */
export const upToBytes = <T extends Sized>(docs: T[]) => upToSize(docs, sizeOf, MESSAGE_BYTES);

/** All of them, as many at a time as one call between nodes may carry. */
export const inParts = <T extends Sized>(docs: T[]) => pagesBySize(docs, sizeOf, MESSAGE_BYTES);
