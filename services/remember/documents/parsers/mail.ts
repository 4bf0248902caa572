import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { htmlText } from "../../../../lib/text/html.ts";
import { type Losses, type Page, type ReadContext, UnreadableError } from "./page.ts";

/**
 * Returns an e-mail with its subject, its addresses and its time, and then each attachment that can be read. The others
 * are losses.
 */
export async function readMail(bytes: Uint8Array, context: ReadContext): Promise<Page[]> {
  const mail = await PostalMime.parse(bytes, { forceRfc822Attachments: true });
  if (!mail.headers.some(({ value }) => value))
    throw new UnreadableError("is not an e-mail: it begins with no header");
  const pages = [{ page: null, text: mailText(mail, context.losses) }];
  for (const attachment of mail.attachments) {
    const text = await readAttachment(attachment, context);
    if (text) pages.push({ page: null, text: `Attachment: ${attachment.filename ?? "message"}\n\n${text}` });
  }
  return pages;
}

function mailText({ headers, subject, from, to, cc, text, html }: Email, losses: Losses): string {
  const date = headers.find(({ key }) => key === "date")?.value;
  const about = [
    from && `From: ${named(from)}`,
    to?.length && `To: ${to.map(named).join(", ")}`,
    cc?.length && `Cc: ${cc.map(named).join(", ")}`,
    date && `Date: ${date}`,
  ];
  const body = text?.trim() ? text : htmlText(html ?? "", (kind) => losses.add(kind, "text"));
  return [subject && `# ${subject}`, about.filter(Boolean).join("\n"), body].filter(Boolean).join("\n\n");
}

function named({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(named).join(", ")}`;
  return name && address ? `${name} <${address}>` : (address ?? name);
}

async function readAttachment(attachment: Attachment, { losses, readWithin }: ReadContext): Promise<string> {
  const { filename, mimeType, content } = attachment;
  const name = filename ?? mimeType;
  if (mimeType.startsWith("image/")) {
    losses.add("picture", name);
    return "";
  }
  try {
    return await readWithin(new Uint8Array(content as ArrayBuffer), name, mimeType);
  } catch (err) {
    if (!(err instanceof UnreadableError)) throw err;
    losses.add("attachment", `${name}, which ${err.message}`);
    return "";
  }
}
