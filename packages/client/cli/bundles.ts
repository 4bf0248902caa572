import { type Command, given, optionalChoice, text, word } from "./command.ts";
import { SCOPES } from "./memory.ts";

export const BUNDLES: Record<string, Command> = {
  "bundle assemble": {
    takes: "[QUERY]",
    does: "Assembles a bundle: what the agent knows about a query, as a brief in Markdown.",
    options: {
      since: { value: "TIME", means: "only items created at this time or later" },
      until: { value: "TIME", means: "only items created before this time" },
      project: { value: "KEY", means: "only items of this project" },
      scope: { value: SCOPES.join("|"), means: "only memories of this scope" },
    },
    examples: ["bundle assemble 'how do heavy parcels travel'"],
    as: ["agent"],
    async run(context) {
      const [query] = context.words;
      const scope = optionalChoice(context, "scope", SCOPES);
      const project_id = text(context, "project");
      const params = {
        ...(query && { query }),
        ...given(context, "since", "until"),
        ...(project_id && { project_id }),
        ...(scope && { memory_scope: scope }),
      };
      const bundle = await context.client.bundles.assemble(params, { signal: context.signal });
      context.print(bundle, () => bundle.rendered_brief.trimEnd());
    },
  },
  "bundle show": {
    takes: "ID",
    does: "Prints the brief of a bundle that the agent assembled.",
    as: ["agent"],
    async run(context) {
      const bundle = await context.client.bundles.get(
        { id: word(context, 0, "ID") },
        { signal: context.signal },
      );
      context.print(bundle, () => bundle.rendered_brief.trimEnd());
    },
  },
};
