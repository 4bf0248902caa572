import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { type Command, given, optionalChoice, readList, text, word } from "./command.ts";
import { readContent } from "./input.ts";
import { SCOPES } from "./memory.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age } from "./table.ts";
import { UsageError } from "./usage.ts";

const FORMATS = ["md", "html", "pdf", "docx"] as const;

const save: Command = {
  takes: "BODY",
  does: "Saves an output: a text in Markdown, stored as it is.",
  options: {
    title: { value: "TEXT", means: "default: its first heading or line" },
    scope: { value: SCOPES.join("|"), means: "who may read it; default: agent" },
    to: { value: "OUTPUT", means: "save it as a new version of this output" },
    note: { value: "TEXT", means: "what the version changes" },
    run: { value: "RUN", means: "the run that it belongs to" },
  },
  examples: ["output save @postmortem.md --title 'Postmortem'"],
  async run(context) {
    const body = await readContent(context.host, word(context, 0, "BODY"));
    const scope = optionalChoice(context, "scope", SCOPES);
    const { to, note, run } = given(context, "to", "note", "run");
    const output = await context.client.outputs.save(
      {
        body,
        ...given(context, "title"),
        ...(scope && { scope }),
        ...(to && { output_id: to }),
        ...(note && { change_note: note }),
        ...(run && { process_run_id: run }),
      },
      { signal: context.signal },
    );
    context.print(output, `${output.id} ${output.slug}, version ${output.current_version_num}`);
  },
};

const list: Command = {
  takes: "",
  does: "Lists outputs, latest first.",
  options: {
    tags: { value: "A,B", means: "only with any of these tags" },
    run: { value: "RUN", means: "only of this run" },
    ...LIMIT,
  },
  async run(context) {
    const [tags, run] = [readList(context, "tags"), text(context, "run")];
    const params = { ...(tags && { tags }), ...(run && { process_run_id: run }) };
    const outputs = await takeFirst(context, context.client.outputs.list, params);
    context.table(
      outputs,
      outputs,
      [
        ["ID", ({ id }) => id],
        ["VERSION", ({ current_version_num }) => current_version_num],
        ["SCOPE", ({ scope }) => scope],
        ["UPDATED", ({ updated_at }) => age(updated_at)],
        ["TITLE", ({ title }) => title],
      ],
      "No outputs.",
    );
  },
};

const show: Command = {
  takes: "OUTPUT",
  does: "Prints the text of an output, by its id or slug.",
  async run(context) {
    const output_id = word(context, 0, "OUTPUT");
    const output = await context.client.outputs.get({ output_id }, { signal: context.signal });
    context.print(output, () => (output.body ?? "").trimEnd());
  },
};

const download: Command = {
  takes: "OUTPUT FILE",
  does: "Exports an output as a file; the ending of FILE says the format.",
  options: { format: { value: FORMATS.join("|"), means: "default: the ending of FILE, else md" } },
  examples: ["output export postmortem postmortem.pdf"],
  as: ["person"],
  async run(context) {
    const [output_id, file] = [word(context, 0, "OUTPUT"), word(context, 1, "FILE")];
    const format = optionalChoice(context, "format", FORMATS) ?? formatOf(file);
    const document = await context.client.outputs.export({ output_id, format }, { signal: context.signal });
    const bytes = await new Blob([document]).bytes();
    await writeFile(context.host.pathOf(file), bytes);
    context.print({ file, format, bytes: bytes.length }, `${file} written.`);
  },
};

/** Returns the format that the ending of a file says. @throws UsageError if it is another */
function formatOf(file: string): (typeof FORMATS)[number] {
  const ending = extname(file).slice(1).toLowerCase();
  const format = ending ? FORMATS.find((each) => each === ending) : "md";
  if (format) return format;
  throw new UsageError(`${file} ends in .${ending}: expected ${FORMATS.join(", ")}, or --format.`);
}

const remove: Command = {
  takes: "OUTPUT",
  does: "Deletes an output with its versions.",
  async run(context) {
    const output_id = word(context, 0, "OUTPUT");
    await context.client.outputs.delete({ output_id }, { signal: context.signal });
    context.print({ deleted: output_id }, `${output_id} deleted.`);
  },
};

export const OUTPUTS: Record<string, Command> = {
  "output save": save,
  "output list": list,
  "output show": show,
  "output export": download,
  "output delete": remove,
};
