import type { Operation as Contract } from "../../../lib/contract/contract.ts";
import { MODEL_CHARACTERS } from "../../../lib/text/budget.ts";
import { SECRETS } from "../../../lib/text/redact.ts";
import type { JsonSchema } from "../../client/generate/json.ts";
import { describe, isDocument, pagesOf } from "../../client/generate/operations.ts";

const NOTE = "# Written by `npm run openapi` from the contracts: change those.\n";

/** Names that Python, or pydantic's models, keep for themselves: they get a `_` at the end. */
const TAKEN = new Set([
  "from",
  "in",
  "class",
  "import",
  "global",
  "schema",
  "copy",
  "json",
  "dict",
  "validate",
]);

const CLASS_NAME = /^[A-Z][A-Za-z0-9]*$/;
const LINE = 120;

/** Returns the generated modules by name. Pure: the same contracts give the same files. */
export function generated(contracts: readonly Contract[]): Record<string, string> {
  const services = new Map<string, Contract[]>();
  const seen = new Set<string>();
  for (const op of contracts) {
    // Separate protocols with their own clients; streams are read by `listen`.
    // MCP and OAuth are separate protocols with their own clients.
    if (op.action === "gateway.mcp" || op.oauth || op.stream || seen.has(op.action)) continue;
    seen.add(op.action);
    const [service = ""] = op.action.split(".");
    services.set(service, [...(services.get(service) ?? []), op]);
  }
  const sorted = [...services].sort(([a], [b]) => (a < b ? -1 : 1));
  const models = new Models();
  return {
    ...{ "_api.py": apiOf(sorted, models), "_budget.py": budgetOf(), "_redact.py": redactOf() },
    "models.py": models.written(),
  };
}

/** Returns the service's budget of a text for a model as a module. */
function budgetOf(): string {
  return [
    "# Written by `npm run openapi` from lib/text/budget.ts: change that.",
    `MODEL_CHARACTERS = ${MODEL_CHARACTERS}`,
    '"""Characters of one text for a model."""\n',
  ].join("\n");
}

/** Returns the service's list of secrets as a module. */
function redactOf(): string {
  const lines = SECRETS.map(([pattern, replacement, flags]) => {
    const flag = flags === "gi" ? "re.IGNORECASE" : "0";
    return `    (re.compile(${JSON.stringify(pattern)}, ${flag}), ${JSON.stringify(replacement.replaceAll("$1", "\\g<1>"))}),`;
  });
  return [
    "# Written by `npm run openapi` from lib/text/redact.ts: change that.",
    '"""What looks like a secret."""\n',
    "import re\n",
    '_GONE = "[redacted]"',
    `_SECRETS = [\n${lines.join("\n")}\n]\n\n`,
    "def redact(text: str) -> str:",
    '    """Replaces what looks like a secret in a reason. Others remain: it should contain none."""',
    "    return _GONE.join(_redact_part(part) for part in text.split(_GONE))\n\n",
    "def _redact_part(text: str) -> str:",
    "    for pattern, replacement in _SECRETS:",
    "        text = pattern.sub(replacement, text)",
    "    return text\n",
  ].join("\n");
}

function apiOf(services: [string, Contract[]][], models: Models): string {
  const classes = services.map(
    ([service, ops]) =>
      `class ${camel(service)}(Group[Mode]):\n${ops.map((op) => methodsOf(op, models)).join("\n")}`,
  );
  const own = services.map(([service]) => `        self.${service} = ${camel(service)}[Mode](caller)\n`);
  return [
    NOTE,
    // Functions without a body.
    '# mypy: disable-error-code="empty-body"\n',
    "from __future__ import annotations\n\n",
    "from collections.abc import Mapping, Sequence\n",
    "from datetime import datetime\n",
    "from typing import Any, Generic, List, Literal, Union\n\n",
    "from . import models\n",
    "from ._group import UNSET, AllPages, Caller, Group, Mode, Unset, operation\n\n\n",
    classes.join("\n\n"),
    '\n\nclass Api(Generic[Mode]):\n    """Every operation of the service: `client.<domain>.<operation>(…)`."""\n\n',
    `    def __init__(self, caller: Caller) -> None:\n${own.join("")}`,
  ].join("");
}

