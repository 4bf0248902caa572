import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";

const FILE = join(import.meta.dirname, "../../docs/benchmarks.md");

/** One measured line: what, the figure, what it had to be (if anything), and whether it was. */
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
  run(): Promise<Row[]>;
}

/** Replaces a part's section in `docs/benchmarks.md`, keeping the others. */
export function writeSection({ name, title }: Part, rows: Row[]): void {
  const text = existsSync(FILE) ? readFileSync(FILE, "utf8") : HEAD;
  const section = `<!-- ${name} -->\n${render(title, rows)}<!-- /${name} -->\n`;
  const old = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->\n`);
  writeFileSync(FILE, old.test(text) ? text.replace(old, () => section) : `${text}\n${section}`);
}

function render(title: string, rows: Row[]): string {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.version}`;
  const lines = rows.map(
    ({ what, figure, target, met }) =>
      `| ${what} | ${figure} | ${target ?? ""} | ${met === undefined ? "" : met ? "yes" : "**no**"} |`,
  );
  const date = new Date().toISOString().slice(0, 10);
  return `## ${title}\n\n${date}, ${machine}\n\n| | measured | target | met |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}

const HEAD = `# Benchmarks

Written by \`npm run bench\` (all parts) or \`npm run bench -- PART …\`; each part says when it was last run. Server and
load generator share one machine, so every rate is of both together. A *commit* is the median time of a 4 KB append
and \`fdatasync\` on the same disk in the same run: no durable answer can be faster than that.
`;

/** A line of progress on the terminal. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);
}
