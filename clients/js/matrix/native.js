/** The app as React Native runs it: randomness is a native module's, storage is given, and there is nothing of a browser or of Node. */
import { useCrypto } from "sottovoce";
import { run } from "./app.js";

useCrypto({ getRandomValues: nativeRandom });
run(specs).then((outcome) => print(JSON.stringify(outcome)), (error) => print(error.stack));
