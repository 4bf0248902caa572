import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/buttons.css";
import "./styles/fields.css";
import "./styles/badges.css";
import "./styles/pages.css";
import "./styles/tables.css";
import "./styles/dialogs.css";
import "./styles/tabs.css";
import "./styles/texts.css";
import "./styles/menus.css";
import "./styles/shell.css";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { router } from "./routes.tsx";
import { Session } from "./shell/session.tsx";

/** The address of links in e-mails, which need no sign-in. */
const ANSWER = "/answer";
const AnswerLink = lazy(async () => ({
  default: (await import("./pages/approvals/answer-link.tsx")).AnswerLink,
}));

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    {location.pathname === ANSWER ? (
      <Suspense>
        <AnswerLink />
      </Suspense>
    ) : (
      <Session>
        <RouterProvider router={router} />
      </Session>
    )}
  </StrictMode>,
);
