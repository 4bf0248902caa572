/** The part of JSON Schema in contracts that is read here. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: unknown;
}

const NAME = /^[A-Z][A-Za-z0-9]*$/;

/** Writes JSON Schema as TypeScript, and collects schemas whose `title` is a name as interfaces. */
export class SchemaTypes {
  readonly #named = new Map<string, string>();

  /** The named types, sorted by name. */
  get declarations(): string[] {
    return [...this.#named.keys()].sort().map((name) => this.#named.get(name) as string);
  }

  /** Returns the type of a schema as written at its use. */
  of(schema: JsonSchema): string {
    const { title } = schema;
    if (title === undefined || !NAME.test(title)) return this.#plain(schema);
    if (!this.#named.has(title)) {
      this.#named.set(title, "");
      this.#named.set(title, declare(title, this.#plain(schema), schema.description));
    }
    return title;
  }

  /** Returns `name: type` for each property. */
  fields(properties: Record<string, JsonSchema>, required: readonly string[]): string {
    const lines = Object.entries(properties).map(([name, schema]) => {
      const mark = required.includes(name) ? "" : "?";
      return `${comment(schema.description)}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${mark}: ${this.of(schema)};\n`;
    });
    return `{\n${lines.join("")}}`;
  }

  #plain(schema: JsonSchema): string {
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (schema.anyOf) return [...new Set(schema.anyOf.map((each) => this.of(each)))].join(" | ");
    switch (schema.type) {
      case "object":
        return this.#object(schema);
      case "array":
        return `Array<${schema.items ? this.of(schema.items) : "unknown"}>`;
      case "integer":
        return "number";
      case "string":
      case "number":
      case "boolean":
      case "null":
        return schema.type;
      default:
        return "unknown";
    }
  }

  #object({ properties = {}, required = [], patternProperties, additionalProperties }: JsonSchema): string {
    const [values] = Object.values(patternProperties ?? {});
    if (values) return `Record<string, ${this.of(values)}>`;
    if (Object.keys(properties).length === 0) return "Record<string, unknown>";
    const fields = this.fields(properties, required);
    return additionalProperties === true ? fields.replace(/\}$/, "[name: string]: unknown;\n}") : fields;
  }
}

/** Declares a named type. */
export function declare(name: string, type: string, description?: string): string {
  const text = type.startsWith("{") && type.endsWith("}") && isOneObject(type);
  return `${comment(description)}export ${text ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

/** Returns a documentation comment, or nothing. */
export function comment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll("*/", "* /").replaceAll("\n", "\n * ")} */\n` : "";
}

/** Whether the brace that opens a text is the one that closes it. */
function isOneObject(type: string): boolean {
  let depth = 0;
  for (let at = 0; at < type.length; at++) {
    if (type[at] === "{") depth++;
    if (type[at] === "}" && --depth === 0) return at === type.length - 1;
  }
  return false;
}
