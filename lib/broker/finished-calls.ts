import type { Context, Middleware } from "moleculer";

type Handler = (ctx: Context) => Promise<unknown>;

/** Counts the calls that this node has carried out: a stop looks whether it makes progress. */
export class FinishedCalls {
  count = 0;

  readonly middleware: Middleware = {
    name: "FinishedCalls",
    // Not `finally`, which costs each call two promises more.
    localAction: (next: Handler) => (ctx: Context) =>
      next(ctx).then(
        (answer) => {
          this.count++;
          return answer;
        },
        (err) => {
          this.count++;
          throw err;
        },
      ),
  };
}
