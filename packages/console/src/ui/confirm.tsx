import { type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface Question {
  /** "Deactivate billing-bot?" */
  title: string;
  /** What will happen, in words: "Its tokens stop working within 5 seconds; …". */
  text: ReactNode;
  /** What the button does: "Deactivate". Never "OK". */
  action: string;
  /** It takes something away. Default true. */
  danger?: boolean;
}

/** Asks before something that matters; resolves to whether the person wants it. */
export function confirm(question: Question): Promise<boolean> {
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  return new Promise((resolve) => {
    const answer = (wanted: boolean) => {
      root.unmount();
      place.remove();
      resolve(wanted);
    };
    root.render(<Asking {...question} answer={answer} />);
  });
}

function Asking({
  title,
  text,
  action,
  danger = true,
  answer,
}: Question & { answer(wanted: boolean): void }) {
  const [answered, setAnswered] = useState(false);
  const give = (wanted: boolean) => {
    if (answered) return;
    setAnswered(true);
    // Not while its own event is handled: the dialog closes first and gives the focus back.
    queueMicrotask(() => answer(wanted));
  };
  const footer = (
    <>
      <Button onClick={() => give(false)} autoFocus>
        Cancel
      </Button>
      <Button kind={danger ? "danger" : "primary"} onClick={() => give(true)}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog light title={title} onClose={() => give(false)} footer={footer}>
      <div className="muted">{text}</div>
    </Dialog>
  );
}
