import { type UnzipFileInfo, unzipSync } from "fflate";
import { UnreadableError } from "./page.ts";

/** Limit of unpacked bytes per archive. */
const MAX_UNPACKED = 200_000_000;
const MAX_ENTRIES = 20_000;

/** A ZIP archive; opening it reads only its directory. */
export class Archive {
  readonly names: ReadonlySet<string>;
  readonly #bytes: Uint8Array;

  /** @throws UnreadableError */
  constructor(bytes: Uint8Array) {
    const entries: UnzipFileInfo[] = [];
    unzip(bytes, (entry) => {
      entries.push(entry);
      if (entries.length > MAX_ENTRIES) throw new UnreadableError(`contains more than ${MAX_ENTRIES} parts`);
      return false;
    });
    this.names = new Set(entries.map(({ name }) => name));
    this.#bytes = bytes;
  }

  /** Returns the parts with these names that exist. @throws UnreadableError if they are broken or too large */
  open(names: Iterable<string>): Map<string, Uint8Array> {
    const wanted = new Set(names);
    let size = 0;
    const parts = unzip(this.#bytes, ({ name, originalSize }) => {
      if (!wanted.delete(name)) return false;
      size += originalSize;
      if (size <= MAX_UNPACKED) return true;
      throw new UnreadableError(`is larger than ${MAX_UNPACKED} bytes when decompressed`);
    });
    return new Map(Object.entries(parts));
  }
}

/** Unpacks at most as many bytes of each entry as its directory declares. */
function unzip(bytes: Uint8Array, filter: (entry: UnzipFileInfo) => boolean): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter });
  } catch (err) {
    if (err instanceof UnreadableError) throw err;
    throw new UnreadableError("is damaged or incomplete");
  }
}
