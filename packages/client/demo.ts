import type { CallOptions } from "./operation.ts";

/** A separate organisation with a small example of everything. */
export interface Demo {
  tenant: { id: string; slug: string; name: string };
  /** Address of the console. */
  url: string;
  /** Signs in to it. */
  person: { email: string; password: string };
  made: { what: string; url: string }[];
}

/** The operations of the extension `demo`, which not every service runs. */
export interface DemoApi {
  get(params?: object, options?: CallOptions): Promise<{ tenant: Demo["tenant"] | null; own: boolean }>;
  create(params?: object, options?: CallOptions): Promise<Demo>;
  delete(params?: object, options?: CallOptions): Promise<{ tenant_id: string | null; erased: number }>;
}

/** Returns the operations, by their names alone: this package is the same without the extension. */
export const demoOf = (client: object): DemoApi | undefined => (client as { demo?: DemoApi }).demo;
