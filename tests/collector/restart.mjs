/**
 * The same in Node: node restart.mjs CLIENT URL TOKEN FOLDER RUN STEP sends seven values and is killed before that step:
 * a step is an operation on a file, or a request before it is sent or when its answer is there.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { writeSync } from "node:fs";

const [client, url, token, folder, run, last] = process.argv.slice(2);
let passed = 0;
function step(name) {
  passed += 1;
  if (passed !== Number(last)) return;
  writeSync(1, `${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

const files = createRequire(import.meta.url)("node:fs/promises");
const watch = (owner, name) => {
  const real = owner[name];
  owner[name] = function watched(...given) {
    step(name);
    return real.apply(this, given);
  };
};
const handle = await files.open(client, "r");
for (const name of ["writeFile", "sync"]) watch(Object.getPrototypeOf(handle), name);
await handle.close();
for (const name of ["open", "link", "rename", "rm", "mkdir", "readFile", "readdir"]) watch(files, name);
syncBuiltinESMExports();

const { Client, fileStore } = await import(client);
async function fetched(...request) {
  step("request");
  const answer = await fetch(...request);
  step("answer");
  return answer;
}
try {
  const store = await fileStore(folder);
  const opened = await Client.open(url, "trial", { epsilon: 16, token, store, fetch: fetched, wait: async () => {} });
  const accepted = await opened.send([0, 1, 2, 3, 4, 5, 6], { batch: 2, run });
  writeSync(1, `done ${passed} ${accepted}\n`);
} catch (error) {
  writeSync(1, `${error.name} ${error.message}\n`);
}
