import type { ReactNode } from "react";
import type { Task } from "../data/use-task.ts";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";

interface FormProps {
  task: Task<[]>;
  submit: string;
  /** Text next to the button: its effect. */
  note?: ReactNode;
  /** Other buttons. */
  others?: ReactNode;
  disabled?: boolean;
  /** The buttons stay in view while a long form is scrolled. */
  sticky?: boolean;
  className?: string;
  children: ReactNode;
}

/** A form on a page. Errors appear above its button. */
export function Form({ task, submit, note, others, disabled, sticky, className = "", children }: FormProps) {
  return (
    <form
      className={`stack ${className}`}
      onSubmit={(event) => {
        event.preventDefault();
        void task.run();
      }}
    >
      {children}
      <div className={sticky ? "stack tight sticky-foot" : "stack"}>
        {task.error !== undefined && <Failure error={task.error} />}
        <div className="row">
          <Button label={submit} kind="primary" type="submit" busy={task.busy} disabled={disabled} />
          {others}
          {note && <span className="muted small">{note}</span>}
        </div>
      </div>
    </form>
  );
}
