import { newCli } from "../support/cli.ts";
import { arrived, healthy } from "./browser.ts";
import type { Day } from "./seed.ts";

/**
 * The same morning in a shell, for another agent: every step is a command of a person who signed in.
 *
 * @throws Error with what a command printed, where it fails or says something else than it should
 */
export async function fixInShell(day: Day, say: (line: string) => void): Promise<void> {
  const { server, shipping, template } = day;
  const cli = newCli();
  const run = async (...args: string[]) => {
    const { code, out, err } = await cli.run(args);
    if (code !== 0) throw new Error(`sensorium ${args.join(" ")} ended with ${code}: ${err}`);
    return out.trimEnd();
  };
  const json = async (...args: string[]) => JSON.parse(await run(...args, "--json"));
  try {
    const { email, password } = server.credentials.admin;
    const signIn = ["login", email, "--password-stdin", "--url", server.root];
    const { code, err } = await cli.run(signIn, { input: `${password}\n` });
    if (code !== 0) throw new Error(`the sign-in ended with ${code}: ${err}`);

    const listed = await run("agent", "list", "--attention");
    expectIn(listed, /unreachable/, shipping.name);
    say("`agent list --attention` names the stuck agent");
    expectIn(await run("agent", "show", shipping.id), /Last error.*ECONNREFUSED/);
    say("`agent show` names the cause");
    await run("agent", "update", shipping.id, "--endpoint", shipping.endpoint.url);
    await arrived(shipping, shipping.pending);
    say(`after \`agent update --endpoint\` its ${shipping.pending} pending deliveries arrive`);

    const causes = await json("dlq", "causes", "--agent", shipping.id);
    if (causes.length !== 1 || causes[0].count !== shipping.dead)
      throw new Error(`dlq causes gave ${JSON.stringify(causes)}`);
    expectIn(
      await run("dlq", "replay", "--agent", shipping.id, "--reason", causes[0].reason),
      `${shipping.dead} replayed.`,
    );
    await arrived(shipping, shipping.pending + shipping.dead);
    await healthy(day, shipping);
    say(`so do its ${shipping.dead} dead letters after \`dlq replay\``);

    const id = await run("run", "create", "Outage of shipping", "--template", template);
    for (const step of ["timeline", "cause"])
      await run("run", "complete", id, step, "--note", "See the chat of that day");
    expectIn(await run("run", "complete", id, "actions", "--note", "One alert more"), "Run completed.");
    say("the postmortem is written as a run");
  } finally {
    await cli.remove();
  }
}

function expectIn(text: string, ...parts: (string | RegExp)[]): void {
  const missing = parts.filter((part) => !(part instanceof RegExp ? part.test(text) : text.includes(part)));
  if (missing.length > 0) throw new Error(`${missing.join(", ")} is not in:\n${text}`);
}
