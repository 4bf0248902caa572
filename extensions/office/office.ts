import { posix } from "node:path";
import { type UnzipFileInfo, unzipSync } from "fflate";
import {
  type Losses,
  type ReadContext,
  UnreadableError,
} from "../../services/remember/documents/parsers/page.ts";
import { allOf, parseXml } from "./xml.ts";

/** A reference to another part. */
export interface Relation {
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
  return allOf(parseXml(archive.open(name)), "Relationship").flatMap(({ attributes }) => {
    const { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode } = attributes;
    if (mode === "External") return [];
    const forward = target.replaceAll("\\", "/");
    const path = forward.startsWith("/") ? forward.slice(1) : posix.join(dir, forward);
    return [{ id, type: type.slice(type.lastIndexOf("/") + 1), part: path }];
  });
}

/** An Office file while it is read. */
export interface OfficeFile {
  archive: Archive;
  losses: Losses;
  /** To be called before each slide or sheet, from 1: returns whether it is read, and not left out. */
  beginPage: ReadContext["beginPage"];
  /** Reads a file within the file. @throws UnreadableError */
  readEmbedded(bytes: Uint8Array, part: string): Promise<string>;
}

/** Kinds of parts that are read, or show no text themselves: styles, settings, and what other parts show. */
const KNOWN = new Set(
  (
    "officeDocument styles stylesWithEffects numbering settings webSettings fontTable font theme themeOverride image hyperlink " +
    "customXml customXmlProps customProperty glossaryDocument keyMapCustomizations vbaProject attachedTemplate printerSettings " +
    "header footer footnotes endnotes comments commentsExtended commentsExtensible commentsIds people aFChunk " +
    "diagramData diagramLayout diagramQuickStyle diagramColors diagramDrawing chart chartEx chartStyle chartColorStyle " +
    "oleObject package control activeXControl activeXControlBinary ctrlProp vmlDrawing drawing audio video media " +
    "slide slideLayout slideMaster notesSlide notesMaster handoutMaster presProps viewProps tableStyles tags commentAuthors authors " +
    "worksheet chartsheet sharedStrings calcChain sheetMetadata externalLink externalLinkPath connections xmlMaps table " +
    "tableSingleCells queryTable pivotTable pivotCacheDefinition slicerCache timelineCache threadedComment person " +
    "featurePropertyBag rdRichValue rdRichValueStructure rdRichValueTypes rdArray richValueRel richStyles " +
    "classificationlabels userXmlData mailMergeSource mailMergeHeaderSource recipientData"
  ).split(" "),
);

/** Returns the references of a part. Lists those of unknown kinds as losses. */
export function noteUnread({ archive, losses }: OfficeFile, part: string, place: string): Relation[] {
  const relations = readRelations(archive, part);
  for (const { type } of relations) if (!KNOWN.has(type)) losses.add(`part ${type}`, place);
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
  return allOf(parseXml(archive.open(part)), tag).flatMap(({ attributes }) => {
    // `r:id` with any prefix: each file may choose another.
    const [, id = ""] = Object.entries(attributes).find(([name]) => name.endsWith(":id")) ?? [];
    const target = parts.get(id);
    const isHidden = /hidden/i.test(attributes.state ?? "");
    return target ? [{ name: attributes.name ?? "", part: target, isHidden }] : [];
  });
}

/** Limit of unpacked bytes per archive. */
const MAX_UNPACKED = 200_000_000;
const MAX_ENTRIES = 20_000;

/** Parts that are no text: they are unpacked only if another part includes them. */
const isText = (name: string) => /\.(?:xml|rels|vml)$/i.test(name);

/**
 * The parts of an Office file. Their names are the same in any case (ECMA-376, part 2), and some programs write them
 * with backslashes. Its texts are unpacked at once, each part once.
 */
export class Archive {
  readonly #bytes: Uint8Array;
  /** Name of each entry by its folded name. */
  readonly #entries = new Map<string, string>();
  readonly #texts: Record<string, Uint8Array>;
  /** Bytes to unpack at most. */
  #left = MAX_UNPACKED;

  /** @throws UnreadableError */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    let entries = 0;
    unzip(bytes, ({ name }) => {
      if (++entries > MAX_ENTRIES) throw new UnreadableError(`contains more than ${MAX_ENTRIES} parts`);
      this.#entries.set(folded(name), name);
      return false;
    });
    this.#texts = this.#unzipTexts();
  }

  has(name: string): boolean {
    return this.#entries.has(folded(name));
  }

  /** Returns a part; undefined if it does not exist. @throws UnreadableError if it is broken or too large */
  open(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(folded(name));
    if (entry === undefined) return undefined;
    this.#texts[entry] ??= this.#unzip((each) => each === entry)[entry] ?? new Uint8Array();
    return this.#texts[entry];
  }

  /** Returns a part that another one names. @throws UnreadableError if it is missing or broken */
  require(name: string): Uint8Array {
    const bytes = this.open(name);
    if (!bytes) throw new UnreadableError(`is incomplete: its part ${name} is missing`);
    return bytes;
  }

  /** A broken part is an error only if it is read. */
  #unzipTexts(): Record<string, Uint8Array> {
    try {
      return this.#unzip(isText);
    } catch (err) {
      if (this.#left < 0) throw err;
      this.#left = MAX_UNPACKED;
      return {};
    }
  }

  #unzip(isWanted: (name: string) => boolean): Record<string, Uint8Array> {
    return unzip(this.#bytes, ({ name, originalSize }) => {
      if (!isWanted(name)) return false;
      this.#left -= originalSize;
      if (this.#left >= 0) return true;
      throw new UnreadableError(`is larger than ${MAX_UNPACKED} bytes when decompressed`);
    });
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
