/** Stores in files. */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { join } from "node:path";

async function onDisk(file, flags, text) {
  const handle = await fs.open(file, flags, 0o600);
  try {
    if (text !== undefined) await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unless = (code, otherwise) => (error) => {
  if (error.code === code) return otherwise;
  throw error;
};

/** In a folder, one file per name, on the disk before the call returns. */
export async function fileStore(folder) {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (name) => join(folder, `${encodeURIComponent(name)}.json`);

  /** A whole new file, moved to its name by `place`; the folder is synced too, it holds the name. */
  async function put(name, text, place) {
    const fresh = join(folder, `.${randomBytes(8).toString("hex")}`);
    await onDisk(fresh, "wx", text);
    try {
      await place(fresh, path(name));
    } finally {
      await fs.rm(fresh, { force: true });
    }
    await onDisk(folder, "r");
  }

  return {
    get: (name) => fs.readFile(path(name), "utf8").catch(unless("ENOENT", null)),
    set: (name, text) => put(name, text, fs.rename),
    // A link fails where the name exists, unlike a rename: two processes cannot both believe they were first.
    add: (name, text) => put(name, text, fs.link).then(() => true, unless("EEXIST", false)),
    names: async () =>
      (await fs.readdir(folder))
        .filter((file) => file.endsWith(".json"))
        .map((file) => decodeURIComponent(file.slice(0, -".json".length))),
  };
}
