import { useEffect, useState } from "react";
import { api } from "../../data/api.ts";
import { dateTime, filled } from "../../data/format.ts";
import { Mark } from "../../shell/sign-in.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { area, useForm } from "../../ui/form.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { useFormTask } from "../../ui/task.tsx";

interface Link {
  title: string;
  question: string;
  choice: string;
  text_allowed: boolean;
  deadline_at: string;
}

/** Operations of the extension approval-mail, which a generated client may lack. */
const links = api.approvals as unknown as {
  openLink(params: { token: string }): Promise<Link>;
  answerLink(params: { token: string; text?: string }): Promise<unknown>;
};

const ANSWER = { text: area("Text", { rows: 3, maxLength: 8000 }) };

/** The page of a link in an e-mail, without a sign-in. It answers nothing until the person confirms. */
export function AnswerLink() {
  const [link, setLink] = useState<Link>();
  const [unreadable, setUnreadable] = useState<unknown>();
  const form = useForm(ANSWER);
  const [isDone, setDone] = useState(false);
  const [token] = useState(() => location.hash.slice(1));
  const answer = useFormTask(async () => {
    await links.answerLink({ token, ...filled(form.values()) });
    setDone(true);
  });

  useEffect(() => {
    document.title = "Answer · Sensorium";
    links.openLink({ token }).then(setLink, setUnreadable);
  }, [token]);

  const error = unreadable ?? answer.error;
  return (
    <main className="sign-in">
      <div className="sign-in-box stack">
        <div className="sign-in-head">
          <Mark size={40} />
          <h1>{link?.title ?? "Answer"}</h1>
        </div>
        {error !== undefined && <Failure error={error} />}
        {isDone && link && <p role="status">Your answer is “{link.choice}”. Thank you.</p>}
        {!isDone && link && (
          <>
            <Markdown>{link.question}</Markdown>
            <p className="muted">
              Open until {dateTime(link.deadline_at)}. The first answer of those asked counts.
            </p>
            {link.text_allowed && form.show("text")}
            <Button
              kind="primary"
              label={`Confirm: ${link.choice}`}
              busy={answer.busy}
              onClick={() => answer.run()}
            />
          </>
        )}
      </div>
    </main>
  );
}
