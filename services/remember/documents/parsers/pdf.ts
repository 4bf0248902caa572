import { getDocumentProxy } from "unpdf";
import { type Page, UnreadableError } from "./page.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** A gap between lines of this many times their height starts a new paragraph. */
const PARAGRAPH_GAP = 1.7;

/** Returns the text of each page in file order, without text in images. */
export async function readPdf(bytes: Uint8Array): Promise<Page[]> {
  const pdf = await open(bytes);
  const pages: Page[] = [];
  for (let page = 1; page <= pdf.numPages; page++) {
    pages.push({ page, text: await textOf(pdf, page) });
  }
  return pages;
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0, stopAtErrors: false });
  } catch (err) {
    if ((err as Error).name === "PasswordException")
      throw new UnreadableError("is encrypted: upload it without a password");
    throw new UnreadableError("is damaged or incomplete");
  }
}

async function textOf(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const text: string[] = [];
  let lastY: number | null = null;
  for (const item of items) {
    if (!("str" in item)) continue;
    const y = item.transform[5] as number;
    if (item.str && lastY !== null && lastY - y > item.height * PARAGRAPH_GAP) text.push("\n");
    if (item.str) lastY = y;
    text.push(item.str, item.hasEOL ? "\n" : "");
  }
  page.cleanup();
  return text.join("");
}
