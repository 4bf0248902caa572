/** @needs pypi */
import { CLIENT, testPython } from "../suites/python.ts";

testPython(CLIENT);
