/**
 * Installs the packed package, bundles an app with every bundler, and says how large and how quick:
 *
 *     node build.js FOLDER [ENTRY-BUNDLER …]
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** A folder in which somebody has installed the package that `npm pack` makes. */
async function install(folder) {
  await mkdir(join(folder, "node_modules"), { recursive: true });
  const quiet = { cwd: folder, stdio: ["ignore", "pipe", "ignore"] };
  const [{ filename, files }] = JSON.parse(execFileSync("npm", ["pack", "--json", join(HERE, "..")], quiet));
  await mkdir(join(folder, "node_modules", "sottovoce"));
  execFileSync("tar", ["-xzf", filename, "--strip-components=1", "-C", join("node_modules", "sottovoce")], quiet);
  await rm(join(folder, filename));
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  for (const name of ["app.js", "lean.js", "native.js"]) await cp(join(HERE, name), join(folder, name));
  return files.map(({ path }) => path);
}

const require = createRequire(import.meta.url);

const viteWith = (name) => async (entry, out, root) => {
  const { build } = await import(name);
  await build({
    root, configFile: false, logLevel: "error",
    build: { outDir: join(out, ".."), emptyOutDir: false, target: "es2020", lib: { entry, formats: ["iife"], name: "App", fileName: () => out.split("/").pop() } },
  });
};

/** Each writes a script for browsers that defines a global App. */
const BUNDLERS = {
  esbuild: async (entry, out) => {
    const { build } = await import("esbuild");
    await build({ entryPoints: [entry], outfile: out, bundle: true, minify: true, format: "iife", globalName: "App", platform: "browser", target: "es2020", logLevel: "error" });
  },
  rollup: async (entry, out) => {
    const { rollup } = await import("rollup");
    const resolve = { // as @rollup/plugin-node-resolve with browser: true would, for this one package
      name: "package",
      async resolveId(id) {
        if (id !== "sottovoce") return null;
        const folder = join(entry, "..", "node_modules", "sottovoce");
        const { exports, sideEffects } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
        return { id: join(folder, exports["."].browser.import.default), moduleSideEffects: sideEffects.includes("./lib/index.js") };
      },
    };
    const bundle = await rollup({ input: entry, plugins: [resolve], treeshake: { moduleSideEffects: false } });
    await bundle.write({ file: out, format: "iife", name: "App" });
  },
  webpack: (entry, out) => new Promise((done, fail) => {
    import("webpack").then(({ default: webpack }) => webpack({
      mode: "production", context: join(entry, ".."), entry, target: ["web", "es2020"],
      output: { path: join(out, ".."), filename: out.split("/").pop(), library: { name: "App", type: "var" } },
    }, (error, stats) => (error || stats.hasErrors() ? fail(error || new Error(stats.toString())) : done())), fail);
  }),
  vite5: viteWith("vite5"),
  vite: viteWith("vite"),
};

/** As React Native packs an app: Metro, with the transformations of its own preset. The script defines no global. */
async function metro(entry, out, root) {
  const { default: { loadConfig, runBuild } } = await import("metro");
  const modules = join(HERE, "node_modules");
  const config = await loadConfig({ cwd: root }, {
    projectRoot: root, watchFolders: [modules], cacheStores: [], maxWorkers: 1, reporter: { update() {} },
    resolver: { unstable_conditionNames: ["react-native"], nodeModulesPaths: [modules] },
    transformer: { babelTransformerPath: require.resolve("@react-native/metro-babel-transformer"), enableBabelRCLookup: false },
  });
  await runBuild(config, { entry, out, platform: "android", dev: false, minify: true });
}

/** The sample app as Vite builds it, in FOLDER/site. */
async function sample(folder) {
  const { build } = await import("vite");
  const root = join(folder, "sample");
  await cp(join(HERE, "..", "example"), root, { recursive: true, filter: (path) => !path.includes("node_modules") });
  await build({ root, base: "./", configFile: false, logLevel: "error", build: { outDir: join(folder, "site") } });
}

/** Bundles an entry with a bundler: bytes, bytes packed by gzip, and milliseconds. */
async function bundle(folder, name, entry) {
  const out = join(folder, "out", `${entry}-${name}.js`);
  await mkdir(join(folder, "out"), { recursive: true });
  const start = performance.now();
  await (name === "metro" ? metro : BUNDLERS[name])(join(folder, `${entry}.js`), out, folder);
  const [text, { size }] = [await readFile(out), await stat(out)];
  return { entry, bundler: name, file: out, bytes: size, gzip: gzipSync(text).length, milliseconds: Math.round(performance.now() - start) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, ...names] = process.argv.slice(2);
  const files = await install(folder);
  const all = [...Object.keys(BUNDLERS).flatMap((name) => [`app-${name}`, `lean-${name}`]), "native-metro"];
  const results = [];
  for (const name of names.length ? names : all) {
    const [entry, bundler] = name.split("-");
    results.push(await bundle(folder, bundler, entry));
  }
  await sample(folder);
  await writeFile(join(folder, "result.json"), JSON.stringify({ files, results }));
  process.exit(0); // some bundlers keep workers
}
