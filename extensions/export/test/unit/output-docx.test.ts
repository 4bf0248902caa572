import { expect, test } from "@jest/globals";
import { strFromU8, unzipSync } from "fflate";
import { DomUtils, parseDocument } from "htmlparser2";
import { renderDocx } from "../../docx.ts";

type Element = Parameters<typeof DomUtils.getText>[0];

const all = (name: string, within: Element) => DomUtils.getElementsByTagName(name, within);
const attribute = (name: string, within: Element, key = "w:val") => {
  const [found] = all(name, within);
  return found && DomUtils.getAttributeValue(found, key);
};

/** The paragraphs of a file with what Word puts before them: it counts by the lists' definitions (ECMA-376, 17.9). */
async function shown(markdown: string): Promise<string[]> {
  const files = unzipSync(await renderDocx(markdown, "A title"));
  const part = (name: string) =>
    parseDocument(strFromU8(files[`word/${name}.xml`] as Uint8Array), { xmlMode: true });
  const [numbering, document] = [part("numbering"), part("document")];
  const named = (tag: string, key: string) =>
    new Map(all(tag, numbering).map((each) => [DomUtils.getAttributeValue(each, key), each]));
  const [lists, definitions] = [named("w:num", "w:numId"), named("w:abstractNum", "w:abstractNumId")];
  const counts = new Map<string, number>();
  const begun = new Set<string>();

  function markerOf(paragraph: Element): string {
    const [properties] = all("w:numPr", paragraph);
    if (!properties) return "";
    const level = Number(attribute("w:ilvl", properties));
    const id = attribute("w:numId", properties);
    const list = lists.get(id) as Element;
    const definition = attribute("w:abstractNumId", list) as string;
    const [format] = all("w:lvl", definitions.get(definition) as Element).filter(
      (each) => DomUtils.getAttributeValue(each, "w:ilvl") === String(level),
    );
    const text = attribute("w:lvlText", format as Element) as string;
    if (attribute("w:numFmt", format as Element) === "bullet") return `${text} `;
    const [override] = all("w:lvlOverride", list).filter(
      (each) => DomUtils.getAttributeValue(each, "w:ilvl") === String(level),
    );
    const place = `${definition} ${level}`;
    const before = counts.get(place);
    const isNew = !begun.has(`${id} ${level}`);
    begun.add(`${id} ${level}`);
    const count = isNew ? Number(attribute("w:startOverride", override as Element)) : (before as number) + 1;
    counts.set(place, count);
    return `${text.replace(`%${level + 1}`, String(count))} `;
  }

  return all("w:p", document).map((paragraph) => {
    const level = Number(attribute("w:ilvl", paragraph) ?? 0);
    return `${"  ".repeat(level)}${markerOf(paragraph)}${DomUtils.getText(all("w:t", paragraph))}`;
  });
}

test("bulleted, numbered and within each other; each counts for itself", async () => {
  const markdown = `
1. One
2. Two
   - inner
     1. deep
   - more

   Of two as well
3. Three
   1. first
   2. second
4. Four
   1. anew

Between

1. Anew
2. Two
`;
  expect((await shown(`# A title\n${markdown}`)).slice(1)).toEqual([
    ...["1. One", "2. Two", "  ◦ inner", "    1. deep", "  ◦ more", "Of two as well", "3. Three"],
    ...["  1. first", "  2. second", "4. Four", "  1. anew", "Between", "1. Anew", "2. Two"],
  ]);
});

test("begin where the text lets them", async () => {
  const markdown = "# A title\n\n0. zero\n1. one\n\n7) seven\n8) eight\n\n   12. twelve\n   13. thirteen\n";
  expect((await shown(markdown)).slice(1)).toEqual([
    ...["0. zero", "1. one", "7. seven", "8. eight", "  12. twelve", "  13. thirteen"],
  ]);
});

test("are not to be confused with what a text says in braces", async () => {
  const [, item, text] = await shown("# A title\n\n- one\n\n{bullets-0} `{bullets-0}` {numbers-0}\n");
  expect([item, text]).toEqual(["• one", "{bullets-0} {bullets-0} {numbers-0}"]);
});

test("tasks have their boxes, behind the number where there is one", async () => {
  const markdown = "# A title\n\n- [ ] open\n- [x] done\n\n1. [x] first\n2. second\n";
  expect((await shown(markdown)).slice(1)).toEqual(["☐ open", "☑ done", "1. ☑ first", "2. second"]);
});

test("beyond what Word counts and how deep it goes the marker is text", async () => {
  expect((await shown("# A title\n\n32767. last\n32768. over\n")).slice(1)).toEqual([
    "32767.\tlast",
    "32768.\tover",
  ]);
  const deep = Array.from({ length: 11 }, (_, n) => `${"   ".repeat(n)}1. level ${n}`).join("\n");
  const lines = await shown(`# A title\n\n${deep}`);
  expect(lines.slice(9)).toEqual([`${"  ".repeat(8)}1. level 8`, "1.\tlevel 9", "1.\tlevel 10"]);
});
