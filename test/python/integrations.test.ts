/** @needs pypi */
import { describe } from "@jest/globals";
import { INTEGRATIONS, testPython } from "../suites/python.ts";

describe.each(INTEGRATIONS)("%s", testPython);
