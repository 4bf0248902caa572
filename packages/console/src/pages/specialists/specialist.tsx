import { useParams } from "react-router";
import type { SpecialistsVersionsResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { DialogButton } from "../../ui/button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Diff } from "../../ui/diff.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Pencil } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Copy, Time } from "../../ui/text.tsx";
import { WriteDialog } from "./write.tsx";
import "../outputs/outputs.css";

type Version = SpecialistsVersionsResult["versions"][number];

/** More versions than this are not compared here. */
const MOST_VERSIONS = 200;

/** One specialist: its texts, and its versions. */
export function SpecialistPage() {
  const { name = "" } = useParams();
  const { may } = useSession();
  const loaded = useFollowed("specialist", (signal) => allVersions(name, signal), [name]);
  return (
    <DetailPage
      of={loaded}
      kind={name}
      above={{ "/specialists": "Specialists" }}
      titleOf={() => name}
      stateOf={([latest]) => <Badge label={`Version ${latest?.version_num}`} />}
      leadOf={([latest]) => latest?.description}
      actionsOf={([latest]) =>
        may("specialists.write") && (
          <DialogButton
            label="Create version"
            icon={Pencil}
            dialog={(onClose) => <WriteDialog of={latest} onClose={onClose} onSaved={loaded.reload} />}
          />
        )
      }
      lines={8}
    >
      {(versions) => (
        <Tabs
          label="Specialist"
          tabs={[
            { key: "texts", label: "Instructions", content: <Texts version={versions[0] as Version} /> },
            {
              key: "versions",
              label: "Versions",
              content: <Versions key={versions.length} versions={versions} />,
            },
          ]}
        />
      )}
    </DetailPage>
  );
}

async function allVersions(name: string, signal: AbortSignal): Promise<Version[]> {
  const found: Version[] = [];
  for await (const version of api.specialists.versions.all({ name, limit: 50 }, { signal })) {
    found.push(version);
    if (found.length === MOST_VERSIONS) break;
  }
  return found;
}

const TEXTS = [
  ["System prompt", "system_prompt"],
  ["What to search the memories for", "memory_search_directives"],
  ["Format of results", "output_format_rules"],
] as const;

function Texts({ version }: { version: Version }) {
  return (
    <div className="stack">
      {TEXTS.map(([title, field]) => {
        const text = version[field];
        return (
          text && (
            <Card key={field} title={title} actions={<Copy text={text} label={`Copy ${title}`} />} flush>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
              <section className="output-source" tabIndex={0} aria-label={title}>
                <pre>{text}</pre>
              </section>
            </Card>
          )
        );
      })}
    </div>
  );
}

/** A version as one text, to compare. */
const asText = (version: Version) =>
  [["Description", "description"] as const, ...TEXTS]
    .map(([title, field]) => `# ${title}\n${version[field] ?? ""}`)
    .join("\n\n");

function Versions({ versions }: { versions: Version[] }) {
  const [newest, before = newest] = versions.map(({ version_num }) => String(version_num));
  const [{ from, to }, field] = useDraft({ from: before ?? "", to: newest ?? "" });
  const options = versions.map(({ version_num }) => ({
    value: String(version_num),
    label: `Version ${version_num}`,
  }));
  const textOf = (wanted: string) => {
    const found = versions.find(({ version_num }) => String(version_num) === wanted);
    return found ? asText(found) : "";
  };
  return (
    <div className="sides by-list">
      <ol className="framed" aria-label="Versions" reversed>
        {versions.map(({ version_num, created_at }) => (
          <li key={version_num}>
            <strong>Version {version_num}</strong>
            <p className="muted small">
              <Time at={created_at} />
            </p>
          </li>
        ))}
      </ol>
      {versions.length > 1 ? (
        <div className="stack">
          <div className="row compare-choice">
            <SelectField label="From" {...field("from")} options={options} />
            <SelectField label="To" {...field("to")} options={options} />
          </div>
          <Diff before={textOf(from)} after={textOf(to)} />
        </div>
      ) : (
        <p className="muted">Save a second version to compare.</p>
      )}
    </div>
  );
}
