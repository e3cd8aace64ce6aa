export * from "../lib/index.js";
import type { Store } from "../lib/index.js";

/** A folder with one file per name, synced to the disk before a call returns. */
export function fileStore(folder: string): Promise<Store>;
