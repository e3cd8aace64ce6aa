/** A web app that asks one question: everything here, except the page itself. */
import { Client, Ledger, indexedStore } from "sottovoce";

const show = (id, text) => { document.getElementById(id).textContent = text; };
const query = new URLSearchParams(location.search);
const collector = query.get("collector") || location.origin;

async function start() {
  // What this person may spend in all, over all campaigns and collectors; kept in this browser.
  const ledger = await Ledger.open(indexedStore("commute"), { budget: 1.5 });
  const client = await Client.open(collector, query.get("campaign"), { epsilon: 1, ledger });
  show("question", client.campaign.question);
  document.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("minutes");
    const minutes = text === "" ? null : Number(text); // nothing written: rather not say
    try {
      const { cells } = await client.report(minutes, { period: query.get("period") || "" });
      show("result", `Sent report ${cells[0]} of ${client.mechanism.cells}`);
    } catch (error) {
      show("result", `${error.name}: ${error.message}`);
    }
  });
}

start().catch((error) => show("result", `${error.name}: ${error.message}`));
