/** The typed definitions, judged by the TypeScript compiler, and what it then believes by a run. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const COMPILER = [
  "--strict", "--noUnusedLocals", "--target", "es2022", "--lib", "es2022,dom",
  "--module", "node16", "--moduleResolution", "node16", "consumer.ts",
];

/** A project that has this package installed. */
async function project(t) {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "node_modules"));
  await symlink(join(here, ".."), join(folder, "node_modules", "sottovoce"));
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  await copyFile(join(here, "consumer.ts"), join(folder, "consumer.ts"));
  return folder;
}

const compile = (cwd) => spawnSync("tsc", COMPILER, { cwd, encoding: "utf8" });

test("a strict program compiles against the definitions, and they tell the truth", async (t) => {
  const folder = await project(t);
  const { error, status, stdout } = compile(folder);
  assert.equal(error, undefined, "the TypeScript compiler tsc must be installed (Debian: node-typescript)");
  assert.equal(status, 0, stdout);
  const { mechanisms, composites } = JSON.parse(await readFile(join(here, "../../../tests/vectors/sampling.json"), "utf8"));
  const named = (name) => [...mechanisms, ...composites].find((vector) => vector.name === name).spec;
  const specs = ["ogpm", "two scales", "survey of a few", "polar", "choice"].map(named);
  execFileSync("node", ["consumer.js", ...specs, join(folder, "store")], { cwd: folder });
});

test("the compiler notices a wrong use", async (t) => {
  const folder = await project(t);
  const program = await readFile(join(folder, "consumer.ts"), "utf8");
  await writeFile(join(folder, "consumer.ts"), program.replace(/@ts-expect-error: values are numbers/, ""));
  const { status, stdout } = compile(folder);
  assert.notEqual(status, 0);
  assert.match(stdout, /'string' is not assignable to parameter of type 'number'/);
});
