import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";

const FILE = join(import.meta.dirname, "../../docs/benchmarks.md");

/** One measured line: the quantity, its figure, the requirement (if any) and whether it was met. */
export interface Row {
  what: string;
  figure: string;
  target?: string;
  met?: boolean;
}

/** A part of the benchmark: its name on the command line and its section of the report. */
export interface Part {
  name: string;
  title: string;
  /** The scope and limits of the figures. */
  note?: string;
  run(): Promise<Row[]>;
}

/** Replaces a part's section in `docs/benchmarks.md`, keeping the others. */
export function writeSection({ name, title, note }: Omit<Part, "run">, rows: Row[]): void {
  const old = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  const sections = new Map([...old.matchAll(SECTION)].map(([section, known]) => [known, section]));
  sections.set(name, `<!-- ${name} -->\n${render(title, note, rows)}<!-- /${name} -->\n`);
  writeFileSync(FILE, [HEAD, ...sections.values()].join("\n"));
}

const SECTION = /<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->\n/g;

function render(title: string, note: string | undefined, rows: Row[]): string {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.version}`;
  const lines = rows.map(
    ({ what, figure, target, met }) =>
      `| ${what} | ${figure} | ${target ?? ""} | ${met === undefined ? "" : met ? "yes" : "**no**"} |`,
  );
  const date = new Date().toISOString().slice(0, 10);
  const about = note ? `${note}\n\n` : "";
  return `## ${title}\n\n${date}, ${machine}\n\n${about}| | measured | target | met |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}

const HEAD = `# Benchmarks

Written by \`npm run bench\`, or by \`npm run bench -- PART …\` for some
parts; each part says when and on what machine it was last run. The code is in \`bench/\`.

How to read it:

- **Everything shares one machine**: the server, the load generator and any other process. Rates cover all of them
  together, so they say little about another machine.
- **Ratios say more.** Alternatives are measured in interleaved rounds of the same run: a gateway that does nothing, or a
  second server without the load in question. Figures are medians of rounds.
- **CPU** is that of the whole server process, all its threads, until the last delivery is in the store. It is steadier
  than time, in steps of 10 ms a round.
- **A commit** is the median time of a 4 KB append and \`fdatasync\` on the same disk in the same run. No durable answer can
  be faster: every publish, acknowledgement and change waits for one.
- **Targets** are this release's; a missed one says **no**.
`;

/** Prints a line of progress. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);
}
