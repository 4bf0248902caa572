import { BookMarked } from "lucide-react";
import { useSearchParams } from "react-router";
import type { Exemplar } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { ListPage, wholeList } from "../../ui/list-page.tsx";
import { type Column, Titled } from "../../ui/table.tsx";
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
  const q = (useSearchParams()[0].get("q") ?? "").toLowerCase();
  const load = (signal: AbortSignal) => api.exemplars.list({}, { signal });
  const loaded = useFollowed("exemplar", load, [], { name: "exemplars" });
  return (
    <ListPage
      title="Exemplars"
      lead="Texts that show how a result should look. Runs have them attached, and steps point to them."
      create="Add exemplar"
      dialog={(onClose) => <AddDialog onClose={onClose} />}
      searched
      pages={wholeList(loaded, (all) => all.filter((each) => namesOf(each).includes(q)))}
      columns={COLUMNS}
      linkOf={({ id }) => `/exemplars/${id}`}
      icon={BookMarked}
      none="Add a text or Markdown file that agents should follow, such as a release note that you like."
    />
  );
}

const namesOf = ({ display_name, original_filename }: Exemplar) =>
  `${display_name} ${original_filename}`.toLowerCase();
