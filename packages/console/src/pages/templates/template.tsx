import { useParams } from "react-router";
import type { ProcessTemplate } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { duration } from "../../data/format.ts";
import { useFollowed } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { StepGraph } from "../../graph/step-graph.tsx";
import { ButtonLink, DialogButton } from "../../ui/button.tsx";
import { SelectFilter } from "../../ui/filters.tsx";
import { Pencil, Play } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Badge } from "../../ui/text.tsx";
import { BeginDialog } from "../runs/runs.tsx";
import { AT_DEADLINE, completedBy } from "./step-words.ts";
import "./templates.css";

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
          {latest > 1 && (
            <div className="version-choice">
              <SelectFilter name="version" label="Version" options={versionsUpTo(latest)} />
            </div>
          )}
          <Picture key={shown.id} template={shown} />
        </div>
      )}
    </DetailPage>
  );
}

const versionsUpTo = (latest: number) =>
  Array.from({ length: latest }, (_, at) => ({
    value: at === 0 ? "" : String(latest - at),
    label: at === 0 ? `${latest} (latest)` : String(latest - at),
  }));

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
                "Completed by": completedBy(step),
                Filter: step.wait_for?.filter_expression && <code>{step.wait_for.filter_expression}</code>,
                Deadline: step.deadline_seconds && `${duration(step.deadline_seconds)} from ready`,
                "At the deadline": step.deadline_seconds && AT_DEADLINE[step.on_deadline],
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
