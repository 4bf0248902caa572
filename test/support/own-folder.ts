import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

/** Disposed of when the file ends, last first. */
const ends: (() => unknown)[] = [];
afterAll(endAll);

/** All end, even if one of them fails. */
async function endAll(): Promise<void> {
  try {
    await ends.pop()?.();
  } finally {
    if (ends.length > 0) await endAll();
  }
}

/** Has something done when the file's tests have ended, before what was opened earlier is closed. */
export const atEnd = (end: () => unknown) => void ends.push(end);

export const newFolder = () => mkdtemp(join(tmpdir(), "sensorium-test-"));

/** Makes a directory that is removed with all in it when the file's tests have ended. */
export async function ownFolder(): Promise<string> {
  const folder = await newFolder();
  atEnd(() => rm(folder, { recursive: true }));
  return folder;
}
