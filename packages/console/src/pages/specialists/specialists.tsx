import { useNavigate, useParams } from "react-router";
import type {
  Specialist,
  SpecialistsListResult,
  SpecialistsVersionsResult,
} from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useFollowed, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { DialogButton } from "../../ui/button.tsx";
import { VersionList } from "../../ui/diff.tsx";
import { area, text, useForm } from "../../ui/form.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Pencil, UserCog } from "../../ui/icons.tsx";
import { DetailPage, ListPage, wholeList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, Titled } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Badge, TextCard, Time } from "../../ui/text.tsx";

const COLUMNS: Column<SpecialistsListResult["specialists"][number]>[] = [
  column("Specialist", ({ name, description }) => (
    <Titled to={`/specialists/${name}`} title={name}>
      {description || "No description"}
    </Titled>
  )),
  endColumn("Version", ({ version_num }) => version_num),
  endColumn("Updated", ({ updated_at }) => <Time at={updated_at} />),
];

export function Specialists() {
  const { may } = useSession();
  const loaded = useRead(api.specialists.list, {}, [], { name: "specialists" });
  return (
    <ListPage
      title="Specialists"
      lead="A specialist is a named set of instructions that any agent loads for a task, such as reviewing. Earlier versions are kept."
      create={may("specialists.write") && "Create specialist"}
      dialog={(onClose) => <WriteDialog onClose={onClose} />}
      pages={wholeList(loaded, ({ specialists }) => specialists)}
      columns={COLUMNS}
      keyOf={({ name }) => name}
      icon={UserCog}
      none={
        <>
          Write down once how a kind of work is done. Agents load it with{" "}
          <code>POST /v1/specialists/NAME/load</code>, and get its prompt and rules.
        </>
      }
    />
  );
}

type Version = SpecialistsVersionsResult["versions"][number];

/** More versions than this are not compared here. */
const MOST_VERSIONS = 200;

export function SpecialistPage() {
  const { name = "" } = useParams();
  const { may } = useSession();
  return (
    <DetailPage
      of={useFollowed("specialist", (signal) => allVersions(name, signal), [name])}
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
            dialog={(onClose) => <WriteDialog of={latest} onClose={onClose} />}
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
            { key: "versions", label: "Versions", content: <Versions key={versions.length} of={versions} /> },
          ]}
        />
      )}
    </DetailPage>
  );
}

async function allVersions(name: string, signal: AbortSignal): Promise<Version[]> {
  const found: Version[] = [];
  for await (const version of api.specialists.versions.all({ name, limit: 50 }, { signal }))
    if (found.push(version) === MOST_VERSIONS) break;
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
        return text && <TextCard key={field} title={title} text={text} copy={`Copy ${title}`} />;
      })}
    </div>
  );
}

const asText = (version: Version) =>
  [["Description", "description"] as const, ...TEXTS]
    .map(([title, field]) => `# ${title}\n${version[field] ?? ""}`)
    .join("\n\n");

function Versions({ of }: { of: Version[] }) {
  return (
    <VersionList of={of} textOf={asText}>
      {({ version_num, created_at }) => (
        <>
          <strong>Version {version_num}</strong>
          <p className="muted small">
            <Time at={created_at} />
          </p>
        </>
      )}
    </VersionList>
  );
}

interface Props {
  /** The latest version; missing for a new specialist. */
  of?: Specialist;
  onClose(): void;
}

const MAX = 100_000;

const FIELDS = {
  name: text("Name", {
    required: true,
    maxLength: 100,
    pattern: "[a-z0-9]+([._\\-][a-z0-9]+)*",
    title: "Lower-case letters and digits, separated by . _ or -",
    placeholder: "contract-reviewer",
    hint: "Agents load it by this name. It cannot be changed.",
  }),
  description: text("Description", { maxLength: 2000 }),
  system_prompt: area("System prompt", { required: true, maxLength: MAX, rows: 8 }),
  memory_search_directives: area("What to search the memories for", { maxLength: MAX, rows: 3 }),
  output_format_rules: area("Format of results", { maxLength: MAX, rows: 3 }),
};

/** Writes the next version of a specialist, or the first of a new one. */
function WriteDialog({ of, onClose }: Props) {
  const form = useForm(FIELDS, of);
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const written = form.values();
    if (!of) await requireNew(written.name);
    const { version_num } = await api.specialists.write(written);
    toast({ title: `Saved as version ${version_num}.` });
    onClose();
    if (!of) navigate(`/specialists/${written.name}`, { replace: true });
  });
  return (
    <FormDialog
      wide
      title={of ? `New version of ${of.name}` : "New specialist"}
      submit={of ? "Save version" : "Create specialist"}
      onClose={onClose}
      task={save}
    >
      {!of && form.show("name")}
      {form.rows("description", "system_prompt", "memory_search_directives", "output_format_rules")}
    </FormDialog>
  );
}

/** Writing an existing name would add a version to it. */
async function requireNew(name: string): Promise<void> {
  const { specialists } = await api.specialists.list();
  if (specialists.some((each) => each.name === name))
    throw new Error(`${name} already exists. Choose another name, or open it to write its next version.`);
}
