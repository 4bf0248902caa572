import { describe, expect, test } from "@jest/globals";
import { chunkPages } from "../../services/remember/documents/chunks.ts";
import { Losses } from "../../services/remember/documents/parsers/page.ts";
import { parseDocument } from "../../services/remember/documents/parsers/parse.ts";

async function read(given: string, type: string) {
  const losses = new Losses();
  const pages = await parseDocument(Buffer.from(given), type, losses);
  return { text: pages.map(({ text }) => text).join("\f"), losses: `${losses}`, pages };
}
const csv = async (given: string, type = "text/csv") => (await read(given, type)).text;
const json = async (given: string, type = "application/json") => (await read(given, type)).text;

/** A Markdown table of these rows, with cells divided by commas. */
function table(header: string, ...rows: string[]): string {
  const line = (row: string) => `| ${row.split(",").join(" | ")} |`;
  return [line(header), `|${" --- |".repeat(header.split(",").length)}`, ...rows.map(line)].join("\n");
}

describe("a table of values", () => {
  test.each<[string, string, string]>([
    [
      "quoted cells",
      'pier,keeper\r\n4,"Lund, Ida\nnight"\r\n',
      "| pier | keeper |\n| --- | --- |\n| 4 | Lund, Ida night |",
    ],
    ["a byte order mark", "\ufeffpier,depth\n4,7", table("pier,depth", "4,7")],
    [
      "semicolons, and commas in numbers",
      "pier;depth\n4;7,5\n5;8,5",
      "| pier | depth |\n| --- | --- |\n| 4 | 7,5 |\n| 5 | 8,5 |",
    ],
    ["a delimiter that it names", "sep=|\npier|depth\n4|7", table("pier,depth", "4,7")],
    ["rows of other lengths", "pier,depth\n4\n5,8,deep\n,,\n", table("pier,depth", "4", "5,8,deep")],
    [
      "titles before it",
      "Soundings of June\n\npier,depth\n4,7",
      `Soundings of June\n\n${table("pier,depth", "4,7")}`,
    ],
    ["one column", "pier\nnorth\nsouth", table("pier", "north", "south")],
    [
      "no header",
      "4,2025-06-01,7.5\n5,2025-06-02,8.5",
      table("Column 1,Column 2,Column 3", "4,2025-06-01,7.5", "5,2025-06-02,8.5"),
    ],
    ["years as names", "pier,2024,2025\n4,1700,1800", table("pier,2024,2025", "4,1700,1800")],
    ["a header alone", "pier,depth", table("pier,depth")],
  ])("with %s", async (_what, given, expected) => expect(await csv(given)).toBe(expected));

  test("of tabs, in which commas are text", async () =>
    expect(await csv("pier\tkeeper\n4\tLund, Ida", "text/tab-separated-values")).toBe(
      "| pier | keeper |\n| --- | --- |\n| 4 | Lund, Ida |",
    ));

  test("a quote that never ends leaves the rows after it, and is said", async () =>
    expect(await read('pier,note\n4,"open\n5,shut', "text/csv")).toMatchObject({
      text: table("pier,note", '4,"open', "5,shut"),
      losses: "1 quote without an end (row 2)",
    }));

  test("each chunk has the names of the columns", async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `${at},north pier,${at * 3}`);
    const { pages } = await read(["berth,place,depth", ...rows].join("\n"), "text/csv");
    const chunks = chunkPages(pages);
    expect(chunks.length).toBeGreaterThan(3);
    for (const { text } of chunks) expect(text).toMatch(/^\| berth \| place \| depth \|\n/);
  });

  test("too many columns to repeat stand with their values", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `sounding ${at}`);
    const text = await csv(`${names.join()}\n${names.map((_, at) => (at % 2 ? "" : at)).join()}`);
    expect(text).toContain("\n\nsounding 0: 0\nsounding 2: 2\n");
  });

  test.each([
    ["no text", ",,\n,,\n", "contains no text"],
    ["too many columns", "4,".repeat(16_385), "has more than 16384 columns"],
    ["too much text", "4".repeat(10_000_001), "too many characters"],
    ["too much text as a table", "4,7\n".repeat(1_300_000), "too many characters"],
  ])("with %s is refused", (_what, given, reason) => expect(csv(given)).rejects.toThrow(reason));
});

