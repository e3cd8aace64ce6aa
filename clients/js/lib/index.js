/**
 * sottovoce: randomise a number on the device, send only that.
 *
 *     const client = await Client.open("https://collector.example", "commute", { epsilon: 1 });
 *     await client.answer(32);
 */
export { Client } from "./client.js";
export { CollectorError, DataError, PrivacyError, SpecError } from "./errors.js";
export { Mechanism, audit, fromJson } from "./mechanism.js";
export { sha256 } from "./random.js";
export { browserStore, fileStore, memoryStore } from "./stores.js";
