import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import type { Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, filled } from "../../data/format.ts";
import { knownName } from "../../data/names.ts";
import { useList, useRead } from "../../data/queries.ts";
import { area, text, useForm } from "../../ui/form.tsx";
import { FormDialog, mayOverwrite } from "../../ui/form-dialog.tsx";
import { FileOutput, SearchX } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { Found, SearchLine } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Time } from "../../ui/text.tsx";
import { ScopeBadge, Tags } from "../memories/words.tsx";
import "./outputs.css";

const COLUMNS: Column<Output>[] = [
  column("Output", (output) => (
    <Titled to={`/outputs/${output.id}`} title={output.title}>
      {output.slug}
      {output.project_id && ` · ${output.project_id}`}
    </Titled>
  )),
  column("Scope", ({ scope }) => <ScopeBadge scope={scope} />),
  wideColumn("Tags", ({ tags }) => <Tags tags={tags} />),
  wideEndColumn("Version", ({ current_version_num }) => current_version_num),
  wideEndColumn("Size", ({ byte_size }) => bytes(byte_size)),
  endColumn("Updated", ({ updated_at }) => <Time at={updated_at} />),
];

export function Outputs() {
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Outputs"
      lead="Markdown documents by agents and people, with every version."
      create="Create output"
      dialog={(onClose) => <SaveDialog onClose={onClose} />}
      above={<SearchLine label="Search outputs" placeholder="Search by words or meaning" />}
      instead={q && <Results q={q} />}
      pages={useList(api.outputs.list, {}, "outputs", "output")}
      columns={COLUMNS}
      icon={FileOutput}
      none={
        <>
          Agents save reports, notes and plans with <code>POST /v1/outputs</code>; saving under the same slug
          creates a new version.
        </>
      }
    />
  );
}

function Results({ q }: { q: string }) {
  return (
    <Found
      of={useRead(api.outputs.search, { query: q, limit: 20 }, [], { name: "found" })}
      label="Results"
      hit={({ output, score, passage }) => ({
        key: output.id,
        to: `/outputs/${output.id}`,
        title: output.title,
        text: <Plain>{passage}</Plain>,
        score,
        facts: (
          <>
            <ScopeBadge scope={output.scope} />
            <span>Version {output.current_version_num}</span>
            <Time at={output.updated_at} />
          </>
        ),
      })}
      empty={
        <Empty icon={SearchX} title="No matching outputs">
          Try other words, or clear the search to see all outputs.
        </Empty>
      }
    />
  );
}

interface Props {
  /** The output that gets a new version; missing for a new output. */
  output?: Output;
  onClose(): void;
}

const OUTPUT = {
  title: text("Title", { maxLength: 300 }),
  body: area("Text", { className: "mono", rows: 16, required: true }),
  change_note: text("Change note", { maxLength: 2000 }),
};

/** A new output is for the whole organisation; a new version keeps its readers. */
export function SaveDialog({ output, onClose }: Props) {
  const [before] = useState(output);
  const form = useForm(OUTPUT, output);
  const navigate = useNavigate();
  const cache = useQueryClient();
  const save = useFormTask(async () => {
    const { change_note, title, body } = form.values();
    if (before && !(await isStillLatest(before, cache))) return;
    const saved = await api.outputs.save({
      body,
      ...filled({ title }),
      ...(output ? filled({ output_id: output.id, change_note }) : { scope: "institutional" as const }),
    });
    toast({ title: `Saved as version ${saved.current_version_num}.` });
    onClose();
    if (!output) navigate(`/outputs/${saved.id}`, { replace: true });
  });
  return (
    <FormDialog
      wide
      title={output ? "New version" : "New output"}
      submit={output ? "Save version" : "Create output"}
      disabled={output?.body === form.drafts.body}
      onClose={onClose}
      task={save}
    >
      {form.show("title", { hint: output ? undefined : "Default: the first heading." })}
      {form.show("body", {
        hint: output
          ? "Markdown. Earlier versions are unchanged."
          : "Markdown. Everyone in the organisation can read it.",
      })}
      {output && form.show("change_note")}
    </FormDialog>
  );
}

/** Returns whether no other version was saved meanwhile, or the person wants to save on top of it. */
async function isStillLatest({ id, current_version_num }: Output, cache: QueryClient): Promise<boolean> {
  const { versions } = await api.outputs.listVersions({ output_id: id });
  const [latest] = versions;
  if (!latest || latest.version_num === current_version_num) return true;
  const by = knownName(cache, latest.authored_by_user_id ?? latest.authored_by_agent_id ?? "") ?? "Someone";
  const text = `${by} has saved version ${latest.version_num} since you opened this form. Yours becomes the next version, without those changes.`;
  return mayOverwrite(text, `/outputs/${id}?tab=versions`);
}
