import { useEffect, useState } from "react";
import { Link, useParams } from "react-router";
import { type Document, type DocumentDetail, isApiError } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, capitalised, number } from "../../data/format.ts";
import { useIsOwn } from "../../data/names.ts";
import { useList, useLoad, useRead } from "../../data/queries.ts";
import { saveFile } from "../../data/save-file.ts";
import { Button } from "../../ui/button.tsx";
import { ActButton, DeleteButton } from "../../ui/form-dialog.tsx";
import { Check, Download, FileQuestion, Layers, RotateCw } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, FactsCard } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { DocumentStatus, isUnderway, kindInWords, READERS, Sensitivity } from "./words.tsx";
import "./documents.css";

export function DocumentPage() {
  const { id = "" } = useParams();
  const loaded = useRead(api.documents.get, { document_id: id }, "document");
  const isOwn = useIsOwn(loaded.data);
  return (
    <DetailPage
      of={loaded}
      kind="Document"
      above={{ "/documents": "Documents" }}
      titleOf={({ filename }) => filename}
      stateOf={(document) => <DocumentStatus document={document} />}
      actionsOf={(document) => (
        <>
          {document.status === "failed" && isOwn && (
            <ActButton
              label="Retry"
              kind="primary"
              icon={RotateCw}
              act={() => api.documents.retry({ document_id: id })}
              done="Queued again."
            />
          )}
          <ActButton
            label="Download"
            icon={Download}
            act={async () => saveFile(await read(id), document.filename)}
          />
          {isOwn && (
            <DeleteButton
              name={document.filename}
              text="The file and its chunks are erased, and searches no longer find them. Memories that cite it keep the passage, marked as stale. This cannot be undone."
              act={() => remove(document)}
              to="/documents"
            />
          )}
        </>
      )}
      lines={8}
    >
      {(data) => (
        <div className="stack">
          {data.error && <p className="notice bad">Processing failed: {data.error}</p>}
          {data.superseded_by && (
            <p className="notice">
              This document is superseded by{" "}
              <Link to={`/documents/${data.superseded_by}`}>a newer version</Link>.
            </p>
          )}
          {isUnderway(data) && <Stages document={data} />}
          {data.losses.length > 0 && <NotRead losses={data.losses} />}
          <div className="sides with-facts">
            <Tabs
              label="Document"
              tabs={[
                {
                  key: "text",
                  label: "Text",
                  content: <Chunks key={`${data.document_id} ${data.status}`} document={data} />,
                },
                { key: "original", label: "Original", content: <Original document={data} /> },
              ]}
            />
            <About document={data} />
          </div>
        </div>
      )}
    </DetailPage>
  );
}

const STAGES = [
  { status: "queued", says: "Queued" },
  { status: "chunking", says: "Chunking" },
  { status: "embedding", says: "Embedding" },
  { status: "stored", says: "Searchable" },
] as const;

function Stages({ document }: { document: Document }) {
  const at = STAGES.findIndex(({ status }) => status === document.status);
  return (
    <ol className="stages" aria-label="Progress">
      {STAGES.map(({ status, says }, stage) => (
        <li
          key={status}
          className={stage < at ? "stage done" : stage === at ? "stage now" : "stage"}
          aria-current={stage === at ? "step" : undefined}
        >
          <span className="stage-mark">{stage < at ? <Check aria-hidden size={12} /> : stage + 1}</span>
          {says}
        </li>
      ))}
    </ol>
  );
}

