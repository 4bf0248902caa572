import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { FILE_TYPES, fileTypeOf } from "../generated/file-types.ts";
import type { Loss } from "../generated/types.ts";
import { pause } from "../support.ts";
import type { Style } from "./colour.ts";
import { type Command, type Context, count, optionalChoice, text, word } from "./command.ts";
import { notePeople } from "./events.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { Failure, UsageError } from "./usage.ts";

const LEVELS = ["public", "internal", "confidential", "restricted"] as const;
const STATES = ["queued", "chunking", "embedding", "stored", "failed", "superseded"] as const;

const COLOURS: Record<string, Style> = { stored: "green", failed: "red" };

const add: Command = {
  takes: "FILE",
  does: "Uploads a document; its passages are searched once it is stored.",
  options: {
    name: { value: "NAME", means: "its name; versions of a document share it. Default: that of the file" },
    sensitivity: { value: LEVELS.join("|"), means: "who may read it; default: internal" },
    subject: { value: "TEXT", means: "whom it is about, such as a customer's id; erasure finds it by this" },
    wait: { means: "until it is stored; fails if that fails" },
  },
  examples: ["document add handbook.pdf --sensitivity internal --wait"],
  async run(context) {
    const file = word(context, 0, "FILE");
    const filename = text(context, "name") ?? basename(file);
    const mime_type = fileTypeOf(filename);
    if (!mime_type)
      throw new UsageError(
        `${filename}: expected a name that ends in .${Object.keys(FILE_TYPES).join(", .")}.`,
      );
    const bytes = await readWithin(context, file, mime_type);
    const sensitivity = optionalChoice(context, "sensitivity", LEVELS);
    const subject = text(context, "subject");
    const uploaded = await context.client.documents.upload(
      {
        file_content: bytes.toString("base64"),
        filename,
        mime_type,
        ...(sensitivity && { sensitivity }),
        ...(subject && { subject }),
      },
      { signal: context.signal },
    );
    if (!uploaded.accepted) throw new Failure(`Not accepted: ${uploaded.error_code}.`, "not_accepted");
    const { document_id } = uploaded;
    if (!context.options.wait || !document_id)
      return context.print(uploaded, `${document_id} ${uploaded.status}`);
    const { status, error, losses } = await ingested(context, document_id);
    if (status === "failed")
      throw new Failure(`${filename} was not stored: ${error} (${document_id})`, "not_stored");
    const said = losses.map((loss) => `Not read: ${lossInWords(loss)}`);
    context.print({ ...uploaded, status, losses }, [`${document_id} ${status}`, ...said].join("\n"));
  },
};

const lossInWords = ({ kind, place, count }: Loss) => `${count} × ${kind}: ${place}`;

/** Above this the service is asked what it takes, before a document is sent that it would refuse. */
const LARGE_BYTES = 1_000_000;
/** Of others the service reads only a part. */
const PLAIN = new Set(["text/plain", "text/markdown"]);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Reads a file that the service takes. @throws Failure if it cannot be read, or is too large */
async function readWithin(context: Context, file: string, mime_type: string): Promise<Buffer> {
  const { client, host, signal } = context;
  const path = host.pathOf(file);
  const unreadable = ({ message }: Error) => {
    throw new Failure(`${file} cannot be read: ${message}`, "unreadable_file");
  };
  const { size } = await stat(path).catch(unreadable);
  if (size <= LARGE_BYTES) return readFile(path).catch(unreadable);
  const { largest_bytes, largest_text } = await client.tenants.limits({}, { signal });
  if (size > largest_bytes.document) {
    const most = `the service takes up to ${megabytes(largest_bytes.document)} (DOCUMENT_MAX_BYTES)`;
    throw new Failure(`${file} has ${megabytes(size)}: ${most}.`, "not_accepted");
  }
  const bytes = await readFile(path).catch(unreadable);
  const length = PLAIN.has(mime_type) && isUtf8(bytes) ? bytes.toString().length : 0;
  if (length > largest_text)
    throw new Failure(
      `${file} has ${length} characters: the service reads up to ${largest_text}.`,
      "not_accepted",
    );
  notePeople(context, `Uploading ${file}, ${megabytes(size)} …`);
  return bytes;
}

const IN_WORK = ["queued", "chunking", "embedding"];
const ASK_AGAIN_MS = 500;

/** Returns the document once it is stored, failed or superseded. */
async function ingested(context: Context, document_id: string) {
  const { client, signal } = context;
  for (let status = ""; ; ) {
    const document = await client.documents.get({ document_id }, { signal });
    if (!IN_WORK.includes(document.status)) return document;
    if (document.status !== status) notePeople(context, `${document.filename}: ${document.status} …`);
    status = document.status;
    await pause(ASK_AGAIN_MS, signal);
  }
}

const list: Command = {
  takes: "",
  does: "Lists documents, latest first.",
  options: { status: { value: STATES.join("|"), means: "only this status" }, ...LIMIT },
  examples: ["document list --status failed"],
  async run(context) {
    const status = optionalChoice(context, "status", STATES);
    const documents = await takeFirst(context, context.client.documents.list, status ? { status } : {});
    context.table(
      documents,
      documents,
      [
        ["ID", ({ document_id }) => document_id],
        ["STATUS", ({ status }) => status, ({ status }) => COLOURS[status]],
        ["SENSITIVITY", ({ sensitivity }) => sensitivity],
        ["CREATED", ({ created_at }) => age(created_at)],
        ["NAME", ({ filename, error }) => (error ? `${filename}: ${error}` : filename)],
      ],
      "No documents.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows a document's state.",
  async run(context) {
    const document_id = word(context, 0, "ID");
    const document = await context.client.documents.get({ document_id }, { signal: context.signal });
    const { filename, version_num, status, error, sensitivity, subject, byte_size, chunk_count, created_at } =
      document;
    const details = () =>
      formatDetails([
        ["Name", `${filename} (version ${version_num})`],
        ["Id", document_id],
        ["Status", status],
        ["Error", error],
        ["Sensitivity", sensitivity],
        ["Subject", subject],
        ["Size", `${byte_size} bytes, ${chunk_count} passages`],
        ["Created", `${created_at} (${age(created_at)})`],
        ...document.losses.map((loss): [string, string] => ["Not read", lossInWords(loss)]),
      ]);
    context.print(document, details);
  },
};

const search: Command = {
  takes: "QUERY",
  does: "Searches the passages of documents, best first.",
  options: { limit: { value: "N", means: "maximum number of passages; default: 5" } },
  async run(context) {
    const params = { query: word(context, 0, "QUERY"), limit: count(context, "limit", 5) };
    const result = await context.client.documents.search(params, { signal: context.signal });
    const shown = result.results.map(
      ({ chunk, document, score }) =>
        `${score.toFixed(2)}  ${document.filename}  (${document.document_id})\n  ${chunk.text.trim().replaceAll("\n", "\n  ")}`,
    );
    context.print(result, shown.length ? shown.join("\n\n") : "No matching passages.");
  },
};

const remove: Command = {
  takes: "ID",
  does: "Deletes a document with its passages.",
  async run(context) {
    const document_id = word(context, 0, "ID");
    const { client, signal } = context;
    const { ingestion_source_id } = await client.documents.get({ document_id }, { signal });
    const params = { document_id, source_id: ingestion_source_id };
    const result = await client.documents.delete(params, { signal });
    context.print(result, `${document_id} deleted.`);
  },
};

export const DOCUMENTS: Record<string, Command> = {
  "document add": add,
  "document list": list,
  "document show": show,
  "document search": search,
  "document delete": remove,
};
