import { readText } from "../../lib/http/content-encoding.ts";
import {
  type Converted,
  type DocumentConverter,
  NotConvertible,
  type Original,
} from "../../services/remember/documents/converter.ts";

export const CONVERTERS = ["docling", "tika", "unstructured"] as const;

interface Adapter {
  path: string;
  keyHeader: string;
  request(original: Original): RequestInit;
  read(body: string): Converted;
}

/** Recognising text in a long scan takes minutes. */
const TIMEOUT_MS = 600_000;
const MOST_BYTES = 100_000_000;
/** Statuses that may be different next time. */
const PASSING = new Set([401, 403, 404, 408, 429, 500, 502, 503, 504]);

const text = (content: string, mime_type: Converted["mime_type"]): Converted => ({
  bytes: new TextEncoder().encode(content),
  mime_type,
});

function form({ bytes, filename, mime_type }: Original, fields: Record<string, string>): FormData {
  const body = new FormData();
  body.append("files", new Blob([new Uint8Array(bytes)], { type: mime_type }), filename);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
}

const ADAPTERS: Record<(typeof CONVERTERS)[number], Adapter> = {
  docling: {
    path: "/v1/convert/file",
    keyHeader: "x-api-key",
    request: (original) => ({
      method: "POST",
      headers: { accept: "application/json" },
      body: form(original, { to_formats: "md", image_export_mode: "placeholder", do_ocr: "true" }),
    }),
    read(body) {
      const { status, document } = JSON.parse(body) as {
        status?: string;
        document?: { md_content?: string };
      };
      if (status === "failure" || typeof document?.md_content !== "string")
        throw new NotConvertible(`its status is ${status ?? "missing"}`);
      return text(document.md_content.replaceAll("<!-- image -->", ""), "text/markdown");
    },
  },
  tika: {
    path: "/tika",
    keyHeader: "x-api-key",
    request: ({ bytes, filename, mime_type }) => ({
      method: "PUT",
      headers: {
        accept: "text/html",
        "content-type": mime_type,
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
      },
      body: new Uint8Array(bytes),
    }),
    read: (body) => text(body, "text/html"),
  },
  unstructured: {
    path: "/general/v0/general",
    keyHeader: "unstructured-api-key",
    request: (original) => ({
      method: "POST",
      headers: { accept: "application/json" },
      body: form(original, { strategy: "auto", output_format: "application/json" }),
    }),
    read(body) {
      const elements = JSON.parse(body) as Element[];
      if (!Array.isArray(elements)) throw new NotConvertible("it returned no elements");
      return text(elements.map(toHtml).join("\n"), "text/html");
    },
  },
};

interface Element {
  type?: string;
  text?: string;
  metadata?: { text_as_html?: string; category_depth?: number };
}

function toHtml({ type, text: content = "", metadata = {} }: Element): string {
  const escaped = content.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  if (type === "Table" && metadata.text_as_html) return metadata.text_as_html;
  if (type === "ListItem") return `<ul><li>${escaped}</li></ul>`;
  if (type !== "Title") return `<p>${escaped}</p>`;
  const level = Math.min(6, 1 + (metadata.category_depth ?? 0));
  return `<h${level}>${escaped}</h${level}>`;
}

/** Returns a service that reads scans and formats that this one does not: docling-serve, Apache Tika or unstructured. */
export function converterAt(
  url: string,
  kind: (typeof CONVERTERS)[number],
  key: string | null,
): DocumentConverter {
  const adapter = ADAPTERS[kind];
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, "");
  if (!path.endsWith(adapter.path)) address.pathname = `${path}${adapter.path}`;
  return {
    async convert(original, signal) {
      const init = adapter.request(original);
      const response = await fetch(address, {
        ...init,
        headers: { ...init.headers, ...(key !== null && { [adapter.keyHeader]: key }) },
        // The document and the key are for this address alone.
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      if (!response.ok) {
        await response.body?.cancel();
        const message = `the converter responded with ${response.status}`;
        throw PASSING.has(response.status) ? new Error(message) : new NotConvertible(message);
      }
      return adapter.read(await readText(response.body ?? [], MOST_BYTES, tooLong));
    },
  };
}

const tooLong = (what: string) => new NotConvertible(`the converter's answer is too large: ${what}`);