function NotRead({ losses }: { losses: DocumentDetail["losses"] }) {
  return (
    <Card title="Not read">
      <ul className="plain-list" aria-label="Not read">
        {losses.map(({ kind, place, count }) => (
          <li key={`${kind} ${place}`}>
            {count > 1 && <span className="num">{number(count)} × </span>}
            {kind} <span className="muted">({place})</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function About({ document }: { document: Document }) {
  const audience = Object.entries(document.audience).filter(([, labels]) => labels.length > 0);
  return (
    <FactsCard
      of={{
        Kind: kindInWords(document.mime_type),
        Size: bytes(document.byte_size),
        Sensitivity: (
          <>
            <Sensitivity of={document.sensitivity} />{" "}
            <span className="muted small">Readers: {READERS[document.sensitivity]}.</span>
          </>
        ),
        Source: document.ingestion_source_name,
        Version: document.version_num,
        ...Object.fromEntries(audience.map(([name, labels]) => [capitalised(name), labels.join(", ")])),
        Uploaded: <Time at={document.created_at} />,
        Ingested: document.ingested_at && <Time at={document.ingested_at} />,
        ID: <Id>{document.document_id}</Id>,
      }}
    />
  );
}

function Chunks({ document }: { document: Document }) {
  const { document_id, ingestion_source_id: source_id } = document;
  const pages = useList(api.documents.listChunks, { document_id, source_id });
  const { more, loading } = pages;
  return (
    <Load of={{ ...pages, data: pages.items }} lines={6}>
      {(items) =>
        items.length === 0 ? (
          <Empty icon={Layers} title={isUnderway(document) ? "No text yet" : "No text"}>
            {isUnderway(document)
              ? "It appears here once the document is processed."
              : "The document was not processed, or contains no readable text."}
          </Empty>
        ) : (
          <div className="stack tight">
            <ol className="framed" aria-label="Chunks">
              {items.map((chunk) => (
                <li key={chunk.chunk_id}>
                  <p className="chunk-head">
                    <span className="num">{number(chunk.chunk_index + 1)}</span>
                    {chunk.page_number && <span>Page {number(chunk.page_number)}</span>}
                    <span className="num">
                      Characters {number(chunk.char_offset)}–{number(chunk.char_offset + chunk.char_length)}
                    </span>
                  </p>
                  <p className="chunk-text" dir="auto">
                    {chunk.text}
                  </p>
                </li>
              ))}
            </ol>
            {more && <Button label="Load more" small busy={loading} onClick={more} />}
          </div>
        )
      }
    </Load>
  );
}

/** A longer text takes a browser seconds to render. */
const MAX_TEXT = 500_000;
/** A larger file is downloaded, not shown. */
const MAX_BYTES = 25_000_000;

const read = async (document_id: string, signal?: AbortSignal) =>
  new Blob([
    await api.documents.content({ document_id }, { ...(signal && { signal }), timeoutMs: 10 * 60_000 }),
  ]);

/** The file as it was uploaded, if a browser can show it without running anything of it. */
function Original({ document }: { document: Document }) {
  const { mime_type, byte_size } = document;
  if (mime_type !== "application/pdf" && !mime_type.startsWith("text/"))
    return <NotShown title={`${kindInWords(mime_type)} files have no preview`} />;
  if (byte_size > MAX_BYTES) return <NotShown title={`The file is too large to show: ${bytes(byte_size)}`} />;
  return <Preview document={document} />;
}

function NotShown({ title }: { title: string }) {
  return (
    <Empty icon={FileQuestion} title={title}>
      Download the file, or read its text in the first tab.
    </Empty>
  );
}

function Preview({ document }: { document: Document }) {
  const { document_id, mime_type } = document;
  const loaded = useLoad((signal) => read(document_id, signal), [document_id]);
  if (isApiError(loaded.error, "not_found")) return <NotShown title="The original is no longer kept" />;
  return (
    <Load of={loaded} lines={8}>
      {(file) =>
        mime_type === "application/pdf" ? (
          <Pdf file={file} name={document.filename} />
        ) : (
          <Text file={file} document={document} />
        )
      }
    </Load>
  );
}

/**
 * In the browser's own viewer, which is a separate process; it refuses to run in a frame with `sandbox`. The type is
 * fixed here: whatever the file contains, it is never a page.
 */
function Pdf({ file, name }: { file: Blob; name: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([file], { type: "application/pdf" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url && <iframe className="pdf" src={`${url}#navpanes=0&view=FitH`} title={name} />;
}

function Text({ file, document }: { file: Blob; document: Document }) {
  const text = useLoad(() => decoded(file), [file]);
  return (
    <Load of={text} lines={8}>
      {(all) => (
        <Card>
          {document.mime_type === "text/markdown" ? (
            <Markdown title={document.filename}>{all.slice(0, MAX_TEXT)}</Markdown>
          ) : (
            // HTML is shown as its source.
            <pre className="original">{all.slice(0, MAX_TEXT)}</pre>
          )}
          {all.length > MAX_TEXT && (
            <p className="notice">Only the beginning is shown. Download the file to read all of it.</p>
          )}
        </Card>
      )}
    </Load>
  );
}

/** Decodes UTF-8 and UTF-16; anything else as browsers do. */
async function decoded(file: Blob): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  const [first, second] = data;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(data);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(data);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return new TextDecoder("windows-1252").decode(data);
  }
}

async function remove({ document_id, ingestion_source_id: source_id }: Document): Promise<void> {
  const { deleted } = await api.documents.delete({ document_id, source_id });
  if (!deleted) throw new Error("Not found: the document was already deleted.");
}
