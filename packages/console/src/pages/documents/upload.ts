import type { DocumentsUploadParams, DocumentsUploadResult } from "../../../../client/index.ts";
import { api, inSession } from "../../data/api.ts";
import { base64 } from "../../data/base64.ts";

/** Media types by file extension; the service accepts no others. */
const OFFICE = "application/vnd.openxmlformats-officedocument.";
export const KINDS = {
  pdf: "application/pdf",
  docx: `${OFFICE}wordprocessingml.document`,
  pptx: `${OFFICE}presentationml.presentation`,
  xlsx: `${OFFICE}spreadsheetml.sheet`,
  html: "text/html",
  htm: "text/html",
  md: "text/markdown",
  markdown: "text/markdown",
  txt: "text/plain",
  log: "text/plain",
} as const;

/** The audience and the subject of a file. */
export type Readers = Pick<DocumentsUploadParams, "audience" | "subject"> & {
  sensitivity: NonNullable<DocumentsUploadParams["sensitivity"]>;
};

export function kindOf(filename: string) {
  const extension = filename.split(".").pop()?.toLowerCase() ?? "";
  return extension in KINDS ? KINDS[extension as keyof typeof KINDS] : undefined;
}

/** Uploads a file; `onProgress` gets the sent fraction (0..1). */
export async function upload(
  file: File,
  readers: Readers,
  onProgress: (part: number) => void,
): Promise<DocumentsUploadResult> {
  const mime_type = kindOf(file.name);
  if (!mime_type)
    throw new Error(`${file.name} has an unsupported type. Supported: ${Object.keys(KINDS).join(", ")}.`);
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
