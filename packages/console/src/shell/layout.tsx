import { Suspense, useEffect, useRef, useState } from "react";
import { NavLink, Outlet, ScrollRestoration, useLocation } from "react-router";
import { api } from "../data/api.ts";
import { capitalised } from "../data/format.ts";
import { useIsLost } from "../data/live.ts";
import { useLoad, useRead } from "../data/queries.ts";
import { useSession } from "../data/session.ts";
import { IconButton } from "../ui/button.tsx";
import { Keyboard, LogOut, Menu, Search, X } from "../ui/icons.tsx";
import { Skeleton } from "../ui/page.tsx";
import { Toasts, useTask } from "../ui/task.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { isFor, isOfInner, PLACES } from "./nav.ts";
import { Palette } from "./palette/palette.tsx";
import { MODIFIER, ShortcutsDialog, useShortcuts } from "./shortcuts.tsx";
import { Mark } from "./sign-in.tsx";
import { setTheme, THEMES, useTheme } from "./theme.ts";

/** The frame of every page: navigation, the signed-in person and the page. */
export function Layout() {
  const [open, setOpen] = useState(false);
  const [dialog, setDialog] = useState<"palette" | "shortcuts" | null>(null);
  const openPalette = () => setDialog("palette");
  const showHelp = () => setDialog("shortcuts");
  useShortcuts({ openPalette, showHelp });
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const shown = useRef(pathname);
  // After navigation, show the page from its top and move the keyboard focus there.
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    setOpen(false);
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the navigation from wherever one is
    <div
      className={open ? "shell nav-open" : "shell"}
      onKeyDown={({ key }) => {
        if (!open || key !== "Escape") return;
        setOpen(false);
        toggle.current?.focus();
      }}
    >
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="topbar">
        <IconButton
          ref={toggle}
          icon={open ? X : Menu}
          label={open ? "Close navigation" : "Open navigation"}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        <Mark size={22} />
        <strong>Sensorium</strong>
        <IconButton icon={Search} label="Go to" onClick={openPalette} />
      </header>
      <Sidebar openPalette={openPalette} showHelp={showHelp} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the button in the top bar does the same */}
      {open && <div className="nav-scrim" onClick={() => setOpen(false)} />}
      {/* Keeps the focused element from being hidden behind the navigation. */}
      <main ref={main} id="main" className="main" tabIndex={-1} onFocus={() => setOpen(false)}>
        <Lost />
        <ErrorBoundary key={pathname} what="This page" reloads>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </main>
      <ScrollRestoration />
      <Toasts />
      {dialog === "palette" && <Palette onClose={() => setDialog(null)} showHelp={showHelp} />}
      {dialog === "shortcuts" && <ShortcutsDialog onClose={() => setDialog(null)} />}
    </div>
  );
}

function Sidebar({ openPalette, showHelp }: { openPalette(): void; showHelp(): void }) {
  const { user, tenant, may, signOut } = useSession();
  const leave = useTask(signOut);
  const { pathname } = useLocation();
  return (
    <aside className="sidebar">
      <div className="brand">
        <Mark size={26} />
        <div className="truncate">
          <strong>Sensorium</strong>
          <span className="faint small truncate">{tenant.name}</span>
        </div>
      </div>
      <button type="button" className="nav-search" aria-keyshortcuts="Control+K Meta+K" onClick={openPalette}>
        <Search aria-hidden size={15} />
        <span>Go to…</span>
        <kbd aria-hidden>{MODIFIER} K</kbd>
      </button>
      <nav className="nav" aria-label="Console">
        {PLACES.map(({ title, places }) => (
          <div key={title} className="nav-group">
            {title && <p className="nav-title">{title}</p>}
            {places
              .filter((place) => isFor(place, may))
              .map(({ to, label, icon: Icon }) => (
                <NavLink key={to} to={to} end={to === "/" || isOfInner(pathname, to)} className="nav-link">
                  <Icon aria-hidden size={16} />
                  {label}
                  {to === "/approvals" && <OpenApprovals />}
                </NavLink>
              ))}
          </div>
        ))}
      </nav>
      <div className="sidebar-foot">
        <div className="row nowrap">
          <ThemeSwitch />
          <span className="grow" />
          <IconButton icon={Keyboard} label="Shortcuts" onClick={showHelp} />
        </div>
        <div className="row nowrap">
          <span className="avatar" aria-hidden>
            {user.display_name.slice(0, 1).toUpperCase()}
          </span>
          <div className="grow truncate who">
            <span className="truncate">{user.display_name}</span>
            <span className="faint small truncate">{capitalised(user.role)}</span>
          </div>
          <IconButton icon={LogOut} label="Sign out" onClick={() => leave.run()} />
        </div>
      </div>
    </aside>
  );
}

/** More are shown as `9+`. */
const MOST_COUNTED = 9;

function OpenApprovals() {
  const { data } = useRead(api.approvals.list, { status: "open", limit: MOST_COUNTED + 1 }, "approval");
  const count = data?.approvals.length ?? 0;
  if (count === 0) return null;
  const shown = count > MOST_COUNTED ? `${MOST_COUNTED}+` : String(count);
  return (
    <span className="nav-count">
      {shown}
      <span className="visually-hidden"> open</span>
    </span>
  );
}

function ThemeSwitch() {
  const current = useTheme();
  return (
    <fieldset className="theme-switch">
      <legend className="visually-hidden">Theme</legend>
      {THEMES.map(({ theme, label, icon }) => (
        <IconButton
          key={theme}
          icon={icon}
          label={label}
          aria-pressed={theme === current}
          onClick={() => setTheme(theme)}
        />
      ))}
    </fieldset>
  );
}

/** Longer than a restart. */
const GRACE_MS = 6000;

/** Warns that the page no longer follows the server. Checks once whether the session is over. */
function Lost() {
  const isLost = useIsLost();
  const [told, setTold] = useState(false);
  useEffect(() => {
    if (!isLost) return;
    const timer = setTimeout(() => setTold(true), GRACE_MS);
    return () => {
      clearTimeout(timer);
      setTold(false);
    };
  }, [isLost]);
  useLoad((signal) => (told ? api.auth.session({}, { signal }) : Promise.resolve(null)), [told]);
  return (
    <div role="status" className="lost">
      {told && (
        <p className="notice warn">
          The server is not responding. This page may be out of date; it updates when the connection is back.
        </p>
      )}
    </div>
  );
}
