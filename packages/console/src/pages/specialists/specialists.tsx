import type { SpecialistsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { UserCog } from "../../ui/icons.tsx";
import { ListPage, wholeList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { WriteDialog } from "./write.tsx";

const COLUMNS: Column<SpecialistsListResult["specialists"][number]>[] = [
  column("Specialist", ({ name, description }) => (
    <Titled to={`/specialists/${name}`} title={name}>
      {description || "No description"}
    </Titled>
  )),
  endColumn("Version", ({ version_num }) => version_num),
  endColumn("Updated", ({ updated_at }) => <Time at={updated_at} />),
];

/** Named instructions that agents load to work as a specialist. */
export function Specialists() {
  const { may } = useSession();
  const loaded = useLoad((signal) => api.specialists.list({}, { signal }), [], "specialists");
  return (
    <ListPage
      title="Specialists"
      lead="Named instructions that agents load to work as a specialist. Earlier versions are kept."
      create={may("specialists.write") && "Create specialist"}
      dialog={(onClose) => <WriteDialog onClose={onClose} />}
      pages={wholeList(loaded, ({ specialists }) => specialists)}
      columns={COLUMNS}
      keyOf={({ name }) => name}
      linkOf={({ name }) => `/specialists/${name}`}
      icon={UserCog}
      none={
        <>
          Agents load one with <code>POST /v1/specialists/NAME/load</code>, and get its prompt and rules.
        </>
      }
    />
  );
}
