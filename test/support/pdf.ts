import { deflateSync } from "node:zlib";

/**
 * A PDF of one page whose content stream is this, deflated: for files that no program would make.
 *
 * @param font the font `F`, object 5, and the objects that follow it
 */
export function pdfOf(content: Buffer, font = ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]): Buffer {
  const page =
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>";
  return fileOf([page], [deflated("", content), ...font.map((object) => [Buffer.from(object)])]);
}

/** A PDF of several pages with these content streams, which show text with the font `F`. */
export function pagesPdf(contents: Buffer[]): Buffer {
  const font = 3 + 2 * contents.length;
  const pages = contents.map(
    (_, at) =>
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${3 + contents.length + at} 0 R/Resources<</Font<</F ${font} 0 R>>>>>>`,
  );
  const streams = contents.map((content) => deflated("", content));
  return fileOf(pages, [...streams, [Buffer.from("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")]]);
}

/**
 * A PDF of a few KB that takes longer to read than anybody waits, and hardly any memory: it draws one form, of a
 * letter and much that draws nothing, again and again. Two of different names differ.
 */
export function endlessPdf(name: string): Buffer {
  const font = "/Font<</F 6 0 R>>";
  const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>`;
  const draws = Buffer.from("/X Do\n".repeat(100_000));
  const nothing = "q Q\n".repeat(250_000);
  const form = Buffer.from(`% ${name}\nBT /F 12 Tf 50 700 Td (a) Tj ET\n${nothing}`);
  const letters = [Buffer.from("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")];
  return fileOf(
    [page],
    [
      deflated("", draws),
      deflated(`/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<<${font}>>`, form),
      letters,
    ],
  );
}

function deflated(entries: string, content: Buffer): Buffer[] {
  const data = deflateSync(content);
  const head = `<<${entries}/Length ${data.length}/Filter/FlateDecode>>\nstream\n`;
  return [Buffer.from(head), data, Buffer.from("\nendstream")];
}

/** A file whose pages are the objects from 3 on; the others follow them. */
function fileOf(pages: string[], others: Buffer[][]): Buffer {
  const kids = pages.map((_, at) => `${at + 3} 0 R`).join(" ");
  const objects = [
    [Buffer.from("<</Type/Catalog/Pages 2 0 R>>")],
    [Buffer.from(`<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`)],
    ...pages.map((page) => [Buffer.from(page)]),
    ...others,
  ];
  let file = Buffer.from("%PDF-1.4\n");
  const offsets = objects.map((parts, at) => {
    const offset = file.length;
    file = Buffer.concat([file, Buffer.from(`${at + 1} 0 obj\n`), ...parts, Buffer.from("\nendobj\n")]);
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}`;
  const trailer = `trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF`;
  return Buffer.concat([file, Buffer.from(table + trailer)]);
}
