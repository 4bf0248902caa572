import { useState } from "react";
import { useSearchParams } from "react-router";
import type { Exemplar } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { Button } from "../../ui/button.tsx";
import { BookMarked, Plus } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, Load, Table, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { AddDialog } from "./add.tsx";

const COLUMNS: Column<Exemplar>[] = [
  {
    name: "Exemplar",
    cell: ({ id, display_name, original_filename }) => (
      <Titled to={`/exemplars/${id}`} title={display_name}>
        {original_filename}
      </Titled>
    ),
  },
  {
    name: "Kind",
    cell: ({ media_type }) => (media_type === "text/markdown" ? "Markdown" : "Text"),
    wideOnly: true,
  },
  { name: "Size", cell: ({ byte_size }) => bytes(byte_size), end: true },
  { name: "Created", cell: ({ created_at }) => <Time at={created_at} />, end: true },
];

/** Texts that runs follow as examples. */
export function Exemplars() {
  const [search] = useSearchParams();
  const [adding, setAdding] = useState(false);
  const q = (search.get("q") ?? "").toLowerCase();
  const loaded = useFollowed("exemplar", (signal) => api.exemplars.list({}, { signal }), [], {
    name: "exemplars",
  });
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
      Add exemplar
    </Button>
  );
  return (
    <Page
      title="Exemplars"
      lead="Texts that show how a result should look. Runs have them attached, and steps point to them."
      actions={add}
    >
      <Load of={loaded} lines={5}>
        {(exemplars) =>
          exemplars.length > 0 ? (
            <div className="stack">
              <div className="list-bar">
                <ListSearch label="Search exemplars" />
              </div>
              <Shown exemplars={exemplars.filter((each) => namesOf(each).includes(q))} />
            </div>
          ) : (
            <Empty icon={BookMarked} title="No exemplars yet" action={add}>
              Add a text or Markdown file that agents should follow, such as a release note that you like.
            </Empty>
          )
        }
      </Load>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

const namesOf = ({ display_name, original_filename }: Exemplar) =>
  `${display_name} ${original_filename}`.toLowerCase();

function Shown({ exemplars }: { exemplars: Exemplar[] }) {
  if (exemplars.length === 0) return <p className="muted">No matches.</p>;
  return (
    <Table label="Exemplars" columns={COLUMNS} rows={exemplars} linkOf={({ id }) => `/exemplars/${id}`} />
  );
}
