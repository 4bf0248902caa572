import { posix } from "node:path";
import { type UnzipFileInfo, unzipSync } from "fflate";
import { Parser } from "htmlparser2";
import { UnreadableError } from "./page.ts";

/** A reference to another part. */
interface Relation {
  id: string;
  /** Last segment of its type: `slide`, `worksheet`, `notesSlide`. */
  type: string;
  /** Its name in the archive. */
  part: string;
}

/**
 * Returns the main part of an Office file: the one that the file names in the folder of the usual one, or the usual
 * one.
 */
export function mainPart(archive: Archive, usual: string): string {
  const named = readRelations(archive, "").find(({ type }) => type === "officeDocument")?.part ?? usual;
  return posix.dirname(named).toLowerCase() === posix.dirname(usual) && archive.has(named) ? named : usual;
}

/** Returns the references of a part ("" for the whole file) in their order; empty without relations. */
export function readRelations(archive: Archive, part: string): Relation[] {
  const { dir, base } = posix.parse(part);
  const name = posix.join(dir, "_rels", `${base}.rels`);
  const bytes = archive.open([name]).get(name);
  const relations: Relation[] = [];
  if (!bytes) return relations;
  readXml(bytes, {
    open(tag, { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode }) {
      if (tag !== "Relationship" || mode === "External") return;
      const forward = target.replaceAll("\\", "/");
      const path = forward.startsWith("/") ? forward.slice(1) : posix.join(dir, forward);
      relations.push({ id, type: type.slice(type.lastIndexOf("/") + 1), part: path });
    },
  });
  return relations;
}

/** A slide of a presentation or a sheet of a workbook. */
interface ListedPart {
  name: string;
  part: string;
  isHidden: boolean;
}

/** Returns the parts that a list in `part` refers to, in its order. */
export function listedParts(archive: Archive, part: string, tag: string): ListedPart[] {
  const parts = new Map(readRelations(archive, part).map((relation) => [relation.id, relation.part]));
  const listed: ListedPart[] = [];
  const bytes = archive.open([part]).get(part);
  if (bytes) {
    readXml(bytes, {
      open(name, attributes) {
        const target = name === tag && parts.get(relationIn(attributes));
        const isHidden = /hidden/i.test(attributes.state ?? "");
        if (target) listed.push({ name: attributes.name ?? "", part: target, isHidden });
      },
    });
  }
  return listed;
}

/** Reads `r:id` with any prefix: each file may choose another. */
function relationIn(attributes: Record<string, string>): string {
  return Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "";
}

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

type Attributes = Record<string, string>;

/** Handles the events of an XML part. Names come without their prefix. */
interface XmlHandler {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

const SLICE = 65_536;
/** Deeper than any real document. */
const MAX_DEPTH = 1000;

/** Parses a part of an Office file. Refuses entities that the file declares, and so entity attacks. */
export function readXml(bytes: Uint8Array, handler: XmlHandler): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) throw new UnreadableError("is nested too deeply");
        handler.open?.(localName(name), attributes);
      },
      onclosetag(name) {
        depth--;
        handler.close?.(localName(name));
      },
      ontext: (text) => handler.text?.(text),
      onprocessinginstruction(name) {
        if (/^!doctype/i.test(name)) {
          throw new UnreadableError("declares a document type, which Office files never do");
        }
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new TextDecoder(detectEncoding(bytes));
  for (let at = 0; at < bytes.length; at += SLICE) {
    parser.write(decoder.decode(bytes.subarray(at, at + SLICE), { stream: true }));
  }
  parser.end();
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
