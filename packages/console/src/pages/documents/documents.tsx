import { useSearchParams } from "react-router";
import type { Document } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, number } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { useLoad } from "../../data/use-load.ts";
import { FileText, SearchX } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { Found, SearchLine } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Drop } from "./drop.tsx";
import { DocumentStatus, kindInWords, Sensitivity } from "./words.tsx";
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

/** Reference documents for agents: upload, progress and search. */
export function Documents() {
  const q = useSearchParams()[0].get("q");
  const pages = useList(api.documents.list, {}, "documents", "document");
  return (
    <ListPage
      title="Documents"
      lead="Reference documents that agents search and cite."
      above={
        <>
          <Drop onAccepted={pages.reload} />
          <SearchLine label="Search documents" placeholder="Search by words or meaning" />
        </>
      }
      instead={q && <Passages q={q} />}
      pages={pages}
      columns={COLUMNS}
      keyOf={({ document_id }) => document_id}
      linkOf={({ document_id }) => `/documents/${document_id}`}
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
  const found = useLoad((signal) => api.documents.search({ query: q, limit: 20 }, { signal }), [q], "found");
  return (
    <Found
      of={found}
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
