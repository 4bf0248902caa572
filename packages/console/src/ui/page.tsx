import { type ComponentProps, Fragment, type ReactNode, useEffect } from "react";
import { Link, useLocation } from "react-router";
import { visited } from "../data/stored.ts";
import { ChevronRight, type LucideIcon } from "./icons.tsx";

interface PageProps {
  title: string;
  /** The parent pages by their path: `{ "/channels": "Channels" }`. */
  above?: Record<string, string>;
  /** A status badge next to the title. */
  state?: ReactNode;
  /** One sentence below the title. */
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with its header. Also sets the document's title, and records the visit under it. */
export function Page({ title, above = {}, state, lead, actions, children }: PageProps) {
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = `${title} · Sensorium`;
  }, [title]);
  useEffect(() => visited({ to: pathname, title }), [pathname, title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="grow">
          {Object.keys(above).length > 0 && (
            <nav className="crumbs" aria-label="Breadcrumb">
              {Object.entries(above).map(([to, label], at) => (
                <Fragment key={to}>
                  {at > 0 && <ChevronRight aria-hidden size={14} />}
                  <Link to={to}>{label}</Link>
                </Fragment>
              ))}
            </nav>
          )}
          <div className="row">
            <h1>{title}</h1>
            {state}
          </div>
          {lead && <p className="muted page-lead">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

type CardProps = { title?: ReactNode; actions?: ReactNode; children: ReactNode; flush?: boolean };

export function Card({ title, actions, children, flush }: CardProps) {
  return (
    <section className="card">
      {(title || actions) && (
        <header className="card-head">
          <h2>{title}</h2>
          {actions && <div className="row">{actions}</div>}
        </header>
      )}
      <div className={flush ? "" : "card-body"}>{children}</div>
    </section>
  );
}

/** Names and values; those without a value are omitted. */
export function Facts({ of, wide }: { of: Record<string, ReactNode>; wide?: string }) {
  const facts = Object.entries(of).filter(([, value]) => value || value === 0);
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} className={name === wide ? "wide" : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Facts in a frame. */
export const FactsCard = ({ title, ...facts }: ComponentProps<typeof Facts> & { title?: string }) => (
  <Card title={title}>
    <Facts {...facts} />
  </Card>
);

export function Empty(props: { icon: LucideIcon; title: string; children?: ReactNode; action?: ReactNode }) {
  const { icon: Icon, title, children, action } = props;
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon aria-hidden size={20} />
      </span>
      <h3>{title}</h3>
      {children && <div className="muted empty-text">{children}</div>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

export const FOR_ADMINS =
  "Only admins of your organisation can use this. Ask an admin for help or for the admin role.";

export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike and never move
        <span key={at} />
      ))}
    </div>
  );
}
