import { CircleAlert, Lock, RotateCw } from "lucide-react";
import { ApiError } from "../../../client/index.ts";
import { Button } from "./button.tsx";

/** What to tell a person of something that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof Error && error.name === "ConnectionError")
    return "The server does not answer. Check the connection and try again.";
  return error instanceof Error ? error.message : String(error);
}

/** In the place of what could not be loaded: what went wrong, its request id, and a way to try again. */
export function Failure(props: { error: unknown; retry?: (() => unknown) | undefined }) {
  const { error } = props;
  if (error instanceof ApiError && error.code === "insufficient_scope")
    return <Withheld>{FOR_ADMINS}</Withheld>;
  if (error instanceof ApiError && error.code === "forbidden") return <Withheld>{error.message}</Withheld>;
  return <Failed {...props} />;
}

const FOR_ADMINS =
  "This is for the admins of your organisation. Ask one of them, or have them make you one under Settings.";

/** Nothing went wrong, and trying again would not help. */
function Withheld({ children }: { children: string }) {
  return (
    <div className="failure calm" role="note">
      <Lock aria-hidden size={18} />
      <p>{children}</p>
    </div>
  );
}

function Failed({ error, retry }: { error: unknown; retry?: (() => unknown) | undefined }) {
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
      {retry && (
        <Button small icon={RotateCw} onClick={() => retry()}>
          Try again
        </Button>
      )}
    </div>
  );
}
