import { ask } from "./ask.ts";
import type { Context } from "./command.ts";
import { Failure, UsageError } from "./usage.ts";

/** Asks before something that cannot be undone, unless `--yes` is given. @throws UsageError without a terminal */
export async function confirmed(context: Context, what: string): Promise<void> {
  if (context.options.yes) return;
  if (!context.host.stdin.isTTY) throw new UsageError(`${what}? Give --yes.`);
  const answer = await ask(`${what}? [y/N] `, context);
  if (!/^y(es)?$/i.test(answer)) throw new Failure("Nothing was changed.", "not_confirmed");
}
