/** LangGraph's own suite for checkpointers, against the real server. @needs frameworks */
import * as jest from "@jest/globals";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { newClient } from "../../../../test/support/integrations.ts";
import { useShared } from "../../../../test/support/use.ts";
import { SensoriumSaver } from "../src/index.ts";

// The suite uses the globals of its test runner. A failure that is `soft` elsewhere ends the test here.
const { describe, it, beforeAll, beforeEach, afterAll, afterEach } = jest;
const expect = Object.assign(jest.expect, { soft: jest.expect });
Object.assign(globalThis, { describe, it, beforeAll, beforeEach, afterAll, afterEach, expect });
const { deltaChannelHistoryTests, validate } = await import("@langchain/langgraph-checkpoint-validation");

const server = await useShared("local");
const initializer = {
  checkpointerName: "SensoriumSaver",
  // Each belongs to another agent, and so sees nothing of the others.
  createCheckpointer: async (): Promise<BaseCheckpointSaver> =>
    new SensoriumSaver((await newClient(server)).client),
};
validate(initializer);
describe("also", () => deltaChannelHistoryTests(initializer));
