import { posix } from "node:path";
import type { Archive } from "./archive.ts";
import { readXml } from "./xml.ts";

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
