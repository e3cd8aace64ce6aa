/** What can be an answer, by the vectors that all clients share; what cannot spends and records nothing. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { Client, Ledger, fromJson, memoryStore, specDigest } from "sottovoce";
import { Inquiry } from "../lib/inquiry.js";
import { Options } from "../lib/options.js";

const { asked } = JSON.parse(await readFile(new URL("../../../tests/vectors/answers.json", import.meta.url), "utf8"));

/** What a case's value is in JavaScript. */
function read(value) {
  if (Array.isArray(value)) return value.map(read);
  if (value === null || typeof value !== "object") return value;
  if ("special" in value) return value.special === "undefined" ? undefined : Number(value.special);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(one)]));
}

const refusedCases = ({ cases }) => cases.filter(({ refused }) => refused).map(({ value, refused }) => [read(value), refused]);

/** What becomes of a value, or the code and the argument of the refusal. */
function outcome(act) {
  try {
    return act();
  } catch (error) {
    assert.ok(["ArgumentTypeError", "DataError"].includes(error.name), error.stack);
    return [error.code, error.argument];
  }
}

async function collector({ spec, missing, outside }) {
  const campaign = { name: "asked", digest: specDigest(spec), spec, missing, outside };
  const posts = [];
  async function fetch(url, { method = "GET", body } = {}) {
    if (method === "POST") posts.push(body);
    return new Response(JSON.stringify(method === "GET" ? campaign : { accepted: 1 }));
  }
  const open = (options) => Client.open("https://collector.example", "asked", { epsilon: 4, fetch, wait: async () => {}, ...options });
  return { open, posts };
}

for (const one of asked) {
  test(`every vector: ${one.name}`, () => {
    const inquiry = new Inquiry(fromJson(one.spec), one.missing, one.outside);
    const place = (value, i) => (value !== null && inquiry.asked[i].domain instanceof Options ? inquiry.asked[i].domain.place(value) : value);
    for (const { value, becomes, refused } of one.cases) {
      assert.deepEqual(outcome(() => inquiry.judge(read(value)).map(place)), becomes || refused, JSON.stringify(value));
    }
  });

  test(`what cannot be an answer spends and records nothing: ${one.name}`, async () => {
    const { open, posts } = await collector(one);
    const store = memoryStore();
    const kept = memoryStore();
    const ledger = await Ledger.open(kept, { budget: 4 });
    const names = [kept.names().length, store.names().length];
    for (const client of [await open({ store }), await open({ ledger })]) {
      const refuseAll = async () => {
        for (const [value, [code, argument]] of refusedCases(one)) await assert.rejects(client.report(value), { code, argument }, JSON.stringify(value));
      };
      await refuseAll();
      assert.deepEqual([kept.names().length, store.names().length, posts.length], [...names, 0]);
      const receipt = await client.report(null);
      await refuseAll(); // also when the report is known
      assert.deepEqual(await client.report(null), receipt);
      assert.equal(posts.splice(0).length, 1);
      names[1] = store.names().length;
    }
  });

  test(`of many the first wrong one is named, and nobody is drawn: ${one.name}`, async () => {
    const { open, posts } = await collector(one);
    const store = memoryStore();
    const client = await open({ store });
    const good = one.cases.filter(({ becomes }) => becomes).map(({ value }) => read(value));
    for (const [value, [code]] of refusedCases(one)) {
      const sentence = (error) => error.code === code && error.argument === "values" && error.message.startsWith(`the one at index ${good.length}: `);
      await assert.rejects(client.send([...good, value, ...good, value]), sentence, JSON.stringify(value));
    }
    assert.deepEqual([store.names(), posts], [[], []]);
    assert.equal(await client.send(good), good.length);
  });
}

test("what is no array of people is refused, and holes are no answers", async () => {
  const number = await (await collector(asked[0])).open({ store: memoryStore() });
  for (const values of [undefined, null, 5, "12", new Set([1]), {}, { length: 2 }]) {
    await assert.rejects(number.send(values), { name: "ArgumentTypeError", argument: "values" });
  }
  assert.equal(await number.send(Float64Array.of(1, NaN)), 2);
  await assert.rejects(number.send([1, , 2]), /the one at index 1: value must be a number/);
  const find = (name) => asked.find((one) => one.name === name);
  const position = await (await collector(find("a position"))).open({ store: memoryStore() });
  await assert.rejects(position.report([, 1]), { name: "ArgumentTypeError" });
  const survey = await (await collector(find("two questions"))).open({ store: memoryStore() });
  await assert.rejects(survey.report([34, ,]), { name: "ArgumentTypeError", argument: "way" });
  await assert.rejects(survey.report(new Map([["age", 34], ["way", undefined]])), { argument: "way" });
  await assert.rejects(survey.report(), { name: "ArgumentTypeError", argument: "value" });
});

test("no refusal tells the value", () => {
  for (const one of asked) {
    const inquiry = new Inquiry(fromJson(one.spec), one.missing, one.outside);
    for (const value of ["canary", ["canary"], { canary: 1 }, { age: "canary", way: "canary" }, { age: 1, way: "canary" }]) {
      assert.throws(() => inquiry.judge(value), ({ message }) => !message.includes("canary"));
      assert.throws(() => inquiry.judgeAll([null, value]), ({ message }) => !message.includes("canary"));
    }
  }
});
