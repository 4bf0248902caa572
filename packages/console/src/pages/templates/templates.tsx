import { useParams } from "react-router";
import type { ProcessTemplate, TemplateSummary } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { useFollowed } from "../../data/use-load.ts";
import { StepGraph } from "../../graph/step-graph.tsx";
import { ButtonLink, DialogButton } from "../../ui/button.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Pencil, Play, Plus, Shapes } from "../../ui/icons.tsx";
import { DetailPage, ListPage, wholeList } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, Titled, wideColumn } from "../../ui/table.tsx";
import { Badge } from "../../ui/text.tsx";
import { BeginDialog } from "../runs/runs.tsx";
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

/** Templates of processes to start runs from. */
export function Templates() {
  const load = (signal: AbortSignal) => api.templates.list({}, { signal });
  const loaded = useFollowed("template", load, [], { name: "templates" });
  const author = <ButtonLink label="Create template" to="/templates/new" kind="primary" icon={Plus} />;
  return (
    <ListPage
      title="Templates"
      lead="Reusable processes for runs. A new version leaves earlier versions and their runs unchanged."
      actions={author}
      pages={wholeList(loaded, (templates) => templates)}
      columns={COLUMNS}
      linkOf={({ slug }) => `/templates/${slug}`}
      icon={Shapes}
      empty={
        <Empty icon={Shapes} title="No templates yet" action={author}>
          Create a template to reuse the steps of a process.
        </Empty>
      }
    />
  );
}

/** A template as a graph, in any of its versions. */
export function Template() {
  const { slug = "" } = useParams();
  const [search] = useAddress();
  const version = Number(search.get("version")) || undefined;
  const loaded = useFollowed(
    "template",
    async (signal) => {
      const latest = await api.templates.get({ slug }, { signal });
      const shown =
        version && version !== latest.version_num
          ? await api.templates.get({ slug, version_num: version }, { signal })
          : latest;
      return { shown, latest: latest.version_num };
    },
    [slug, version],
  );
  return (
    <DetailPage
      of={loaded}
      kind={slug}
      above={{ "/templates": "Templates" }}
      titleOf={({ shown }) => shown.name}
      stateOf={({ shown: { version_num }, latest }) => (
        <Badge label={`Version ${version_num}`} tone={version_num === latest ? "good" : "neutral"} />
      )}
      leadOf={({ shown }) => shown.description}
      actionsOf={({ shown }) => (
        <>
          <ButtonLink label="Create version" to={`/templates/${slug}/edit`} icon={Pencil} />
          <DialogButton
            label="Create run"
            kind="primary"
            icon={Play}
            dialog={(onClose) => <BeginDialog given={shown} onClose={onClose} />}
          />
        </>
      )}
      lines={8}
    >
      {({ shown, latest }) => (
        <div className="stack">
          {latest > 1 && <VersionChoice latest={latest} shown={shown.version_num} />}
          <Picture key={shown.id} template={shown} />
        </div>
      )}
    </DetailPage>
  );
}

function VersionChoice({ latest, shown }: { latest: number; shown: number }) {
  const [, change] = useAddress();
  return (
    <div className="version-choice">
      <SelectField
        label="Version"
        value={String(shown)}
        onChange={(value) => change({ version: value === String(latest) ? null : value })}
        options={Array.from({ length: latest }, (_, at) => ({
          value: String(latest - at),
          label: at === 0 ? `${latest} (latest)` : String(latest - at),
        }))}
      />
    </div>
  );
}

function Picture({ template }: { template: ProcessTemplate }) {
  const [search, change] = useAddress();
  const asked = search.get("step");
  const step = template.steps.find(({ step_key }) => step_key === asked) ?? template.steps[0];
  return (
    <>
      <StepGraph
        steps={template.steps}
        selected={step?.step_key ?? null}
        onSelect={(key) => change({ step: key }, { replace: true })}
      />
      {step && (
        <Card title={step.title}>
          <div className="stack">
            {step.instructions ? (
              <Markdown>{step.instructions}</Markdown>
            ) : (
              <p className="muted">No instructions.</p>
            )}
            <Facts
              wide="Completion criteria"
              of={{
                Key: <code>{step.step_key}</code>,
                Role: step.role,
                Specialist: step.specialist_name,
                "Depends on": step.depends_on.join(", "),
                "Completed by": step.completion_mode === "attestation" ? "Attestation" : "Accepted handoff",
                "Completion criteria": step.completion_criteria.length > 0 && (
                  <ul className="plain-list">
                    {step.completion_criteria.map(({ key, description }) => (
                      <li key={key}>{description || key}</li>
                    ))}
                  </ul>
                ),
              }}
            />
          </div>
        </Card>
      )}
    </>
  );
}
