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
    get: (name) => (content.has(name) ? content.get(name) : null),
    add: (name, text) => !content.has(name) && Boolean(content.set(name, text)),
    set: (name, text) => void content.set(name, text),
    names: () => [...content.keys()],
  };
}

const PREFIX = "sottovoce:";

/** In the browser's local storage: no cookie, and nothing of it is ever sent by the browser itself. */
export function browserStore(storage = localStorage) {
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

/** In an IndexedDB database, which workers have too; what was written is on the disk before a promise resolves. */
export function indexedStore(database = "sottovoce", factory = indexedDB) {
  let opening = null;
  const open = () => new Promise((done, fail) => {
    const request = factory.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("records");
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  }).catch((error) => {
    opening = null; // the next call tries again
    throw error;
  });

  async function act(mode, work) {
    if (!opening) opening = open();
    const transaction = (await opening).transaction("records", mode, { durability: "strict" });
    const request = work(transaction.objectStore("records"));
    return new Promise((done, fail) => {
      transaction.oncomplete = () => done(request.result);
      transaction.onerror = transaction.onabort = () => fail(request.error || transaction.error);
    });
  }

  return {
    get: (name) => act("readonly", (records) => records.get(name)).then((text) => (text === undefined ? null : text)),
    set: (name, text) => act("readwrite", (records) => records.put(text, name)).then(() => undefined),
    add: (name, text) =>
      act("readwrite", (records) => records.add(text, name)).then(() => true, (error) => {
        if (error.name === "ConstraintError") return false;
        throw error;
      }),
    names: () => act("readonly", (records) => records.getAllKeys()),
  };
}

/** The store of a page, or of a worker; null where there is none. */
export function usualStore() {
  if (typeof document !== "undefined" && typeof localStorage !== "undefined") return browserStore();
  return typeof indexedDB === "undefined" ? null : indexedStore();
}

const running = new Map();

/** One at a time for a name: in this program and, where the browser can, in every tab and worker. */
export async function exclusively(name, work) {
  const locks = typeof navigator === "undefined" ? undefined : navigator.locks;
  const guarded = () => (locks ? locks.request(`sottovoce:${name}`, work) : work());
  const before = running.get(name) || Promise.resolve();
  const mine = before.then(guarded, guarded);
  running.set(name, mine);
  try {
    return await mine;
  } finally {
    if (running.get(name) === mine) running.delete(name);
  }
}
