import { strToU8, type Zippable, zipSync } from "fflate";

import { Losses } from "../../../services/remember/documents/parsers/page.ts";
import { parseDocument } from "../../../services/remember/documents/parsers/parse.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";
export const DOCX = `${OFFICE}wordprocessingml.document`;
export const PPTX = `${OFFICE}presentationml.presentation`;
export const XLSX = `${OFFICE}spreadsheetml.sheet`;
const module = import.meta.resolve("../read.ts");
export const readers = { [DOCX]: module, [PPTX]: module, [XLSX]: module };

/** Parts of an Office file by name; the relations of each have the ids r0, r1 and so on. */
export interface OfficeParts {
  [name: string]: string | Uint8Array | { xml: string; related: [type: string, target: string][] };
}

/** Returns an Office file of these parts, the first as its main one. */
export function officeFile(parts: OfficeParts): Uint8Array {
  const [main = ""] = Object.keys(parts);
  const files: Zippable = { "_rels/.rels": strToU8(relations([["officeDocument", main]])) };
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === "string") files[name] = strToU8(part);
    else if (part instanceof Uint8Array) files[name] = part;
    else {
      files[name] = strToU8(part.xml);
      const at = name.lastIndexOf("/") + 1;
      files[`${name.slice(0, at)}_rels/${name.slice(at)}.rels`] = strToU8(relations(part.related));
    }
  }
  return zipSync(files);
}

const relations = (related: [type: string, target: string][]) =>
  `<Relationships>${related
    .map(([type, target], at) => `<Relationship Id="r${at}" Type="office/${type}" Target="${target}"/>`)
    .join("")}</Relationships>`;

/** A Word document with this body. */
export const wordFile = (
  body: string,
  related: [type: string, target: string][] = [],
  parts: OfficeParts = {},
) =>
  officeFile({
    "word/document.xml": { xml: `<w:document><w:body>${body}</w:body></w:document>`, related },
    ...parts,
  });

/** A paragraph of runs. */
export const wordParagraph = (...runs: string[]) => `<w:p>${runs.join("")}</w:p>`;
export const wordRun = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;

/** A presentation with one slide of these shapes. */
export const slideFile = (
  shapes: string,
  related: [type: string, target: string][] = [],
  parts: OfficeParts = {},
) =>
  officeFile({
    "ppt/presentation.xml": {
      xml: '<p:presentation><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>',
      related: [["slide", "slide1.xml"]],
    },
    "ppt/slide1.xml": { xml: `<p:sld><p:cSld>${shapes}</p:cSld></p:sld>`, related },
    ...parts,
  });

/** A shape with one line of text. */
export const slideShape = (text: string, properties = "") =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name="Box" ${properties}/></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;

/** A workbook with one sheet, S, of these rows. */
export const sheetFile = (
  rows: string,
  { related = [], parts = {}, styles = "", workbook = "" }: SheetOptions = {},
) =>
  officeFile({
    "xl/workbook.xml": {
      xml: `<workbook>${workbook}<sheets><sheet name="S" r:id="r0"/></sheets></workbook>`,
      related: [
        ["worksheet", "sheet1.xml"],
        ["styles", "styles.xml"],
        ["person", "persons.xml"],
      ],
    },
    "xl/sheet1.xml": { xml: `<worksheet>${rows}</worksheet>`, related },
    "xl/styles.xml": styles || "<styleSheet/>",
    ...parts,
  });

interface SheetOptions {
  /** Relations of the sheet. */
  related?: [type: string, target: string][];
  parts?: OfficeParts;
  styles?: string;
  /** Settings before the list of sheets. */
  workbook?: string;
}

/** Parses a document on a server with this extension. */
export const parseOffice = (bytes: Uint8Array, mime_type: string, losses = new Losses()) =>
  parseDocument(bytes, mime_type, losses, { readers });
