import { ApiError } from "../../../client/index.ts";
import { Button } from "./button.tsx";
import { CircleAlert, Lock, type LucideIcon, RotateCw, SearchX } from "./icons.tsx";
import { FOR_ADMINS } from "./page.tsx";

/** Returns a message for people about a thrown error. */
export function messageOf(error: unknown): string {
  // A proxy's answer is a whole page.
  if (error instanceof ApiError && error.code === "unexpected_answer")
    return `The server cannot be reached: a proxy answered ${error.status}. Try again in a moment.`;
  if (error instanceof ApiError) return error.message;
  if (error instanceof Error && error.name === "ConnectionError")
    return "The server is not responding. Check your connection and try again.";
  return error instanceof Error ? error.message : String(error);
}

/** Replaces content that could not be loaded: the error, its request id and a retry button. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => unknown) | undefined }) {
  if (error instanceof ApiError && error.code === "insufficient_scope")
    return <Calm icon={Lock}>{FOR_ADMINS}</Calm>;
  if (error instanceof ApiError && error.code === "forbidden")
    return <Calm icon={Lock}>{error.message}</Calm>;
  if (retry && isNowhere(error)) return <Calm icon={SearchX}>{`${messageOf(error)} ${NOWHERE}`}</Calm>;
  const id = error instanceof ApiError ? error.requestId : null;
  return (
    <div className="failure" role="alert">
      <CircleAlert aria-hidden size={18} />
      <div className="grow">
        <p>{messageOf(error)}</p>
        {id && (
          <p className="faint small">
            Request <code>{id}</code>
          </p>
        )}
      </div>
      {retry && <Button label="Try again" small icon={RotateCw} onClick={() => retry()} />}
    </div>
  );
}

/** Whether the resource is deleted, never existed, or has an incomplete address. */
function isNowhere(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 404 || (error.status === 400 && /(^|_)id$/.test(String(error.details.field)));
}

const NOWHERE = "It was deleted, or the address is wrong.";

/** For states that are not errors and that a retry would not change. */
function Calm({ icon: Icon, children }: { icon: LucideIcon; children: string }) {
  return (
    <div className="failure calm" role="note">
      <Icon aria-hidden size={18} />
      <p>{children}</p>
    </div>
  );
}
