"""The JavaScript client in Node against the real collector: one answer, one compact batch, a replay.

Also in the second round of a campaign, whose mechanism the collector has made from what the first published.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collector.pages.site import Site

import sottovoce as sv
from sottovoce.collector.campaigns.campaign import Campaign

CLIENT = Path(__file__).parents[3] / "clients" / "js" / "node" / "index.js"
SCRIPT = """
const [client_path, url, folder, campaign] = process.argv.slice(1);
const { Client, fileStore } = await import(client_path);
const store = await fileStore(folder);
let lose = true;
const cells = new Map();
const fetch = async (address, options) => {
  const answer = await globalThis.fetch(address, options);
  const { headers, body } = options || {};
  if (typeof body === "string") cells.set(headers["Idempotency-Key"], JSON.parse(body).cells);
  else if (body) cells.set(headers["Idempotency-Key"], Array.from(new Uint16Array(body.slice(32).buffer)));
  if (options?.method !== "POST" || !lose) return answer;
  lose = false;
  throw new TypeError("the answer is lost on the way");
};
const client = await Client.open(url, campaign, { epsilon: 1, store, fetch, wait: async () => {} });
const first = await client.report(3);
const again = await (await Client.open(url, campaign, { epsilon: 1, store })).report(20);
const sent = await client.send([1, 2, null, 99, 23.5]);
const agreed = await Client.open(url, campaign, { epsilon: 0.5, store }).catch((error) => error.name);
console.log(JSON.stringify({ first, again, sent, agreed, cells: [...cells.values()].flat() }));
"""


def second_round(site: Site) -> Campaign:
    """The second of two rounds for a median, after 500 people have answered in the first."""
    plan = sv.rounds("quantile", 1.0, (0, 24), p=0.5)
    declared = {"task": "quantile", "p": 0.5}
    return site.second_round("node-late", plan, np.linspace(4, 12, 500), rounds=declared)


@pytest.mark.parametrize("design", [sv.ogpm, sv.two_scale, second_round])
def test_node_client(site: Site, tmp_path: Path, design: Any) -> None:
    if design is second_round:
        second = second_round(site)
        name, campaign, mechanism = second.name, second.id, second.reporter
        assert isinstance(mechanism, sv.Mixture)
    else:
        mechanism = design(epsilon=1.0, domain=(0, 24))
        name = f"node-{design.__name__.replace('_', '-')}"
        campaign = site.campaign(name, mechanism)
    command = ["node", "--input-type=module", "-e", SCRIPT, CLIENT.as_uri(), site.url, str(tmp_path), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["first"] == found["again"]
    assert found["first"]["state"] == "sent"
    assert found["first"]["value"] == mechanism.decode(found["first"]["cell"])
    assert found["sent"] == 5
    assert found["agreed"] == "PrivacyError"
    assert site.n(name) == 6
    assert sorted(found["cells"]) == sorted(site.store.waiting(campaign)[:, 1].tolist())
