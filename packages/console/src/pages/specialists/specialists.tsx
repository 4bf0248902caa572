import { useState } from "react";
import type { SpecialistsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Plus, UserCog } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, Load, Table, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { WriteDialog } from "./write.tsx";

const COLUMNS: Column<SpecialistsListResult["specialists"][number]>[] = [
  {
    name: "Specialist",
    cell: ({ name, description }) => (
      <Titled to={`/specialists/${name}`} title={name}>
        {description || "No description"}
      </Titled>
    ),
  },
  { name: "Version", cell: ({ version_num }) => version_num, end: true },
  { name: "Updated", cell: ({ updated_at }) => <Time at={updated_at} />, end: true },
];

/** Named instructions that agents load to work as a specialist. */
export function Specialists() {
  const { may } = useSession();
  const [writing, setWriting] = useState(false);
  const loaded = useLoad((signal) => api.specialists.list({}, { signal }), [], "specialists");
  const create = may("specialists.write") && (
    <Button kind="primary" icon={Plus} onClick={() => setWriting(true)}>
      Create specialist
    </Button>
  );
  return (
    <Page
      title="Specialists"
      lead="Named instructions that agents load to work as a specialist. Earlier versions are kept."
      actions={create}
    >
      <Load of={loaded} lines={5}>
        {({ specialists }) =>
          specialists.length > 0 ? (
            <Table
              label="Specialists"
              columns={COLUMNS}
              rows={specialists}
              keyOf={({ name }) => name}
              linkOf={({ name }) => `/specialists/${name}`}
            />
          ) : (
            <Empty icon={UserCog} title="No specialists yet" action={create}>
              Agents load one with <code>POST /v1/specialists/NAME/load</code>, and get its prompt and rules.
            </Empty>
          )
        }
      </Load>
      {writing && <WriteDialog onClose={() => setWriting(false)} />}
    </Page>
  );
}
