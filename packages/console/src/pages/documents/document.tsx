import { Link, useNavigate, useParams } from "react-router";
import type { Document } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, number } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useList } from "../../data/use-list.ts";
import { useIsOwn } from "../../data/use-names.ts";
import { useTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Check, Layers, Trash2 } from "../../ui/icons.tsx";
import { Card, Empty, Facts, Skeleton } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Download, Original, Retry } from "./original.tsx";
import { DocumentStatus, isUnderway, kindInWords, READERS, Sensitivity } from "./words.tsx";
import "./documents.css";

/** One document: its progress, its text in chunks, and the original. */
export function DocumentPage() {
  const { id = "" } = useParams();
  const loaded = useFollowed("document", (signal) => api.documents.get({ document_id: id }, { signal }), [
    id,
  ]);
  const isOwn = useIsOwn();
  return (
    <DetailPage
      of={loaded}
      kind="Document"
      above={{ "/documents": "Documents" }}
      titleOf={({ filename }) => filename}
      stateOf={(document) => <DocumentStatus document={document} />}
      actionsOf={(document) => (
        <>
          {document.status === "failed" && isOwn(document) && (
            <Retry document={document} onQueued={loaded.set} />
          )}
          <Download document={document} />
          {isOwn(document) && <Delete document={document} />}
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

function About({ document }: { document: Document }) {
  const audience = Object.entries(document.audience).filter(([, labels]) => labels.length > 0);
  return (
    <Card>
      <Facts
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
    </Card>
  );
}

function Chunks({ document }: { document: Document }) {
  const { document_id, ingestion_source_id: source_id } = document;
  const { items, error, more, loading, reload } = useList(api.documents.listChunks, {
    document_id,
    source_id,
  });
  if (!items) return error === undefined ? <Skeleton lines={6} /> : <Failure error={error} retry={reload} />;
  if (items.length === 0) {
    return (
      <Empty icon={Layers} title={isUnderway(document) ? "No text yet" : "No text"}>
        {isUnderway(document)
          ? "It appears here once the document is processed."
          : "The document was not processed, or contains no readable text."}
      </Empty>
    );
  }
  return (
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
  );
}

function Delete({ document }: { document: Document }) {
  const navigate = useNavigate();
  const remove = useTask(async () => {
    const wanted = await confirm({
      title: `Delete ${document.filename}?`,
      text: "The file and its chunks are erased, and searches no longer find them. Memories that cite it keep the passage, marked as stale. This cannot be undone.",
      action: "Delete",
    });
    if (!wanted) return;
    const { document_id, ingestion_source_id: source_id } = document;
    const { deleted } = await api.documents.delete({ document_id, source_id });
    toast(
      deleted
        ? { title: `${document.filename} deleted.` }
        : { tone: "bad", title: "Not found: the document was already deleted." },
    );
    navigate("/documents");
  });
  return (
    <Button label="Delete" kind="remove" icon={Trash2} busy={remove.busy} onClick={() => remove.run()} />
  );
}
