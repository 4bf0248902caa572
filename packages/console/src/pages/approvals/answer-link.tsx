import { useEffect, useState } from "react";
import type { ApprovalLink } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { dateTime } from "../../data/format.ts";
import { Mark } from "../../shell/sign-in.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Markdown } from "../../ui/markdown.tsx";

/** The page of a link in an e-mail, without a sign-in. It answers nothing until the person confirms. */
export function AnswerLink() {
  const [link, setLink] = useState<ApprovalLink>();
  const [error, setError] = useState<unknown>();
  const [text, setText] = useState("");
  const [state, setState] = useState<"open" | "busy" | "done">("open");
  const [token] = useState(() => location.hash.slice(1));

  useEffect(() => {
    document.title = "Answer · Sensorium";
    api.approvals.openLink({ token }).then(setLink, setError);
  }, [token]);

  const confirm = async () => {
    setState("busy");
    setError(undefined);
    try {
      await api.approvals.answerLink({ token, ...(text.trim() && { text: text.trim() }) });
      setState("done");
    } catch (thrown) {
      setError(thrown);
      setState("open");
    }
  };

  return (
    <main className="sign-in">
      <div className="sign-in-box stack">
        <div className="sign-in-head">
          <Mark size={40} />
          <h1>{link?.title ?? "Answer"}</h1>
        </div>
        {error !== undefined && <Failure error={error} />}
        {state === "done" && link && <p role="status">Your answer is “{link.choice}”. Thank you.</p>}
        {state !== "done" && link && (
          <>
            <Markdown>{link.question}</Markdown>
            <p className="muted">
              Open until {dateTime(link.deadline_at)}. The first answer of those asked counts.
            </p>
            {link.text_allowed && (
              <TextArea label="Text" value={text} onChange={setText} rows={3} maxLength={8000} />
            )}
            <Button
              kind="primary"
              label={`Confirm: ${link.choice}`}
              busy={state === "busy"}
              onClick={confirm}
            />
          </>
        )}
      </div>
    </main>
  );
}
