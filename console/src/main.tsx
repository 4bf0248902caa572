import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { router } from "./routes.tsx";
import { Session } from "./shell/session.tsx";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Session>
      <RouterProvider router={router} />
    </Session>
  </StrictMode>,
);
