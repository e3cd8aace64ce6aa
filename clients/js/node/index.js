/** The package under Node: the same, with stores in files, and randomness where it is not global yet (Node 18). */
import { webcrypto } from "node:crypto";
import { useCrypto } from "../lib/random.js";

useCrypto(webcrypto);

export * from "../lib/index.js";
export { fileStore } from "./files.js";
