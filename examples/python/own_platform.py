"""A platform made by a program: clinics whose lines differ as theirs do, from a list."""

import os
import tempfile

import dadsim

LINES = {"berlin": "50Mbps", "lisbon": "20Mbps", "oslo": "100Mbps", "turin": "5Mbps"}  # name: uplink

platform = "".join(f'<sites name="{name}" count="1" up="{up}" down="100Mbps" latency="10ms"/>' for name, up in LINES.items())
workers = "".join(f'<worker hosts="{name}-1" device="rtx-3090"/>' for name in LINES)
scenario = f"""<scenario name="Clinics from a list" seed="1">
  <platform><federation>{platform}</federation></platform>
  <workers>{workers}<aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="800" test="200"/></data>
  <model><dense units="32" activation="relu"/><dense units="10"/></model>
  <training batch="20" epochs="2" target-accuracy="0.6"><adam learning-rate="2e-3"/></training>
  <run algorithm="gradient-sharing"/>
  <run algorithm="rank-dad" cap="4"/>
</scenario>"""

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "clinics.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario)
    for run in dadsim.run(path).runs():
        print(f"{run['label']}: a step takes {run['step_seconds']:.3g} s; {run['bound_by']} binds it")
