import { useState } from "react";
import type { AuthBeginTotpResult, AuthSignInWaysResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { saveFile } from "../../data/save-file.ts";
import { useSession } from "../../data/session.ts";
import { lazily } from "../../shell/error-boundary.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { text, useForm } from "../../ui/form.tsx";
import { confirm, Form, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Card, FactsCard, Skeleton } from "../../ui/page.tsx";
import { useFormTask, useSaving } from "../../ui/task.tsx";
import { Badge, Copy, Id, Secret, Time } from "../../ui/text.tsx";

export function Account() {
  const { user, tenant } = useSession();
  const ways = useRead(api.auth.signInWays, {}, "user", { name: "ways" });
  const { identity, password, totp } = ways.data ?? {};
  return (
    <div className="stack">
      <FactsCard
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
      {!ways.data && (ways.error ? <Failure error={ways.error} retry={ways.reload} /> : <Skeleton />)}
      {password && (
        <Card title="Password">
          <PasswordForm />
        </Card>
      )}
      {password && <SecondFactor totp={totp ?? null} />}
    </div>
  );
}

const CURRENT = text("Current password", {
  type: "password",
  autoComplete: "current-password",
  required: true,
});
const MIN_LENGTH = 12;
const MISMATCH = "The passwords do not match.";
const NEW = { type: "password", autoComplete: "new-password", required: true } as const;

const FIELDS = {
  current: CURRENT,
  next: text("New password", {
    ...NEW,
    minLength: MIN_LENGTH,
    maxLength: 256,
    hint: `At least ${MIN_LENGTH} characters. A passphrase works well.`,
  }),
  again: text("Repeat new password", NEW),
};

function PasswordForm() {
  const { expired } = useSession();
  const form = useForm(FIELDS);
  const { current, next, again } = form.drafts;
  const differs = again !== "" && again !== next;
  const save = useFormTask(async () => {
    await api.auth.password({ current_password: current, new_password: next });
    form.reset({});
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
      {form.rows("current", "next")}
      {form.show("again", { error: differs ? MISMATCH : undefined })}
    </Form>
  );
}

const QrCode = lazily(async () => (await import("./qr-code.tsx")).QrCode);

type Shown = "password" | "removal" | { begun: AuthBeginTotpResult } | { codes: string[] } | undefined;

/** The second factor of the person's password: its state, and the steps to set it up or to remove it. */
function SecondFactor({ totp }: Pick<AuthSignInWaysResult, "totp">) {
  const [shown, setShown] = useState<Shown>();
  const close = () => setShown(undefined);
  return (
    <Card
      title="Second factor"
      actions={
        totp ? (
          <Button label="Remove…" kind="remove" small onClick={() => setShown("removal")} />
        ) : (
          <Button label="Set up…" small onClick={() => setShown("password")} />
        )
      }
    >
      {totp ? (
        <div className="row">
          <Badge label="On" tone="good" />
          <span className="muted">
            Set up <Time at={totp.since} />. {totp.recovery_codes_left} recovery{" "}
            {totp.recovery_codes_left === 1 ? "code" : "codes"} left.
          </span>
          {totp.recovery_codes_left < FEW && (
            <p className="notice warn">
              To get new recovery codes, remove the second factor and set it up again.
            </p>
          )}
        </div>
      ) : (
        <p className="muted">{WHY}</p>
      )}
      {shown === "password" && <Begin onClose={close} onBegun={(begun) => setShown({ begun })} />}
      {shown === "removal" && <Remove onClose={close} />}
      {typeof shown === "object" && "begun" in shown && (
        <Confirm {...shown.begun} onClose={close} onConfirmed={(codes) => setShown({ codes })} />
      )}
      {typeof shown === "object" && "codes" in shown && <RecoveryCodes codes={shown.codes} onClose={close} />}
    </Card>
  );
}

const WHY =
  "After your password, a code from an authenticator app. A stolen password alone is then not enough to sign in.";
const FEW = 3;

const PASSWORD = { password: CURRENT };

function Begin({ onClose, onBegun }: { onClose(): void; onBegun(begun: AuthBeginTotpResult): void }) {
  const form = useForm(PASSWORD);
  const begin = useFormTask(async () => onBegun(await api.auth.beginTotp(form.values())));
  return (
    <FormDialog title="Set up a second factor" submit="Continue" onClose={onClose} task={begin}>
      <p className="muted">You need an authenticator app on your phone or in your password manager.</p>
      {form.rows()}
    </FormDialog>
  );
}

interface ConfirmProps extends AuthBeginTotpResult {
  onClose(): void;
  onConfirmed(codes: string[]): void;
}

const CODE = {
  code: text("Code", {
    autoComplete: "one-time-code",
    inputMode: "numeric",
    className: "code",
    minLength: 6,
    required: true,
    hint: "The six digits that the app shows now.",
  }),
};

function Confirm({ secret, uri, onClose, onConfirmed }: ConfirmProps) {
  const form = useForm(CODE);
  const turnOn = useFormTask(async () =>
    onConfirmed((await api.auth.confirmTotp(form.values())).recovery_codes),
  );
  return (
    <FormDialog title="Set up a second factor" submit="Turn on" onClose={onClose} task={turnOn}>
      <p className="muted">Scan the code with your authenticator app, or enter the key there.</p>
      <QrCode text={uri} />
      <Secret label="Key" value={secret} note="Shown only once." />
      {form.rows()}
    </FormDialog>
  );
}

const UNSAVED = {
  title: "Close without saving?",
  text: "The recovery codes are not shown again.",
  action: "Close",
};

function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose(): void }) {
  const text = codes.join("\n");
  const leave = async () => {
    if (await confirm(UNSAVED)) onClose();
  };
  const footer = (
    <>
      <Button label="Download" onClick={() => saveFile(`${text}\n`, "sensorium-recovery-codes.txt")} />
      <Button label="I have saved them" kind="primary" onClick={onClose} />
    </>
  );
  return (
    <Dialog title="Save your recovery codes" onClose={leave} footer={footer}>
      <div className="stack">
        <p className="muted">
          Each signs you in once if you lose your authenticator. They are shown only once.
        </p>
        <div className="code-block">
          <Copy text={text} label="Copy recovery codes" />
          <pre className="recovery-codes">{text}</pre>
        </div>
      </div>
    </Dialog>
  );
}

function Remove({ onClose }: SavingProps) {
  const form = useForm(PASSWORD);
  const remove = useSaving(onClose, async () => void (await api.auth.removeTotp(form.values())));
  return (
    <FormDialog title="Remove the second factor?" submit="Remove" danger onClose={onClose} task={remove}>
      <p className="muted">Your password alone then signs you in. The recovery codes stop working.</p>
      {form.rows()}
    </FormDialog>
  );
}
