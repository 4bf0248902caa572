import { useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import type { Exemplar } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useTitle } from "../../data/names.ts";
import { useRead } from "../../data/queries.ts";
import { saveFile } from "../../data/save-file.ts";
import { IconButton } from "../../ui/button.tsx";
import { FileField } from "../../ui/field.tsx";
import { area, text, useForm } from "../../ui/form.tsx";
import { ActButton, FormDialog, type SavingProps, useAct } from "../../ui/form-dialog.tsx";
import { BookMarked, Download, MoreHorizontal } from "../../ui/icons.tsx";
import { DetailPage, ListPage, wholeList } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { type Column, column, endColumn, Load, Titled, wideColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast, useFormTask, useSaving } from "../../ui/task.tsx";
import { Id, TextCard, Time } from "../../ui/text.tsx";

const COLUMNS: Column<Exemplar>[] = [
  column("Exemplar", ({ id, display_name, original_filename }) => (
    <Titled to={`/exemplars/${id}`} title={display_name}>
      {original_filename}
    </Titled>
  )),
  wideColumn("Kind", ({ media_type }) => (media_type === "text/markdown" ? "Markdown" : "Text")),
  endColumn("Size", ({ byte_size }) => bytes(byte_size)),
  endColumn("Created", ({ created_at }) => <Time at={created_at} />),
];

export function Exemplars() {
  const q = (useSearchParams()[0].get("q") ?? "").toLowerCase();
  const loaded = useRead(api.exemplars.list, {}, "exemplar", { name: "exemplars" });
  return (
    <ListPage
      title="Exemplars"
      lead="An exemplar is a text that shows how a result should look. Runs have it attached, and steps point to it."
      create="Add exemplar"
      dialog={(onClose) => <AddDialog onClose={onClose} />}
      searched
      pages={wholeList(loaded, (all) => all.filter((each) => namesOf(each).includes(q)))}
      columns={COLUMNS}
      icon={BookMarked}
      none="Add a text or Markdown file that agents should follow, such as a release note that you like."
    />
  );
}

const namesOf = ({ display_name, original_filename }: Exemplar) =>
  `${display_name} ${original_filename}`.toLowerCase();

const MAX_BYTES = 1_048_576;

const ADDED = {
  display_name: text("Name", { required: true, maxLength: 200, placeholder: "A release note we like" }),
  filename: text("File name", {
    maxLength: 255,
    placeholder: "text.md",
    hint: "A name that ends in .md is Markdown; others are plain text.",
  }),
  content: area("Text", { required: true, rows: 10, hint: "Stored unchanged, at most 1 MB." }),
};

/** Adds a text, from a file or typed. The same text is stored once. */
function AddDialog({ onClose }: { onClose(): void }) {
  const form = useForm(ADDED);
  const { display_name } = form.drafts;
  const navigate = useNavigate();
  const add = useFormTask(async () => {
    const before = await api.exemplars.list();
    const { filename, ...given } = form.values();
    const made = await api.exemplars.create({ ...given, filename: filename ?? "text.md" });
    const known = before.find(({ id }) => id === made.id);
    toast({ title: known ? `This text exists already, as “${known.display_name}”.` : "Exemplar added." });
    navigate(`/exemplars/${made.id}`, { replace: true });
  });
  const read = useFormTask(async (file: File) => {
    if (file.size > MAX_BYTES)
      throw new Error(`${file.name} has ${bytes(file.size)}. At most 1 MB is allowed.`);
    const content = await file.text();
    form.change({ content, filename: file.name, display_name: display_name || file.name });
  });
  return (
    <FormDialog
      wide
      title="New exemplar"
      submit="Add exemplar"
      onClose={onClose}
      task={add}
      error={add.error ?? read.error}
    >
      <FileField
        label="File"
        accept=".md,.markdown,.txt,text/*"
        onChange={(file) => file && read.run(file)}
        hint="Or type or paste the text below."
      />
      {form.rows()}
    </FormDialog>
  );
}

