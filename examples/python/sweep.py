"""Which algorithm is first behind which line? A sweep of the three clinics."""

import os
import sys
import tempfile

import dadsim

clinics = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "embed", "clinics.xml")

with tempfile.TemporaryDirectory() as folder:
    scenario = os.path.join(folder, "swept.xml")
    with open(clinics, encoding="utf-8") as file:
        text = file.read()
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(
            text.replace(
                "</scenario>",
                '<sweep><vary path="platform.federation.sites.up" values="5Mbps 20Mbps 1Gbps"/></sweep></scenario>',
            )
        )
    frame = dadsim.sweep(scenario).to_pandas()

reached = frame[frame.target_reached]
for up, runs in reached.groupby("platform.federation.sites.up", sort=False):
    first = runs.loc[runs.target_seconds.idxmin()]
    print(f"{up}: {first.label} is first, in {first.target_seconds:.3g} s")
