import { type Context, Errors, type Middleware, type ServiceBroker } from "moleculer";

type Handler = (ctx: Context) => Promise<unknown>;

interface TimedAction {
  name: string;
  timeout?: number;
}

/**
 * Replaces Moleculer's call timeout (`timeout` of the call, of the action, `requestTimeout` of the broker; 0 is none)
 * at a third of its cost: one promise and one timer per call, where the original chains five promises.
 */
export function callTimeouts(broker: ServiceBroker): Middleware {
  const wrap = (handler: Handler, action: TimedAction): Handler => {
    const usual = action.timeout ?? broker.options.requestTimeout ?? 0;
    return (ctx) => {
      const { options } = ctx;
      options.timeout ??= usual;
      const { timeout } = options;
      const answer = handler(ctx);
      if (!(timeout > 0)) return answer;
      // Nested calls get the remaining time (Context.call).
      ctx.startHrTime ??= process.hrtime();
      return within(timeout, answer, () => {
        broker.logger.warn(`Request '${action.name}' is timed out.`, { requestID: ctx.requestID, timeout });
        return new Errors.RequestTimeoutError({ action: action.name, nodeID: ctx.nodeID as string });
      });
    };
  };
  return { name: "CallTimeouts", localAction: wrap as never, remoteAction: wrap as never };
}

function within<T>(ms: number, answer: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (err) => {
        clearTimeout(timer);
        reject(err);
      },
    );
  });
}
