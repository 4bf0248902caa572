import { type DragEvent, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import {
  type Document,
  type DocumentsUploadParams,
  type DocumentsUploadResult,
  FILE_TYPES,
  fileTypeOf,
} from "../../../../client/index.ts";
import { api, inSession } from "../../data/api.ts";
import { bytes, filled, number } from "../../data/format.ts";
import { useList, useRead, useReadShown } from "../../data/queries.ts";
import { base64 } from "../../data/save-file.ts";
import { Button } from "../../ui/button.tsx";
import { messageOf } from "../../ui/failure.tsx";
import { optionsOf } from "../../ui/field.tsx";
import { list, select, text, useForm } from "../../ui/form.tsx";
import { CircleAlert, CircleCheck, FileText, FileUp, SearchX } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { Found, SearchLine } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { DocumentStatus, kindInWords, READERS, Sensitivity } from "./words.tsx";
import "./documents.css";

const COLUMNS: Column<Document>[] = [
  column("Document", (document) => (
    <Titled to={`/documents/${document.document_id}`} title={document.filename}>
      {document.error ??
        `${kindInWords(document.mime_type)} · ${document.ingestion_source_name} · version ${document.version_num}`}
    </Titled>
  )),
  column("Status", (document) => <DocumentStatus document={document} />),
  wideColumn("Sensitivity", ({ sensitivity }) => <Sensitivity of={sensitivity} />),
  wideEndColumn("Chunks", (document) => number(document.chunk_count)),
  wideEndColumn("Size", (document) => bytes(document.byte_size)),
  endColumn("Uploaded", (document) => <Time at={document.created_at} />),
];

export function Documents() {
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Documents"
      lead="Reference documents that agents search and cite."
      above={
        <>
          <Drop />
          <SearchLine label="Search documents" placeholder="Search by words or meaning" />
        </>
      }
      instead={q && <Passages q={q} />}
      pages={useList(api.documents.list, {}, "documents", "document")}
      columns={COLUMNS}
      icon={FileText}
      none={
        <>
          Upload a manual, a contract or notes above. Agents find passages with{" "}
          <code>POST /v1/documents/search</code> and cite them.
        </>
      }
    />
  );
}

function Passages({ q }: { q: string }) {
  return (
    <Found
      of={useRead(api.documents.search, { query: q, limit: 20 }, [], { name: "found" })}
      label="Passages"
      hit={({ chunk, document, score }) => ({
        key: chunk.chunk_id,
        to: `/documents/${document.document_id}`,
        title: document.filename,
        text: document.mime_type === "text/markdown" ? <Plain>{chunk.text}</Plain> : chunk.text,
        score,
        facts: (
          <>
            {chunk.page_number && <span>Page {number(chunk.page_number)}</span>}
            <span>Chunk {number(chunk.chunk_index + 1)}</span>
          </>
        ),
      })}
      empty={
        <Empty icon={SearchX} title="No matching passages">
          Try other words. Only stored documents that you can read are searched.
        </Empty>
      }
    />
  );
}

interface Sending {
  key: number;
  name: string;
  size: number;
  /** Upload progress, 0..1. */
  part: number;
  state: "sending" | "accepted" | "refused";
  why?: string;
}

let next = 0;
/** A browser has six connections to a host, and the page needs some, too. */
const CONCURRENT_UPLOADS = 3;

/** Returns the uploads, latest first, and a function that adds some. */
function useUploads(readers: Readers) {
  const [files, setFiles] = useState<Sending[]>([]);
  const readShown = useReadShown();
  const change = (key: number, to: Partial<Sending>) =>
    setFiles((all) => all.map((file) => (file.key === key ? { ...file, ...to } : file)));
  const show = (file: File) => {
    const key = next++;
    setFiles((all) => [{ key, name: file.name, size: file.size, part: 0, state: "sending" }, ...all]);
    return { key, file };
  };
  const send = async ({ key, file }: ReturnType<typeof show>) => {
    try {
      const { accepted, error_code } = await upload(file, readers, (part) => change(key, { part }));
      if (!accepted)
        return change(key, { state: "refused", why: error_code ?? "The server refused the file." });
      change(key, { part: 1, state: "accepted" });
      void readShown();
    } catch (error) {
      change(key, { state: "refused", why: messageOf(error) });
    }
  };
  const take = (list: FileList | null) => {
    const waiting = [...(list ?? [])].map(show);
    const work = async () => {
      for (let each = waiting.shift(); each; each = waiting.shift()) await send(each);
    };
    for (let n = 0; n < CONCURRENT_UPLOADS; n++) void work();
  };
  return [files, take] as const;
}

