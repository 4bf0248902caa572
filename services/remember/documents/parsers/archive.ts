import { type UnzipFileInfo, unzipSync } from "fflate";
import { UnreadableError } from "./page.ts";

/** Limit of unpacked bytes per archive. */
const MAX_UNPACKED = 200_000_000;
const MAX_ENTRIES = 20_000;

/**
 * The parts of an Office file. Their names are the same in any case (ECMA-376, part 2), and some programs write them
 * with backslashes. Opening it reads only its directory.
 */
export class Archive {
  readonly #bytes: Uint8Array;
  /** Name of each entry by its folded name. */
  readonly #entries: ReadonlyMap<string, string>;

  /** @throws UnreadableError */
  constructor(bytes: Uint8Array) {
    const entries: UnzipFileInfo[] = [];
    unzip(bytes, (entry) => {
      entries.push(entry);
      if (entries.length > MAX_ENTRIES) throw new UnreadableError(`contains more than ${MAX_ENTRIES} parts`);
      return false;
    });
    this.#entries = new Map(entries.map(({ name }) => [folded(name), name]));
    this.#bytes = bytes;
  }

  has(name: string): boolean {
    return this.#entries.has(folded(name));
  }

  /** Returns the parts with these names that exist. @throws UnreadableError if they are broken or too large */
  open(names: Iterable<string>): Map<string, Uint8Array> {
    const wanted = new Map([...names].map((name) => [this.#entries.get(folded(name)), name]));
    let size = 0;
    const parts = unzip(this.#bytes, ({ name, originalSize }) => {
      if (!wanted.has(name)) return false;
      size += originalSize;
      if (size <= MAX_UNPACKED) return true;
      throw new UnreadableError(`is larger than ${MAX_UNPACKED} bytes when decompressed`);
    });
    return new Map(Object.entries(parts).map(([name, bytes]) => [wanted.get(name) as string, bytes]));
  }

  /** Returns a part that another one names. @throws UnreadableError if it is missing or broken */
  require(name: string): Uint8Array {
    const bytes = this.open([name]).get(name);
    if (!bytes) throw new UnreadableError(`is incomplete: its part ${name} is missing`);
    return bytes;
  }
}

const folded = (name: string) => name.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();

/** Unpacks at most as many bytes of each entry as its directory declares. */
function unzip(bytes: Uint8Array, filter: (entry: UnzipFileInfo) => boolean): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter });
  } catch (err) {
    if (err instanceof UnreadableError) throw err;
    throw new UnreadableError("is damaged or incomplete");
  }
}
