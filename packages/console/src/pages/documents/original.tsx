import { useEffect, useState } from "react";
import { type Document, isApiError } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { saveFile } from "../../data/save-file.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { Download as DownloadIcon, FileQuestion, RotateCw } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.tsx";
import { kindInWords } from "./words.tsx";
import "../outputs/outputs.css";

/** A longer text takes a browser seconds to render. */
const MAX_TEXT = 500_000;
/** A larger file is downloaded, not shown. */
const MAX_BYTES = 25_000_000;

const read = async (document_id: string, signal?: AbortSignal) =>
  new Blob([
    await api.documents.content({ document_id }, { ...(signal && { signal }), timeoutMs: 10 * 60_000 }),
  ]);

export function Download({ document }: { document: Document }) {
  const download = useTask(async () => saveFile(await read(document.document_id), document.filename));
  return <Button label="Download" icon={DownloadIcon} busy={download.busy} onClick={() => download.run()} />;
}

/** Processes a failed document again. */
export function Retry({ document, onQueued }: { document: Document; onQueued(document: Document): void }) {
  const retry = useTask(async () => {
    onQueued(await api.documents.retry({ document_id: document.document_id }));
    toast({ title: "Queued again." });
  });
  return (
    <Button label="Retry" kind="primary" icon={RotateCw} busy={retry.busy} onClick={() => retry.run()} />
  );
}

/** The file as it was uploaded, if a browser can show it without running anything of it. */
export function Original({ document }: { document: Document }) {
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
 * In the browser's own viewer, which is a process of its own; it refuses to run in a frame with `sandbox`. The type is
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
