import { Fault, ruleBroken } from "../lib/contract/faults.ts";
import { derivedId, newId } from "../lib/ids.ts";

/** Returns an id in the sender's domain. */
export function messageId(from: string, seed: string | undefined): string {
  const domain = /@([^\s>]+)/.exec(from)?.[1] ?? "localhost";
  return `<${seed ? derivedId("evt", seed) : newId("evt")}@${domain}>`;
}

interface MailSettings {
  url: string;
  from: string;
}

interface Mail {
  to: string;
  subject: string;
  text: string;
  html?: string;
  attachments?: { filename: string; content: Buffer; contentType: string }[];
  /** The same for a repeated mail, so that mail programs show it once. */
  messageId: string;
}

const TIMEOUT_MS = 10_000;
/** A server that does not answer now may do so later. */
const RETRY_SECONDS = 60;

/** Sends an e-mail. @throws Fault service_unavailable, business_rule_violation (rule `recipient_refused`) */
export async function sendMail({ url, from }: MailSettings, mail: Mail): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const waits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: 2 * TIMEOUT_MS };
  const transport = createTransport({ url, ...waits, disableFileAccess: true, disableUrlAccess: true });
  try {
    await transport.sendMail({ from, ...mail });
  } catch (err) {
    throw toFault(err as { code?: string; responseCode?: number; command?: string }, mail.to);
  } finally {
    transport.close();
  }
}

function toFault(
  { responseCode = 0, command = "" }: { responseCode?: number; command?: string },
  to: string,
) {
  if (responseCode >= 500 && /^(RCPT|DATA)/.test(command)) {
    const message = `The mail server refuses e-mail to ${to} (${responseCode}). Check the address.`;
    return ruleBroken("recipient_refused", message);
  }
  const message = `The mail server does not accept e-mail right now. Retry in ${RETRY_SECONDS} s.`;
  return new Fault("service_unavailable", message, { retry_after_seconds: RETRY_SECONDS });
}
