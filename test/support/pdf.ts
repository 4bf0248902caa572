import { deflateSync } from "node:zlib";

/** A PDF of one page whose content stream is this, deflated: for files that no program would make. */
export function pdfOf(content: Buffer): Buffer {
  const data = deflateSync(content);
  const objects = [
    [Buffer.from("<</Type/Catalog/Pages 2 0 R>>")],
    [Buffer.from("<</Type/Pages/Kids[3 0 R]/Count 1>>")],
    [
      Buffer.from("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"),
      Buffer.from("/Resources<</Font<</F 5 0 R>>>>>>"),
    ],
    [
      Buffer.from(`<</Length ${data.length}/Filter/FlateDecode>>\nstream\n`),
      data,
      Buffer.from("\nendstream"),
    ],
    [Buffer.from("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")],
  ];
  let file = Buffer.from("%PDF-1.4\n");
  const offsets = objects.map((parts, at) => {
    const offset = file.length;
    file = Buffer.concat([file, Buffer.from(`${at + 1} 0 obj\n`), ...parts, Buffer.from("\nendobj\n")]);
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 6\n0000000000 65535 f \n${offsets.join("")}`;
  const trailer = `trailer<</Size 6/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF`;
  return Buffer.concat([file, Buffer.from(table + trailer)]);
}
