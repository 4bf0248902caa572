import { CircleAlert, CircleCheck, FileUp } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { bytes } from "../../data/format.ts";
import { Button } from "../../ui/button.tsx";
import { messageOf } from "../../ui/failure.tsx";
import { ForWhom, NO_READERS } from "./for-whom.tsx";
import { KINDS, type Readers, upload } from "./upload.ts";

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

/** Accepts files by drag and drop or selection, and shows the progress of each upload. */
export function Drop({ onAccepted }: { onAccepted(): void }) {
  const [files, setFiles] = useState<Sending[]>([]);
  const [readers, setReaders] = useState<Readers>(NO_READERS);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

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
      change(
        key,
        accepted
          ? { part: 1, state: "accepted" }
          : { state: "refused", why: error_code ?? "It was refused." },
      );
      if (accepted) onAccepted();
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
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <div className="stack tight">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button inside does the same */}
      <div
        className={over ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <FileUp aria-hidden size={22} className="faint" />
        <div className="grow">
          <p>
            <strong>Drop files here</strong> <span className="muted">or choose them.</span>
          </p>
          <p className="muted small">
            PDF, Word, PowerPoint, Excel, HTML, Markdown or text. A file of the same name replaces the earlier
            one.
          </p>
        </div>
        <Button icon={FileUp} onClick={() => input.current?.click()}>
          Choose files
        </Button>
        <input
          ref={input}
          type="file"
          multiple
          className="visually-hidden"
          aria-label="Files to upload"
          tabIndex={-1}
          accept={Object.keys(KINDS)
            .map((extension) => `.${extension}`)
            .join()}
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
        <ForWhom readers={readers} onChange={setReaders} />
      </div>
      {files.length > 0 && (
        <ul className="sendings" aria-label="Uploads">
          {files.map((file) => (
            <Progress key={file.key} file={file} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Progress({ file }: { file: Sending }) {
  return (
    <li className={`sending ${file.state}`}>
      {file.state === "accepted" && <CircleCheck aria-hidden size={16} />}
      {file.state === "refused" && <CircleAlert aria-hidden size={16} />}
      <span className="truncate grow">{file.name}</span>
      <span className="muted small num">{bytes(file.size)}</span>
      {file.state === "sending" ? (
        <progress value={file.part} max={1} aria-label={`Sending ${file.name}`} />
      ) : (
        <span className="small" role="status">
          {file.state === "accepted" ? "Uploaded" : file.why}
        </span>
      )}
    </li>
  );
}