/** Returns an operation's method, and the one that goes through all its pages. */
function methodsOf(op: Contract, models: Models): string {
  const [service = "", action = ""] = op.action.split(".");
  const name = safe(action);
  const result = resultOf(op, models, camel(service) + camel(action));
  const fields = { ...op.path, ...op.query, ...op.body } as Record<string, JsonSchema>;
  const required = (op.params as unknown as JsonSchema).required ?? [];
  const names = Object.keys(fields).sort(
    (a, b) => Number(required.includes(b)) - Number(required.includes(a)),
  );
  const own = names.map((each) => {
    const type = typeOf(fields[each] as JsonSchema);
    return `${safe(each)}: ${type}${required.includes(each) ? "" : " | Unset = UNSET"}`;
  });
  const parameters = [
    "self",
    "*",
    ...own,
    ...(op.method === "GET" ? [] : ["idempotency_key: str | None = None"]),
    "timeout: float | None = None",
  ];
  const method = [
    ...listed(`    @operation(`, howOf(op), ")"),
    ...listed(`    def ${name}(`, parameters, `) -> ${typeText(result)}:`),
    documented(op, fields, names),
  ];
  const pages = pagesOf(op);
  const all = pages && `\n    ${name}_all = AllPages(${name}, ${models.itemOf(result, pages.items)})\n`;
  return method.join("") + (all ?? "");
}

/** Returns a list in parentheses: in one line if it fits, else over lines that are filled. */
function listed(before: string, items: string[], after: string): string[] {
  const one = `${before}${items.join(", ")}${after}`;
  if (one.length <= LINE) return [`${one}\n`];
  const inner = filled(
    items.map((item) => `${item},`),
    8,
  ).map((line) => `        ${line}`);
  return [before, ...inner, `    ${after}`].map((line) => `${line}\n`);
}

/** Returns the arguments of the decorator: how the operation is called. */
function howOf(op: Contract): string[] {
  const { method, path, root, query, whole, sends, open, repeatable, document, file, pages } = describe(op);
  const how = [
    root && "root=True",
    query?.length && `query=(${query.map((name) => `${text(name)},`).join(" ")})`,
    whole && `whole=${text(whole)}`,
    sends && `sends=${text(sends)}`,
    open && "open=True",
    repeatable && "repeatable=True",
    document && "document=True",
    file && "file=True",
    pages && `pages=(${text(pages.items)}, ${text(pages.by)})`,
  ];
  return [text(method), text(path), ...how.filter((each) => typeof each === "string")];
}

