import type { RunArtifact, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { Paperclip } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";

const COLUMNS: Column<RunArtifact>[] = [
  {
    name: "Artifact",
    cell: ({ pointer }) => (
      <strong>{pointer.display_name ?? pointer.uri ?? pointer.native_id ?? "Unnamed"}</strong>
    ),
  },
  { name: "Kind", cell: ({ kind }) => kind },
  {
    name: "Location",
    cell: ({ pointer }) => [pointer.provider, pointer.uri].filter(Boolean).join(" · ") || "–",
    wideOnly: true,
  },
  { name: "Size", cell: ({ byte_size }) => (byte_size === null ? "–" : bytes(byte_size)), end: true },
  {
    name: "SHA-256",
    cell: ({ content_hash }) =>
      content_hash ? <code title={content_hash}>{content_hash.slice(0, 12)}…</code> : "Not stored",
    wideOnly: true,
  },
  { name: "Registered", cell: ({ created_at }) => <Time at={created_at} />, end: true },
];

/** The artifacts of a run, and those kept as evidence. */
export function Artifacts({ run }: { run: RunWithAttempts }) {
  const pages = useList(api.runs.listArtifacts, { run_id: run.id }, undefined, "run");
  return (
    <List
      pages={pages}
      label="Artifacts"
      columns={COLUMNS}
      empty={
        <Empty icon={Paperclip} title="No evidence yet">
          Attach a file when you complete a step. Agents register artifacts with{" "}
          <code>POST /v1/runs/{"{id}"}/artifacts</code>.
        </Empty>
      }
    />
  );
}
