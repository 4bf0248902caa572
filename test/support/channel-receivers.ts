import { Client } from "@modelcontextprotocol/client";
import { createClient, type Client as Sensorium } from "../../packages/client/index.ts";
import { type Cli, connectTo, newAgent, newCli } from "./cli.ts";
import { resultOf } from "./mcp.ts";
import type { TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { startShared } from "./shared.ts";

export type Pushed = { content: string; meta: Record<string, string> };

/** A client of MCP in the place of Claude Code. */
export interface Session {
  client: Client;
  /** Ends it, and the bridge with it. */
  end(): Promise<void>;
  /** Kills the bridge, if that is a process. */
  kill(): void;
  /** The messages of the channel. */
  pushed: Pushed[];
  /** The answers to requests for permissions. */
  answers: unknown[];
  /** The bridge's standard error. */
  said(): string;
  /** Calls a tool, and returns the value of its result. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  /** Asks for a permission. */
  ask(params: Record<string, unknown>): Promise<void>;
  /** Waits for the message of this number, from 0. */
  next(at: number): Promise<Pushed>;
}

/** An agent that receives events of a separate type, on a machine with the command line. */
export interface Receiver {
  cli: Cli;
  agent: Sensorium;
  agent_id: string;
  type: string;
  publish(data: unknown): Promise<string>;
  session(...options: string[]): Promise<Session>;
  /** The same, where the bridge is a process. */
  process(...options: string[]): Promise<Session>;
  /** Calls the hook of Claude Code. */
  hook(hook_event_name: string, more: object): Promise<void>;
}

/** Channels of agents of one tenant. */
export class Channels {
  readonly server: TestServer;
  readonly admin: Sensorium;
  readonly #open = new Set<Session>();
  readonly #clis = new Set<Cli>();
  #agents = 0;

  constructor(server: TestServer) {
    this.server = server;
    this.admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  }

  static async start(): Promise<Channels> {
    return new Channels(await startShared());
  }

  async stop(): Promise<void> {
    for (const session of this.#open) await session.end();
    for (const cli of this.#clis) await cli.remove();
    await this.server.stop();
  }

  async receiver(): Promise<Receiver> {
    const { admin, server } = this;
    const type = `com.example.channel.n${++this.#agents}`;
    const of = { event_type: type, retry_delays_seconds: [1, 1, 1, 1, 1] };
    const { id: agent_id, client: agent, env } = await newAgent(server, admin, type, ["send", "receive"], of);
    const cli = newCli(env);
    this.#clis.add(cli);
    return {
      ...{ cli, agent, agent_id, type },
      publish: async (data) =>
        (await admin.publish({ type, source: "urn:t", subject: "order-1", data })).event_id,
      session: (...options) => this.#session(cli.start, options),
      process: (...options) => this.#session(cli.spawn, options),
      async hook(hook_event_name, more) {
        const input = JSON.stringify({ hook_event_name, session_id: "first", cwd: cli.folder, ...more });
        const { code, out, err } = await cli.run(["hook", "claude-code"], { input });
        if (code !== 0 || err) throw new Error(`${hook_event_name}: ${code} ${out} ${err}`);
      },
    };
  }

  async #session(start: Cli["start"], options: string[]): Promise<Session> {
    const client = new Client({ name: "test", version: "1" });
    const pushed: Pushed[] = [];
    const answers: unknown[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === "notifications/claude/channel") pushed.push(params as unknown as Pushed);
      if (method === "notifications/claude/channel/permission") answers.push(params);
    };
    const bridge = start(["mcp", ...options], { open: true });
    const end = await connectTo(bridge, client);
    await client.listTools();
    const session: Session = {
      ...{ client, pushed, answers, end, said: bridge.err },
      kill: () => bridge.kill("SIGKILL"),
      call: (name, args_) => client.callTool({ name, arguments: args_ }).then(resultOf),
      ask: (params) =>
        client.notification({ method: "notifications/claude/channel/permission_request", params }),
      next: (at) => settle(() => pushed[at]),
    };
    this.#open.add(session);
    return session;
  }

  async stateOf(event_id: string) {
    const { receivers } = await this.admin.events.get({ event_id });
    return receivers?.[0];
  }
}
