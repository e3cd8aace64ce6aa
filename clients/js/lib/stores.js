/**
 * Where a client remembers what it drew. A store maps names to text:
 *
 *     get(name) → text or null     add(name, text) → false if the name is taken     set(name, text)
 *     names() → every name
 *
 * Any method may return a promise. What `add` and `set` have written must survive a crash: a report that was
 * sent and forgotten would be drawn a second time.
 */

/** In memory: for tests, and for values that must not outlive the process. */
export function memoryStore() {
  const content = new Map();
  return {
    get: (name) => content.get(name) ?? null,
    add: (name, text) => !content.has(name) && Boolean(content.set(name, text)),
    set: (name, text) => void content.set(name, text),
    names: () => [...content.keys()],
  };
}

const PREFIX = "sottovoce:";

/** In the browser's local storage: no cookie, and nothing of it is ever sent by the browser itself. */
export function browserStore(storage = globalThis.localStorage) {
  const get = (name) => storage.getItem(PREFIX + name);
  const set = (name, text) => storage.setItem(PREFIX + name, text);
  return {
    get,
    set,
    add(name, text) {
      if (get(name) !== null) return false;
      set(name, text);
      return true;
    },
    names: () =>
      Object.keys(storage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)),
  };
}

/** In a folder, one file per name, on the disk before the call returns (Node only). */
export async function fileStore(folder) {
  const fs = await import("node:fs/promises");
  const { join } = await import("node:path");
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (name) => join(folder, `${encodeURIComponent(name)}.json`);

  async function onDisk(file, flags, text) {
    const handle = await fs.open(file, flags, 0o600);
    try {
      if (text !== undefined) await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** A whole new file, moved to its name by `place`; the folder is synced too, it holds the name. */
  async function put(name, text, place) {
    const fresh = `${path(name)}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    await onDisk(fresh, "wx", text);
    try {
      await place(fresh, path(name));
    } finally {
      await fs.rm(fresh, { force: true });
    }
    await onDisk(folder, "r");
  }

  const unless = (code, otherwise) => (error) => {
    if (error.code === code) return otherwise;
    throw error;
  };
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
