import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, filled } from "../../data/format.ts";
import { useIsOwn } from "../../data/names.ts";
import { useRead } from "../../data/queries.ts";
import { saveFile } from "../../data/save-file.ts";
import { Button, DialogButton, IconButton } from "../../ui/button.tsx";
import { VersionList } from "../../ui/diff.tsx";
import { select, text, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps, useAct } from "../../ui/form-dialog.tsx";
import { Download, MoreHorizontal, Pencil } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useSaving, useTask } from "../../ui/task.tsx";
import { Badge, Id, TextCard, Time, Who } from "../../ui/text.tsx";
import { ScopeBadge, TAGS, Tags } from "../memories/words.tsx";
import { SaveDialog } from "./outputs.tsx";
import "./outputs.css";

/** A longer text takes a browser seconds to render. */
const MAX_RENDERED = 1_000_000;

export function OutputPage() {
  const { id = "" } = useParams();
  return (
    <DetailPage
      of={useRead(api.outputs.get, { output_id: id }, "output")}
      kind="Output"
      above={{ "/outputs": "Outputs" }}
      titleOf={({ title }) => title}
      stateOf={({ current_version_num }) => <Badge label={`Version ${current_version_num}`} />}
      actionsOf={(output) => (
        <>
          <DialogButton
            label="Create version"
            icon={Pencil}
            dialog={(onClose) => <SaveDialog output={output} onClose={onClose} />}
          />
          <More output={output} />
        </>
      )}
      lines={10}
    >
      {(output) => (
        <Tabs
          label="Output"
          tabs={[
            { key: "rendered", label: "Rendered", content: <Rendered output={output} /> },
            {
              key: "source",
              label: "Source",
              content: <TextCard title="Markdown" text={output.body ?? ""} />,
            },
            {
              key: "versions",
              label: "Versions",
              content: <Versions key={output.current_version_num} output={output} />,
            },
          ]}
        />
      )}
    </DetailPage>
  );
}

function Rendered({ output }: { output: Output }) {
  const text = output.body ?? "";
  const by = output.agent_id ?? output.user_id;
  return (
    <div className="sides with-facts">
      <Card>
        <Markdown title={output.title}>{text.slice(0, MAX_RENDERED)}</Markdown>
        {text.length > MAX_RENDERED && (
          <p className="notice">Only the beginning is shown. Export the output to read all of it.</p>
        )}
      </Card>
      <FactsCard
        of={{
          Scope: <ScopeBadge scope={output.scope} />,
          Author: by && <Who id={by} />,
          Project: output.project_id,
          Tags: output.tags.length > 0 && <Tags tags={output.tags} />,
          Run: output.process_run_id && <Link to={`/runs/${output.process_run_id}`}>View run</Link>,
          "Superseded by": output.superseded_by && (
            <Link to={`/outputs/${output.superseded_by}`}>View newer output</Link>
          ),
          "Derived from": linksTo(output.derived_from_ids),
          References: linksTo(output.references_ids),
          Supersedes: linksTo(output.supersedes_ids),
          Size: bytes(output.byte_size),
          Updated: <Time at={output.updated_at} />,
          Slug: <Id>{output.slug}</Id>,
          "SHA-256": <Id>{output.content_hash}</Id>,
        }}
      />
    </div>
  );
}

const linksTo = (ids: readonly string[]) =>
  ids.length > 0 &&
  ids.map((id) => (
    <Link key={id} to={`/outputs/${id}`} className="output-link">
      …{id.slice(-8)}
    </Link>
  ));

function Versions({ output }: { output: Output }) {
  return (
    <Load of={useRead(api.outputs.listVersions, { output_id: output.id })}>
      {({ versions }) => (
        <VersionList
          of={versions}
          textOf={async ({ version_num }, signal) => {
            const which = { output_id: output.id, version_num: String(version_num) };
            return (await api.outputs.getVersion(which, { signal })).body ?? "";
          }}
        >
          {(version) => {
            const by = version.authored_by_agent_id ?? version.authored_by_user_id;
            return (
              <>
                <p>
                  <strong>Version {version.version_num}</strong>{" "}
                  <span className="muted small">{bytes(version.byte_size)}</span>
                </p>
                {version.change_note && <p>{version.change_note}</p>}
                <p className="muted small">
                  {by ? <Who id={by} /> : "Unknown"} · <Time at={version.created_at} />
                </p>
              </>
            );
          }}
        </VersionList>
      )}
    </Load>
  );
}

const FORMATS = [
  { value: "md", label: "Markdown" },
  { value: "html", label: "HTML" },
  { value: "pdf", label: "PDF" },
  { value: "docx", label: "Word" },
] as const;
type Format = (typeof FORMATS)[number]["value"];

function More({ output }: { output: Output }) {
  const [open, setOpen] = useState<"mail" | "file" | null>(null);
  const own = useIsOwn(output);
  const navigate = useNavigate();
  const close = () => setOpen(null);
  const save = useTask(async (format: Format) =>
    saveFile(
      (await api.outputs.export({ output_id: output.id, format })) as string | Blob,
      `${output.slug}.${format}`,
    ),
  );
  const remove = useAct(() => ({
    title: `Delete “${output.title}”?`,
    text: "All versions are erased, and searches no longer find it. This cannot be undone.",
    action: "Delete",
    act: () => api.outputs.delete({ output_id: output.id }),
    done: "Output deleted.",
    after: () => navigate("/outputs"),
  }));
  return (
    <>
      <Menu
        trigger={<Button label="Export" icon={Download} busy={save.busy} />}
        choices={FORMATS.map(({ value, label }) => ({ label, onSelect: () => save.run(value) }))}
      />
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Project and tags…", onSelect: () => setOpen("file") },
          { label: "Send by e-mail…", onSelect: () => setOpen("mail") },
          own && { label: "Delete…", onSelect: () => remove.run(), danger: true },
        ]}
      />
      {open === "mail" && <MailDialog output={output} onClose={close} />}
      {open === "file" && <FileDialog output={output} onClose={close} />}
    </>
  );
}

const MAIL = {
  to: text("To", { type: "email", required: true }),
  subject: text("Subject", { required: true, maxLength: 300 }),
  attach_format: select("Attachment", [{ value: "", label: "None: the text is in the e-mail" }, ...FORMATS]),
};

type DialogProps = SavingProps & { output: Output };

function MailDialog({ output, onClose }: DialogProps) {
  const form = useForm(MAIL, { subject: output.title });
  const send = useSaving(onClose, async () => {
    const mail = form.values();
    await api.outputs.email({ output_id: output.id, ...filled(mail) });
    return `Sent to ${mail.to}.`;
  });
  return <FormDialog title="Send by e-mail" submit="Send" onClose={onClose} task={send} form={form} />;
}

const FILED = {
  project_id: text("Project", { hint: "A project's key. Empty: no project." }),
  tags: TAGS,
};

function FileDialog({ output, onClose }: DialogProps) {
  const form = useForm(FILED, output);
  const save = useSaving(onClose, async () => {
    const saved = await form.save(api.outputs, { output_id: output.id }, `/outputs/${output.id}`);
    return saved ? undefined : false;
  });
  return <FormDialog title="Project and tags" submit="Save" onClose={onClose} task={save} form={form} />;
}
