import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useLoad } from "../../data/use-load.ts";
import { useFormTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Facts, Skeleton } from "../../ui/page.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { SecondFactor } from "./second-factor.tsx";

/** The person's account, and how they sign in. */
export function Account() {
  const { user, tenant } = useSession();
  const ways = useLoad((signal) => api.auth.signInWays({}, { signal }), [], "ways");
  const { identity, password, totp } = ways.data ?? {};
  return (
    <div className="stack">
      <Card>
        <Facts
          of={{
            Name: user.display_name,
            "E-mail": user.email,
            Role: capitalised(user.role),
            Organisation: tenant.name,
            "Identity provider": identity && (
              <span>
                {identity.issuer}, linked <Time at={identity.linked_at} />
              </span>
            ),
            ID: <Id>{user.id}</Id>,
          }}
        />
      </Card>
      {!ways.data && (ways.error ? <Failure error={ways.error} retry={ways.reload} /> : <Skeleton />)}
      {password && (
        <Card title="Password">
          <PasswordForm />
        </Card>
      )}
      {password && <SecondFactor totp={totp ?? null} reload={ways.reload} />}
    </div>
  );
}

const MIN_LENGTH = 12;
const EMPTY = { current: "", next: "", again: "" };

function PasswordForm() {
  const { expired } = useSession();
  const [{ current, next, again }, field, change] = useDraft(EMPTY);
  const differs = again !== "" && again !== next;
  const save = useFormTask(async () => {
    await api.auth.password({ current_password: current, new_password: next });
    change(EMPTY);
    // All sessions of the person have ended, including this one.
    expired();
  });
  return (
    <Form
      task={save}
      submit="Change password"
      disabled={differs}
      note="You are signed out everywhere and sign in with the new password."
      className="password-form"
    >
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        {...field("current")}
        required
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        minLength={MIN_LENGTH}
        maxLength={256}
        {...field("next")}
        required
        hint={`At least ${MIN_LENGTH} characters. A passphrase works well.`}
      />
      <TextField
        label="Repeat new password"
        type="password"
        autoComplete="new-password"
        {...field("again")}
        required
        error={differs ? "The passwords do not match." : undefined}
      />
    </Form>
  );
}