describe("JSON", () => {
  test("is lines with their keys, as it is written", async () => {
    const order =
      '{"id": 90071992547409931, "total": 1.50, "paid": false, "to": {"city": "Lind\\u0061u", "note": null}}';
    const more = '{"items": [{"sku": "A"}, {"sku": "B", "sizes": [[1, 2], "XL"]}], "none": [], "": " "}';
    expect(await json(`[${order}, ${more}]`)).toBe(
      "id: 90071992547409931\ntotal: 1.50\npaid: false\nto.city: Lindau\nto.note: null\n\n" +
        "items[0].sku: A\n\nitems[1].sku: B\nitems[1].sizes[0]: 1, 2\nitems[1].sizes: XL",
    );
  });

  test.each(["application/jsonl", "application/x-ndjson"])("of %s is a record for each line", async (type) =>
    expect(await json('{"pier": 4}\n\n{"pier": 5}\n', type)).toBe("pier: 4\n\npier: 5"),
  );

  test.each([
    ['{"a": 1,\n}', 'line 2 has "}" where a key in double quotes is expected'],
    ['{"a": 1}\n{"a" 2}', 'line 2 has "2}" where a colon is expected'],
    ["[1,\n\n02]", 'line 3 has "02]" where a value is expected'],
    ['["a\nb"]', 'line 1 has ""a" where a value is expected'],
    ['{"a": [1', "line 1 ends where a comma or ] is expected"],
    ["[".repeat(300), "is nested too deeply"],
  ])("that is not valid is refused with its line: %j", (given, reason) =>
    expect(json(given)).rejects.toThrow(reason),
  );
});

describe("an e-mail", () => {
  const header =
    "From: Ida Lund <ida@harbour.test>\nTo: =?utf-8?q?B=C3=B8?= <bo@harbour.test>, crew@harbour.test\n";
  const part = (type: string, name: string, content: string) =>
    `--b\nContent-Type: ${type}\nContent-Disposition: attachment; filename="${name}"\n\n${content}\n`;
  const mixed = (...parts: string[]) =>
    `Content-Type: multipart/mixed; boundary=b\n\n${parts.join("")}--b--\n`;

  test("has its header, its text and its attachments; the others are listed", async () => {
    const inner = `Subject: Old news\nContent-Type: text/html\n\n<p>Tides&nbsp;<b>moved</b></p>`;
    const mail =
      `${header}Subject: Crane\nDate: Tue, 3 Jun 2025 10:00:00 +0200\n` +
      mixed(
        "--b\n\nIt stands.\n",
        part("application/octet-stream", "depths.csv", "pier,depth\n4,7"),
        part("application/zip", "all.zip", "PK"),
        part("image/png", "crane.png", "PNG"),
        `--b\nContent-Type: message/rfc822\n\n${inner}\n`,
      );
    expect(await read(mail, "message/rfc822")).toMatchObject({
      text:
        "# Crane\n\nFrom: Ida Lund <ida@harbour.test>\nTo: Bø <bo@harbour.test>, crew@harbour.test\n" +
        "Date: Tue, 3 Jun 2025 10:00:00 +0200\n\nIt stands.\f" +
        `Attachment: depths.csv\n\n${table("pier,depth", "4,7")}\f` +
        "Attachment: message\n\n# Old news\n\nTides moved",
      losses:
        "1 attachment (all.zip, which has the type application/zip, which is not supported), 1 picture (crane.png)",
    });
  });

  test("within others too often is listed", async () => {
    let mail = `${header}\nDeep`;
    for (let at = 0; at < 4; at++) {
      const around = `${header}${mixed(part("message/rfc822", `${at}.eml`, "MAIL"))}`;
      mail = around.replace(/(boundary=|--)b/g, `$1${at}`).replace("MAIL", mail);
    }
    const { text, losses } = await read(mail, "message/rfc822");
    expect(text).not.toContain("Deep");
    expect(losses).toBe("1 attachment (3.eml: 2.eml: 1.eml: 0.eml, which is nested too deeply)");
  });

  test("begins with a header", () =>
    expect(read("It stands.", "message/rfc822")).rejects.toThrow(
      "is not an e-mail: it begins with no header",
    ));
});