/** Accepts files by drag and drop or selection, and shows the progress of each upload. */
function Drop() {
  const [readers, fields] = useForWhom();
  const [files, take] = useUploads(readers);
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent, isOver: boolean) => {
    event.preventDefault();
    setOver(isOver);
  };
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="stack tight">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button inside does the same */}
      <div
        className={over ? "drop over" : "drop"}
        onDragOver={(event) => drag(event, true)}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          drag(event, false);
          take(event.dataTransfer.files);
        }}
      >
        <FileUp aria-hidden size={22} className="faint" />
        <div className="grow">
          <p>
            <strong>Drop files here</strong> <span className="muted">or choose them.</span>
          </p>
          <p className="muted small">
            PDF, Word, PowerPoint, Excel, CSV, JSON, HTML, Markdown, e-mails or text. A file of the same name
            supersedes the earlier one.
          </p>
        </div>

        <Button label="Choose files" icon={FileUp} onClick={() => input.current?.click()} />
        <input
          ref={input}
          type="file"
          multiple
          className="visually-hidden"
          aria-label="Files to upload"
          tabIndex={-1}
          accept={Object.keys(FILE_TYPES)
            .map((extension) => `.${extension}`)
            .join()}
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />

        {fields}
      </div>
      {files.length > 0 && (
        <ul className="framed" aria-label="Uploads">
          {files.map((file) => (
            <li key={file.key} className={`sending ${file.state}`}>
              {file.state === "accepted" && <CircleCheck aria-hidden size={16} />}
              {file.state === "refused" && <CircleAlert aria-hidden size={16} />}
              <span className="truncate grow">{file.name}</span>
              <span className="muted small num">{bytes(file.size)}</span>
              {file.state === "sending" ? (
                <progress value={file.part} max={1} aria-label={`Uploading ${file.name}`} />
              ) : (
                <span className="small" role="status">
                  {file.state === "accepted" ? "Uploaded" : file.why}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const LEVELS = ["public", "internal", "confidential", "restricted"] as const;

/** A person has no team: what is theirs only they read. */
const forYou = (level: (typeof LEVELS)[number]) => READERS[level].replace("the uploader and its team", "you");

const AUDIENCE = {
  regions: list("Regions", { placeholder: "emea, apac" }),
  industries: list("Industries", { placeholder: "banking" }),
  product_lines: list("Product lines", { placeholder: "cards" }),
  segments: list("Segments", { placeholder: "enterprise" }),
};

const FOR_WHOM = {
  sensitivity: select("Sensitivity", optionsOf(LEVELS)),
  ...AUDIENCE,
  subject: text("Subject", {
    placeholder: "customer-4711",
    maxLength: 1000,
    hint: "The person or entity that the document is about. Erasing the subject erases the document.",
  }),
};

function useForWhom() {
  const form = useForm(FOR_WHOM, { sensitivity: "internal" });
  const { sensitivity, subject, ...audience } = form.values();
  const fields = (
    <div className="for-whom">
      {form.show("sensitivity", { hint: `Readers: ${forYou(sensitivity)}.` })}
      <details className="more-fields grow">
        <summary>Audience and subject</summary>
        <div className="audience">
          {(Object.keys(AUDIENCE) as (keyof typeof AUDIENCE)[]).map((name) => form.show(name))}
        </div>
        <p className="field-hint">Separated by commas. Searches can filter by these. Empty: everyone.</p>
        {form.show("subject")}
      </details>
    </div>
  );
  return [{ sensitivity, subject, audience: filled(audience) }, fields] as const;
}

type Readers = Pick<DocumentsUploadParams, "sensitivity" | "audience" | "subject">;

/** Uploads a file; `onProgress` gets the sent fraction (0..1). */
async function upload(
  file: File,
  readers: Readers,
  onProgress: (part: number) => void,
): Promise<DocumentsUploadResult> {
  const mime_type = fileTypeOf(file.name);
  if (!mime_type)
    throw new Error(
      `${file.name} has an unsupported type. Supported: ${Object.keys(FILE_TYPES).join(", ")}.`,
    );
  const params = { file_content: await base64(file), filename: file.name, mime_type, ...readers };
  return api.documents.upload(params, {
    fetch: inSession(fetchWithProgress(onProgress)),
    timeoutMs: 10 * 60_000,
  });
}

/** `fetch` reports no upload progress; XMLHttpRequest does. */
function fetchWithProgress(onProgress: (part: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((done, failed) => {
      const request = new XMLHttpRequest();
      request.open(init.method ?? "GET", String(input));
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value);
      });
      request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
      request.onload = () =>
        done(new Response(request.response, { status: request.status, headers: headersOf(request) }));
      request.onerror = () => failed(new TypeError("The connection was lost. Upload the file again."));
      request.onabort = () => failed(new DOMException("Aborted", "AbortError"));
      init.signal?.addEventListener("abort", () => request.abort());
      request.send(init.body as XMLHttpRequestBodyInit);
    });
}

function headersOf(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().trim().split(/\r?\n/);
  return new Headers(lines.filter(Boolean).map((line) => line.split(/:\s*(.*)/, 2) as [string, string]));
}
