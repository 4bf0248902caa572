import { useState } from "react";
import type { AuthBeginTotpResult, AuthSignInWaysResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { saveFile } from "../../data/save-file.ts";
import { useRead } from "../../data/use-load.ts";
import { lazily } from "../../shell/error-boundary.tsx";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextField, useDraft } from "../../ui/field.tsx";
import { confirm, Form, FormDialog } from "../../ui/form-dialog.tsx";
import { Card, Facts, Skeleton } from "../../ui/page.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Badge, Copy, Id, Secret, Time } from "../../ui/text.tsx";

/** The person's account, and how they sign in. */
export function Account() {
  const { user, tenant } = useSession();
  const ways = useRead(api.auth.signInWays, {}, [], { name: "ways" });
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

const QrCode = lazily(async () => (await import("./qr-code.tsx")).QrCode);

interface Props {
  totp: AuthSignInWaysResult["totp"];
  reload(): Promise<void>;
}

type Shown = "password" | "removal" | { begun: AuthBeginTotpResult } | { codes: string[] } | undefined;

/** The second factor of the person's password: its state, and the steps to set it up or to remove it. */
function SecondFactor({ totp, reload }: Props) {
  const [shown, setShown] = useState<Shown>();
  const close = () => setShown(undefined);
  const done = () => {
    close();
    void reload();
  };
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
      {shown === "removal" && <Remove onClose={close} onRemoved={done} />}
      {typeof shown === "object" && "begun" in shown && (
        <Confirm {...shown.begun} onClose={close} onConfirmed={(codes) => setShown({ codes })} />
      )}
      {typeof shown === "object" && "codes" in shown && <RecoveryCodes codes={shown.codes} onClose={done} />}
    </Card>
  );
}

const WHY =
  "After your password, a code from an authenticator app. A stolen password alone is then not enough to sign in.";
const FEW = 3;

function Begin({ onClose, onBegun }: { onClose(): void; onBegun(begun: AuthBeginTotpResult): void }) {
  const [password, setPassword] = useState("");
  const begin = useFormTask(async () => onBegun(await api.auth.beginTotp({ password })));
  return (
    <FormDialog title="Set up a second factor" submit="Continue" onClose={onClose} task={begin}>
      <p className="muted">You need an authenticator app on your phone or in your password manager.</p>
      <PasswordField value={password} onChange={setPassword} />
    </FormDialog>
  );
}

interface ConfirmProps extends AuthBeginTotpResult {
  onClose(): void;
  onConfirmed(codes: string[]): void;
}

function Confirm({ secret, uri, onClose, onConfirmed }: ConfirmProps) {
  const [code, setCode] = useState("");
  const turnOn = useFormTask(async () => onConfirmed((await api.auth.confirmTotp({ code })).recovery_codes));
  return (
    <FormDialog title="Set up a second factor" submit="Turn on" onClose={onClose} task={turnOn}>
      <p className="muted">Scan the code with your authenticator app, or enter the key there.</p>
      <QrCode text={uri} />
      <Secret label="Key" value={secret} note="Shown only once." />
      <TextField
        label="Code"
        autoComplete="one-time-code"
        inputMode="numeric"
        className="code"
        minLength={6}
        required
        value={code}
        onChange={setCode}
        hint="The six digits that the app shows now."
      />
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

function Remove({ onClose, onRemoved }: { onClose(): void; onRemoved(): void }) {
  const [password, setPassword] = useState("");
  const remove = useFormTask(async () => {
    await api.auth.removeTotp({ password });
    onRemoved();
  });
  return (
    <FormDialog title="Remove the second factor?" submit="Remove" danger onClose={onClose} task={remove}>
      <p className="muted">Your password alone then signs you in. The recovery codes stop working.</p>
      <PasswordField value={password} onChange={setPassword} />
    </FormDialog>
  );
}

function PasswordField(props: { value: string; onChange(value: string): void }) {
  return (
    <TextField label="Current password" type="password" autoComplete="current-password" required {...props} />
  );
}
