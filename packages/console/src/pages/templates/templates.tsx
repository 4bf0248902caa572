import type { TemplateSummary } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/queries.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Plus, Shapes } from "../../ui/icons.tsx";
import { ListPage, wholeList } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, Titled, wideColumn } from "../../ui/table.tsx";
import "./templates.css";

const COLUMNS: Column<TemplateSummary>[] = [
  column("Template", ({ slug, name, description }) => (
    <Titled to={`/templates/${slug}`} title={name}>
      {description ?? slug}
    </Titled>
  )),
  wideColumn("Goal", ({ goal_template }) => <span className="muted">{goal_template ?? "–"}</span>),
  endColumn("Steps", ({ step_count }) => step_count),
  endColumn("Version", ({ version_num }) => version_num),
];

export function Templates() {
  const loaded = useRead(api.templates.list, {}, "template", { name: "templates" });
  const author = <ButtonLink label="Create template" to="/templates/new" kind="primary" icon={Plus} />;
  return (
    <ListPage
      title="Templates"
      lead="Reusable processes for runs. A new version leaves earlier versions and their runs unchanged."
      actions={author}
      pages={wholeList(loaded, (templates) => templates)}
      columns={COLUMNS}
      icon={Shapes}
      empty={
        <Empty icon={Shapes} title="No templates yet" action={author}>
          Create a template to reuse the steps of a process.
        </Empty>
      }
    />
  );
}
