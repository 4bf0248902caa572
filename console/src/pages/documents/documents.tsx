import { FileText, Search, SearchX } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { Document } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, number } from "../../data/format.ts";
import { useFresh } from "../../data/use-fresh.ts";
import { useLoad, usePages } from "../../data/use-load.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, List, Load } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Drop } from "./drop.tsx";
import { DocumentStatus, isUnderway, kindInWords } from "./words.tsx";
import "../../styles/search.css";
import "./documents.css";

const COLUMNS: Column<Document>[] = [
  {
    name: "Document",
    cell: (document) => (
      <div className="document-name">
        <Link to={`/documents/${document.document_id}`}>{document.filename}</Link>
        <span className="muted small">
          {document.error ??
            `${kindInWords(document.mime_type)} · ${document.ingestion_source_name} · version ${document.version_num}`}
        </span>
      </div>
    ),
  },
  { name: "Status", cell: (document) => <DocumentStatus document={document} /> },
  { name: "For", cell: (document) => document.sensitivity, wideOnly: true },
  { name: "Chunks", cell: (document) => number(document.chunk_count), end: true, wideOnly: true },
  { name: "Size", cell: (document) => bytes(document.byte_size), end: true, wideOnly: true },
  { name: "Uploaded", cell: (document) => <Time at={document.created_at} />, end: true },
];

/** Documents that agents look things up in: uploading them, how far they are, and searching them. */
export function Documents() {
  const [search] = useSearchParams();
  const q = search.get("q") ?? "";
  const pages = usePages(async (cursor, signal) => {
    const answer = await api.documents.list({ limit: 50, ...(cursor && { cursor }) }, { signal });
    return { items: answer.documents, next: answer.next_cursor };
  }, []);
  useFresh(pages, pages.items?.some(isUnderway) ?? false);
  return (
    <Page
      title="Documents"
      lead="What agents look things up in. A document is read, cut into chunks and made searchable."
    >
      <div className="stack">
        <Drop onAccepted={pages.reload} />
        <Ask q={q} />
        {q ? (
          <Passages q={q} />
        ) : (
          <List
            {...pages}
            label="Documents"
            columns={COLUMNS}
            keyOf={(document) => document.document_id}
            linkOf={(document) => `/documents/${document.document_id}`}
            empty={
              <Empty icon={FileText} title="No documents yet">
                Drop a manual, a contract or notes above: agents find the right passage with{" "}
                <code>POST /v1/documents/search</code>, and cite it.
              </Empty>
            }
          />
        )}
      </div>
    </Page>
  );
}

function Ask({ q }: { q: string }) {
  const [, setSearch] = useSearchParams();
  const [text, setText] = useState(q);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSearch(text.trim() ? { q: text.trim() } : {});
  };
  return (
    <search>
      <form onSubmit={submit} className="search-line">
        <Search aria-hidden size={18} className="search-icon" />
        <input
          className="search-input"
          type="search"
          aria-label="Search documents"
          placeholder="Find a passage by words or meaning"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" small>
          Search
        </Button>
      </form>
    </search>
  );
}

function Passages({ q }: { q: string }) {
  const found = useLoad((signal) => api.documents.search({ query: q, limit: 20 }, { signal }), [q]);
  return (
    <Load of={found} lines={6}>
      {({ results }) =>
        results.length === 0 ? (
          <Empty icon={SearchX} title="No passage fits well enough">
            Only documents that are stored and that you may read are searched.
          </Empty>
        ) : (
          <ol className="results" aria-label="Passages">
            {results.map(({ chunk, document, score }) => (
              <li key={chunk.chunk_id} className="result">
                <div className="result-score">
                  <span className="num">{score.toFixed(2)}</span>
                  <meter min={0} max={1} value={score} aria-label="Score" />
                </div>
                <div className="result-words">
                  <Link to={`/documents/${document.document_id}`} className="memory-title">
                    {document.filename}
                  </Link>
                  <p className="result-text">{chunk.text}</p>
                  <p className="result-facts">
                    {chunk.page_number && <span>page {chunk.page_number}</span>}
                    <span>chunk {chunk.chunk_index + 1}</span>
                  </p>
                </div>
              </li>
            ))}
          </ol>
        )
      }
    </Load>
  );
}
