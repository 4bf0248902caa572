import { posix } from "node:path";
import type { Archive } from "./archive.ts";
import { readXml } from "./xml.ts";

/** A part that another one refers to. */
interface Relation {
  id: string;
  /** The last word of its type: `slide`, `worksheet`, `notesSlide`. */
  type: string;
  /** Its name in the archive. */
  part: string;
}

/** The part that an Office file begins with: the one it names in the folder of the usual one, or that one. */
export function mainPart(archive: Archive, usual: string): string {
  const named = relationsOf(archive, "").find(({ type }) => type === "officeDocument")?.part ?? usual;
  return posix.dirname(named) === posix.dirname(usual) && archive.names.has(named) ? named : usual;
}

/** What a part of an Office file (or "", all of it) refers to, in the order it says so; nothing when it has no relations. */
export function relationsOf(archive: Archive, part: string): Relation[] {
  const { dir, base } = posix.parse(part);
  const name = posix.join(dir, "_rels", `${base}.rels`);
  const bytes = archive.open([name]).get(name);
  const relations: Relation[] = [];
  if (!bytes) return relations;
  readXml(bytes, {
    open(tag, { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode }) {
      if (tag !== "Relationship" || mode === "External") return;
      const path = target.startsWith("/") ? target.slice(1) : posix.join(dir, target);
      relations.push({ id, type: type.slice(type.lastIndexOf("/") + 1), part: path });
    },
  });
  return relations;
}

/** The parts that a list in `part` names by their relations, in its order: the slides of a show, the sheets of a book. */
export function listedParts(archive: Archive, part: string, tag: string): { name: string; part: string }[] {
  const parts = new Map(relationsOf(archive, part).map((relation) => [relation.id, relation.part]));
  const listed: { name: string; part: string }[] = [];
  const bytes = archive.open([part]).get(part);
  if (bytes) {
    readXml(bytes, {
      open(name, attributes) {
        const target = name === tag && parts.get(relationIn(attributes));
        if (target) listed.push({ name: attributes.name ?? "", part: target });
      },
    });
  }
  return listed;
}

/** `r:id`, whatever the prefix is: each file may choose another. */
function relationIn(attributes: Record<string, string>): string {
  return Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "";
}
