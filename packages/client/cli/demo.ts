import { type DemoApi, demoOf } from "../demo.ts";
import { isApiError } from "../errors.ts";
import type { Command } from "./command.ts";
import { Failure } from "./usage.ts";

export const demo: Command = {
  takes: "",
  does: "Fills a separate organisation with a small example to look at. Yours stays as it is.",
  options: { remove: { means: "remove it with all that was done in it" } },
  examples: ["demo", "demo --remove"],
  async run(context) {
    const { options, signal, print } = context;
    if (options.remove) {
      const removed = await perform(demoOf(context.client), (api) => api.delete({}, { signal }));
      const { tenant_id, erased } = removed;
      return print(
        removed,
        tenant_id === null
          ? "There is no demonstration to remove."
          : `Removed the demonstration with its ${erased} rows.`,
      );
    }
    const made = await perform(demoOf(context.client), (api) => api.create({}, { signal }));
    const width = Math.max(...made.made.map(({ what }) => what.length));
    print(made, () =>
      [
        `${made.tenant.name} is a separate organisation. It has:`,
        ...made.made.map(({ what, url }) => `  ${what.padEnd(width)}  ${url}`),
        "",
        `Sign in at ${made.url}`,
        `  e-mail    ${made.person.email}`,
        `  password  ${made.person.password}`,
        "",
        "To remove it: sensorium demo --remove",
      ].join("\n"),
    );
  },
};

/** @throws Failure if the service does not run the extension */
async function perform<T>(api: DemoApi | undefined, call: (api: DemoApi) => Promise<T>): Promise<T> {
  const missing = () =>
    new Failure("This service offers no demonstration: it runs without `demo`.", "not_found");
  if (!api) throw missing();
  return call(api).catch((err: unknown) => {
    throw isApiError(err, "not_found") ? missing() : err;
  });
}
