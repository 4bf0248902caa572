import { type FormEvent, useEffect, useState } from "react";
import { type AuthSessionResult, isApiError } from "../../../client/index.ts";
import { api } from "../data/api.ts";
import { useDraft } from "../data/use-draft.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { TextField } from "../ui/field.tsx";
import { Mark } from "./mark.tsx";

const REFUSED =
  "The e-mail or password is incorrect. If your e-mail belongs to several organisations, enter one of them.";

const WHY = {
  first: "Sign in to your organisation's console.",
  expired: "Your session has expired. Sign in to continue where you left off.",
  left: "You are signed out.",
};

interface Props {
  why: keyof typeof WHY;
  email?: string;
  onSignedIn(session: AuthSessionResult): void;
}

export function SignIn({ why, email: known = "", onSignedIn }: Props) {
  const [{ email, password, slug }, field] = useDraft({ email: known, password: "", slug: "" });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useTitle("Sign in · Sensorium");
  async function send(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      onSignedIn(await api.auth.startSession({ email, password, ...(slug && { tenant_slug: slug }) }));
    } catch (thrown) {
      setError(isApiError(thrown, "authentication_failed") ? new Error(REFUSED) : thrown);
      setBusy(false);
    }
  }

  return (
    <form className="sign-in-box stack" onSubmit={send}>
      <div className="sign-in-head">
        <Mark size={40} />
        <h1>Sensorium</h1>
        <p className="muted">{WHY[why]}</p>
      </div>
      <TextField label="E-mail" type="email" autoComplete="username" required autoFocus {...field("email")} />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        {...field("password")}
      />
      <details className="more-fields" open={slug !== ""}>
        <summary>Multiple organisations?</summary>
        <TextField
          label="Organisation"
          {...field("slug")}
          hint="Its short name. Required if your e-mail belongs to more than one."
        />
      </details>
      {error !== undefined && <Failure error={error} />}
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
      <p className="faint small sign-in-note">
        The initial admin password is in <code>credentials.json</code> in the data directory.
      </p>
    </form>
  );
}

/** Sets the document's title while the component is shown. */
function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = title;
    return () => {
      document.title = before;
    };
  }, [title]);
}
