import { useSearchParams } from "react-router";
import type { Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { useLoad } from "../../data/use-load.ts";
import { FileOutput, SearchX } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { Found, SearchLine } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { ScopeBadge, Tags } from "../memories/words.tsx";
import { SaveDialog } from "./save.tsx";
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

/** Documents that agents and people produced, with their versions. */
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
      linkOf={({ id }) => `/outputs/${id}`}
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
  const found = useLoad((signal) => api.outputs.search({ query: q, limit: 20 }, { signal }), [q], "found");
  return (
    <Found
      of={found}
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
