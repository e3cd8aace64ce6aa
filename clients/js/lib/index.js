/**
 * sottovoce: randomise a number on the device, send only that.
 *
 *     const client = await Client.open("https://collector.example", "commute", { epsilon: 1 });
 *     await client.report(32);
 */
export { Client } from "./client.js";
export { ArgumentTypeError, CollectorError, DataError, PrivacyError, SpecError } from "./errors.js";
export { audit, fromJson, specDigest } from "./formats.js";
export { Reporter } from "./reporter.js";
export { sha256 } from "./random.js";
export { browserStore, fileStore, memoryStore } from "./stores.js";
