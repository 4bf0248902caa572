import { describe, expect, test } from "@jest/globals";
import { pdfOf } from "../../../../test/support/pdf.ts";
import { parsePdf } from "../pdf-files.ts";

type Shown = [x: number, y: number, text: string, size?: number];

const show = ([x, y, text, size = 10]: Shown) => `BT /F ${size} Tf ${x} ${y} Td (${text}) Tj ET\n`;
const read = async (content: string, font?: string[]) => {
  const pages = await parsePdf(new Uint8Array(pdfOf(Buffer.from(content, "latin1"), font)));
  return pages.map(({ text }) => text).join("\f");
};
const layout = (...shown: Shown[]) => read(shown.map(show).join(""));
const utf16 = (text: string) => Buffer.from(text, "utf16le").swap16().toString("hex");
/** Texts at the same height, at these places. */
const row = (y: number, places: number[], ...texts: string[]): Shown[] =>
  texts.flatMap((text, at) => (text ? [[places[at] as number, y, text] as Shown] : []));

/** Widths of the letters of Helvetica, in thousandths of its size. */
const WIDTHS: Record<string, number> = {
  ...{ A: 667, B: 667, E: 667, F: 611, I: 278, L: 556, O: 778, R: 722, T: 611 },
};
const letters = (
  text: string,
  x: number,
  y: number,
  draw: (letter: string, x: number, y: number) => Shown[],
) => {
  let at = x;
  return [...text].flatMap((letter) => {
    const shown = draw(letter, at, y);
    at += ((WIDTHS[letter] as number) * 20) / 1000;
    return shown;
  });
};

