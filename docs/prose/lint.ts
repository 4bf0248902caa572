import { extname } from "node:path";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { typescript } from "./typescript.ts";
import { vocabulary } from "./vocabulary.ts";

const kernel = new TextlintKernel();
const plugins = [
  { pluginId: "markdown", plugin: markdown.default },
  { pluginId: "typescript", plugin: typescript },
];
const rules = [{ ruleId: "vocabulary", rule: vocabulary }];

/** Returns what readers would have to translate in a Markdown or TypeScript file, as `file:line:column: message`. */
export async function lint(text: string, file: string): Promise<string[]> {
  const { messages } = await kernel.lintText(text, { filePath: file, ext: extname(file), plugins, rules });
  return messages.map(({ loc, message }) => `${file}:${loc.start.line}:${loc.start.column}: ${message}`);
}