export function ExemplarPage() {
  const { id = "" } = useParams();
  return (
    <DetailPage
      of={useRead(api.exemplars.get, { exemplar_id: id }, "exemplar")}
      kind="Exemplar"
      above={{ "/exemplars": "Exemplars" }}
      titleOf={({ display_name }) => display_name}
      actionsOf={(data) => <Actions exemplar={data} />}
      lines={10}
    >
      {(data) => (
        <div className="sides with-facts">
          <Text exemplar={data} />
          <About exemplar={data} />
        </div>
      )}
    </DetailPage>
  );
}

function Text({ exemplar }: { exemplar: Exemplar }) {
  const text = exemplar.extracted_text ?? "";
  const source = <TextCard title={exemplar.original_filename} label="Text" text={text} />;
  if (exemplar.media_type === "text/plain") return source;
  const rendered = (
    <Card>
      <Markdown title={exemplar.display_name}>{text}</Markdown>
    </Card>
  );
  return (
    <Tabs
      label="Exemplar"
      tabs={[
        { key: "rendered", label: "Rendered", content: rendered },
        { key: "source", label: "Source", content: source },
      ]}
    />
  );
}

function About({ exemplar }: { exemplar: Exemplar }) {
  const { id: exemplar_id } = exemplar;
  return (
    <div className="stack">
      <FactsCard
        of={{
          File: exemplar.original_filename,
          Size: bytes(exemplar.byte_size),
          Created: <Time at={exemplar.created_at} />,
          Updated: <Time at={exemplar.updated_at} />,
          ID: <Id>{exemplar.id}</Id>,
        }}
      />
      <Card title="Used by">
        <Load of={useRead(api.exemplars.referrers, { exemplar_id }, ["run", "template"])} lines={2}>
          {({ referrers }) =>
            referrers.length === 0 ? (
              <p className="muted">No run or template refers to it. It can be deleted.</p>
            ) : (
              <ul className="plain-list">
                {referrers.map(({ resource_type, resource_id: id }) => (
                  <li key={id}>
                    {resource_type === "run" ? (
                      <RunLink id={id} />
                    ) : (
                      <Link to={`/templates/${id}`}>{id}</Link>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Load>
      </Card>
    </div>
  );
}

function RunLink({ id }: { id: string }) {
  return <Link to={`/runs/${id}`}>{useTitle("run", id) ?? `Run …${id.slice(-8)}`}</Link>;
}

function Actions({ exemplar }: { exemplar: Exemplar }) {
  const [renaming, setRenaming] = useState(false);
  const navigate = useNavigate();
  const { id: exemplar_id, display_name, original_filename } = exemplar;
  const remove = useAct(() => ({
    title: `Delete “${display_name}”?`,
    text: "The text is erased. This cannot be undone.",
    action: "Delete",
    act: () => api.exemplars.delete({ exemplar_id }),
    done: "Exemplar deleted.",
    after: () => navigate("/exemplars"),
  }));
  return (
    <>
      <ActButton
        label="Download"
        icon={Download}
        act={async () => saveFile(await api.exemplars.download({ exemplar_id }), original_filename)}
      />
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Rename…", onSelect: () => setRenaming(true) },
          { label: "Delete…", onSelect: () => remove.run(), danger: true },
        ]}
      />
      {renaming && <RenameDialog exemplar={exemplar} onClose={() => setRenaming(false)} />}
    </>
  );
}

const RENAMED = { display_name: text("Name", { required: true, maxLength: 200 }) };

function RenameDialog({ exemplar, onClose }: SavingProps & { exemplar: Exemplar }) {
  const form = useForm(RENAMED, exemplar);
  const rename = useSaving(onClose, async () => {
    await api.exemplars.rename({ exemplar_id: exemplar.id, ...form.values() });
    return "Renamed.";
  });
  return <FormDialog title="Rename exemplar" submit="Rename" onClose={onClose} task={rename} form={form} />;
}