describe("positions on a page of a PDF", () => {
  test("divide what is drawn to the left, above or over the end of another text", async () => {
    expect(await layout([480, 700, "12"], [50, 700, "Harbour rules"], [50, 660, "Ships wait."])).toBe(
      "Harbour rules 12\n\nShips wait.",
    );
    expect(await layout([50, 500, "Lower"], [50, 620, "Middle"], [50, 740, "Upper"])).toBe(
      "Upper\n\nMiddle\n\nLower",
    );
    const figure = await layout([90, 600, "7.25", 40], [70, 582, "knots", 12], [85, 568, "of wind"]);
    expect(figure).toBe("7.25\nknots\nof wind");
  });

  test.each<[string, string, string, string]>([
    ["UniCNS-UTF16-H", "CNS1", utf16("港口開放"), "港口開放"],
    ["GBK-EUC-H", "GB1", "b8dbbfdabfaab7c5", "港口开放"],
    ["90ms-RKSJ-V", "Japan1", "8d6082cd8a4a82ad", "港は開く"],
    ["KSC-EUC-H", "Korea1", "c7d7b1b8", "항구"],
    ["Identity-H", "Japan1", "0031002a00260033", "PIER"],
  ])(
    "have words in the encoding %s of a font that is not embedded",
    async (encoding, ordering, codes, expected) => {
      const font = [
        `<</Type/Font/Subtype/Type0/BaseFont/Depot/Encoding/${encoding}/DescendantFonts[6 0 R]>>`,
        `<</Type/Font/Subtype/CIDFontType0/BaseFont/Depot/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/FontDescriptor 7 0 R>>`,
        "<</Type/FontDescriptor/FontName/Depot/Flags 6/FontBBox[0 -120 1000 880]/ItalicAngle 0/Ascent 880/Descent -120/StemV 93>>",
      ];
      expect(await read(`BT /F 14 Tf 60 500 Td <${codes}> Tj ET`, font)).toBe(expected);
    },
  );

  test("put words drawn from right to left into their order", async () => {
    const words: Shown[] = [
      [120, 700, "noon"],
      [50, 700, "The"],
      [95, 700, "at"],
      [69, 700, "gate"],
    ];
    expect(await layout(...words)).toBe("The gate at noon");
  });

  test.each<[string, (letter: string, x: number, y: number) => Shown[]]>([
    [
      "each letter twice",
      (letter, x, y) => [
        [x, y, letter, 20],
        [x + 0.5, y, letter, 20],
      ],
    ],
    [
      "each letter with a shadow",
      (letter, x, y) => [
        [x + 1, y - 1, letter, 20],
        [x, y, letter, 20],
      ],
    ],
    ["each letter four times", (letter, x, y) => [0, 0.4, 0.8, 1.2].map((by) => [x + by, y, letter, 20])],
  ])("read text drawn again once: %s", async (_name, draw) => {
    expect(await layout(...letters("BILLABLE", 50, 700, draw))).toBe("BILLABLE");
    expect(await layout(...letters("TREE", 50, 700, draw), [50, 650, "Paid"])).toBe("TREE\n\nPaid");
  });

  test("read lines and pages drawn again once, and equal words in two places twice", async () => {
    const page: Shown[] = [
      [50, 700, "Pier four is closed."],
      [50, 686, "Use pier five."],
    ];
    expect(await layout(...page, ...page)).toBe("Pier four is closed.\nUse pier five.");
    expect(await layout([50, 700, "very", 10], [73, 700, "very", 10], [96, 700, "deep"])).toBe(
      "very very deep",
    );
  });

  test("read columns drawn row by row one after the other", async () => {
    const places = [50, 320];
    const text = await layout(
      [
        50,
        740,
        "Rules of the harbour of Lindau and of the islands in the lake, edition of the winter of 2031",
      ],
      ...row(716, places, "Ships of more than forty metres", "Cranes are booked a day ahead at"),
      ...row(702, places, "wait outside the mole until the", "the office, which also weighs the"),
      ...row(688, places, "pilot has come on board and the", "load and writes the bill for each"),
      ...row(674, places, "lights are green.", "hour that was begun."),
    );
    expect(text).toBe(
      "Rules of the harbour of Lindau and of the islands in the lake, edition of the winter of 2031\n\n" +
        "Ships of more than forty metres\nwait outside the mole until the\npilot has come on board and the\nlights are green.\n\n" +
        "Cranes are booked a day ahead at\nthe office, which also weighs the\nload and writes the bill for each\nhour that was begun.",
    );
  });

  test("read columns whose lines stand at different heights", async () => {
    const left = [
      ...["Ships of more than forty metres", "wait outside the mole until the", "pilot has come on board."],
    ];
    const right = ["Cranes are booked a day ahead", "at the office, which weighs the", "load."];
    const mixed = left.flatMap((text, at): Shown[] => [
      [50, 700 - 14 * at, text],
      [320, 695 - 14 * at, right[at] as string],
    ]);
    expect(await layout(...mixed)).toBe(`${left.join("\n")}\n\n${right.join("\n")}`);
  });

  test("keep the columns of a table with empty cells", async () => {
    const places = [50, 200, 300, 400];
    const text = await layout(
      [50, 760, "Stock of the depot in June, counted by two clerks on the last working day of the month"],
      ...row(730, places, "Part", "Shelf", "Count", "Note"),
      ...row(714, places, "Gasket 12 mm", "", "140", ""),
      ...row(698, places, "", "B2", "", "ordered"),
      ...row(682, places, "Impeller", "C1", "2", ""),
      [50, 650, "Counted twice."],
    );
    expect(text).toBe(
      "Stock of the depot in June, counted by two clerks on the last working day of the month\n\n" +
        "| Part | Shelf | Count | Note |\n| --- | --- | --- | --- |\n| Gasket 12 mm |  | 140 |  |\n|  | B2 |  | ordered |\n" +
        "| Impeller | C1 | 2 |  |\n\nCounted twice.",
    );
  });

  test("keep a table that is drawn column by column", async () => {
    const columns = [
      ["Pier", "North", "South"],
      ["Depth", "4 m", "6 m"],
      ["Crane", "A1", "B2"],
    ];
    const shown = columns.flatMap((texts, x) =>
      texts.map((text, y): Shown => [50 + 120 * x, 700 - 16 * y, text]),
    );
    expect(await layout(...shown)).toBe(
      "| Pier | Depth | Crane |\n| --- | --- | --- |\n| North | 4 m | A1 |\n| South | 6 m | B2 |",
    );
  });

  test("join the marks of a list to its items", async () => {
    const items = ["Close the gate", "Lock the shed", "Call the pilot"];
    const shown = items.flatMap((text, at): Shown[] => [
      [50, 700 - 14 * at, `${at + 1}.`],
      [80, 700 - 14 * at, text],
    ]);
    expect(await layout(...shown)).toBe("1. Close the gate\n2. Lock the shed\n3. Call the pilot");
  });

  test("put accents on the letters that they are drawn over", async () => {
    const font = ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"];
    const word = [
      [50, 700, "Gr"],
      [59.5, 700, "\u00a8"],
      [58.9, 700, "une T"],
      [84, 700, "\u00a8"],
      [83.9, 700, "ur"],
    ] as Shown[];
    expect(await read(word.map(show).join(""), font)).toBe("Grüne Tür");
  });

  test("read right to left what is written so, with its table", async () => {
    const names = [64, 65, 66, 67, 68, 69, 70].map((code) => `/afii576${code}`).join("");
    const widths = Array(91).fill(500).join(" ");
    const font = [
      `<</Type/Font/Subtype/Type1/BaseFont/Depot/FirstChar 32/LastChar 122/Widths[${widths}]/Encoding<</Type/Encoding/Differences[65${names}]>>/FontDescriptor 6 0 R>>`,
      "<</Type/FontDescriptor/FontName/Depot/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 900/Descent -200/StemV 80>>",
    ];
    const words: Shown[] = [
      [50, 740, "FED"],
      [70, 740, "12"],
      [85, 740, "CBA"],
    ];
    const table = [
      ...row(700, [400, 300, 200], "CBA", "DE", "F"),
      ...row(684, [400, 300, 200], "BA", "", "7"),
    ];
    const rows = [...table, ...row(668, [400, 300, 200], "FE", "3", "")];
    expect(await read([...words, ...rows].map(show).join(""), font)).toBe(
      "אבג 12 דהו\n\n| אבג | הד | ו |\n| --- | --- | --- |\n| אב |  | 7 |\n| הו | 3 |  |",
    );
  });

  test("tell raised text from another line", async () =>
    expect(await layout([50, 700, "Area: 12 m"], [99, 704, "2", 6], [105, 700, "of floor"])).toBe(
      "Area: 12 m2 of floor",
    ));

  test("read text that is turned upwards for itself", async () => {
    const turned =
      "BT /F 10 Tf 0 1 -1 0 30 100 Tm (Draft of) Tj ET BT /F 10 Tf 0 1 -1 0 42 100 Tm (the winter) Tj ET\n";
    expect(
      await read(
        turned + show([50, 700, "Ships wait."]) + show([50, 686, "Cranes too."]) + show([50, 672, "End"]),
      ),
    ).toBe("Ships wait.\nCranes too.\nEnd\n\nDraft of\nthe winter");
  });
});