/** In a class with a method `list`, that name is no type. */
const typeText = (result: string) => result.replace(/^list\[/, "List[");

function resultOf(op: Contract, models: Models, name: string): string {
  if (op.produces && isDocument(op))
    return op.produces.every((type) => type.startsWith("text/")) ? "str" : "bytes";
  if (op.alsoProduces) return "Any";
  const good = Object.entries(op.results).filter(([status]) => Number(status) < 300);
  const types = [
    ...new Set(
      good.map(([, schema]) => (schema === null ? "None" : models.of(schema as JsonSchema, `${name}Result`))),
    ),
  ];
  return types.length === 1 ? (types[0] as string) : "Any";
}

function documented(
  { summary, description, access }: Contract,
  fields: Record<string, JsonSchema>,
  names: readonly string[],
): string {
  const { scope } = access as { scope?: string };
  const more = [description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join(" ");
  const args = names.flatMap((name) => {
    const said = descriptionOf(fields[name] as JsonSchema);
    return said
      ? wrapped(`${safe(name)}: ${said}`, 19).map((line, at) => `${at ? "        " : "    "}${line}`)
      : [];
  });
  const lines = [
    ...wrapped(`${summary}.`, 11),
    ...(more
      ? ["", ...more.split("\n\n").flatMap((part, at) => [...(at ? [""] : []), ...wrapped(part, 11)])]
      : []),
    ...(args.length ? ["", "Args:", ...args] : []),
  ];
  return `        """${lines.map((line, at) => (at && line ? `        ${line}` : line)).join("\n")}"""\n`;
}

/** Returns what a field's description says besides its name; undefined for nothing. */
function descriptionOf({ description, anyOf = [] }: JsonSchema): string | undefined {
  const said = (description as string | undefined) ?? anyOf.map(descriptionOf).find(Boolean);
  return said && /^Id of the [\w ]+\.$/.test(said) ? undefined : said;
}

/** Returns the lines of a paragraph that is indented by so much. */
function wrapped(paragraph: string, indent: number): string[] {
  return filled(paragraph.replaceAll("\\", "\\\\").replaceAll('"""', "'''").split(/\s+/), indent);
}

/** Fills lines that are indented by so much. */
function filled(words: string[], indent: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && indent + last.length + word.length + 1 <= LINE)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns the type of a parameter. */
function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(", ")}]`;
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
  switch (schema.type) {
    case "array":
      return `Sequence[${schema.items ? typeOf(schema.items) : "Any"}]`;
    case "object":
      return "Mapping[str, Any]";
    default:
      if (schema.format === "date-time") return "str | datetime";
      return SIMPLE[schema.type ?? ""] ?? "Any";
  }
}

const SIMPLE: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** The models of answers: schemas with a name, and those of single operations. */
class Models {
  readonly #classes = new Map<string, string>();
  readonly #items = new Map<string, Record<string, string>>();

  /** Returns the type of a schema in an answer, as written in `_api.py`. @param name if it has none */
  of(schema: JsonSchema, name: string): string {
    return this.#typeOf(schema, name, "models.");
  }

  /** Returns the type of the items of a list in an answer. */
  itemOf(result: string, field: string): string {
    const list = field === "" ? result : this.#items.get(result.replace("models.", ""))?.[field];
    return (
      /^list\[(.*)\]$/.exec(list ?? "")?.[1]?.replace(/^(?!models\.)(?=[A-Z])(?!Any)/, "models.") ?? "Any"
    );
  }

  written(): string {
    const head = [
      NOTE,
      "from __future__ import annotations\n\n",
      "from typing import Any, Literal, Union\n\n",
      "from pydantic import Field\n\n",
      "from ._model import Model\n\n\n",
    ];
    const classes = [...this.#classes.keys()].sort().map((name) => this.#classes.get(name) as string);
    return head.join("") + classes.join("\n\n");
  }

  #typeOf(schema: JsonSchema, name: string, prefix = ""): string {
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    // A later version of the service may have more values.
    if (schema.enum) return `Union[Literal[${schema.enum.map(literal).join(", ")}], str]`;
    if (schema.anyOf)
      return union([...new Set(schema.anyOf.map((each) => this.#typeOf(each, name, prefix)))]);
    if (schema.type === "array")
      return `list[${schema.items ? this.#typeOf(schema.items, `${name}Item`, prefix) : "Any"}]`;
    if (schema.type !== "object") return SIMPLE[schema.type ?? ""] ?? "Any";
    const [values] = Object.values(schema.patternProperties ?? {});
    if (values) return `dict[str, ${this.#typeOf(values, `${name}Value`, prefix)}]`;
    if (Object.keys(schema.properties ?? {}).length === 0) return "dict[str, Any]";
    const { title = "" } = schema;
    const own = CLASS_NAME.test(title) ? title : name;
    if (!this.#classes.has(own)) this.#declare(own, schema);
    return prefix + own;
  }

  #declare(name: string, { properties = {}, required = [], description }: JsonSchema): void {
    this.#classes.set(name, "");
    const types: Record<string, string> = {};
    const lines = Object.entries(properties).map(([field, schema]) => {
      const type = this.#typeOf(schema, name + camel(field));
      types[field] = type;
      const whole = required.includes(field) ? type : union([type, "None"]);
      const alias = safe(field) === field ? undefined : `alias=${text(field)}`;
      const initial = required.includes(field) ? undefined : "default=None";
      const options = [initial, alias].filter(Boolean).join(", ");
      const value = !options ? "" : alias ? ` = Field(${options})` : " = None";
      const said = descriptionOf({ description: schema.description });
      const doc = said ? `\n    """${wrapped(said, 10).join("\n    ")}"""` : "";
      return `    ${safe(field)}: ${whole}${value}${doc}\n`;
    });
    const doc = description ? `    """${wrapped(description, 10).join("\n    ")}"""\n\n` : "";
    this.#items.set(name, types);
    this.#classes.set(name, `class ${name}(Model):\n${doc}${lines.join("")}`);
  }
}

const union = (types: string[]) => (types.length === 1 ? (types[0] as string) : `Union[${types.join(", ")}]`);

const text = (value: string) => JSON.stringify(value);

const literal = (value: unknown) =>
  typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);

function safe(name: string): string {
  const plain = name.replace(/\W/g, "_");
  return TAKEN.has(plain) ? `${plain}_` : plain;
}

function camel(name: string): string {
  return name
    .replace(/(?:^|[^a-zA-Z0-9])(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll("_", "");
}
