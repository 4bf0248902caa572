import { type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface Question {
  /** "Deactivate billing-bot?" */
  title: string;
  /** The consequences: "Its tokens stop working within 5 seconds; …". */
  text: ReactNode;
  /** The button's verb: "Deactivate". Never "OK". */
  action: string;
  /** It is destructive. Default true. */
  danger?: boolean;
}

/** Asks for confirmation of a consequential action; resolves to the answer. */
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
    // After the event is handled: the dialog first closes and returns the focus.
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
