// The causes of one run, by kind and below it by resource, each with the real saving of a faster one.

/** Parts below this share of the step are counted together. */
const kNamedShare = 0.01;

function causesTable(run) {
  const rows = [];
  for (const cause of run.causes) {
    const heading = element("strong", { class: "named" }, causeText(cause.kind));
    rows.push([heading, shareText(cause.share), humanSeconds(cause.seconds), "", ""]);
    const named = cause.on.filter((part) => part.share >= kNamedShare);
    for (const part of named) {
      rows.push([
        element("span", { class: "named below" }, resourcesText(cause.kind, part)),
        shareText(part.share),
        humanSeconds(part.seconds),
        isNumber(part.saving_if_twice_as_fast) ? savingText(part.saving_if_twice_as_fast) : "not tried",
        kept((part.why_not ?? part.why_more)?.words ?? ""),
      ]);
    }
    const others = cause.on.filter((part) => part.share < kNamedShare);
    const rest = others.reduce((sum, part) => sum + part.seconds, 0);
    if (others.length > 0 && named.length > 0 && rest > 0) {
      rows.push([
        element("span", { class: "named below" }, `${humanCount(others.length)} more, each under 1 %`),
        shareText(others.reduce((sum, part) => sum + part.share, 0)),
        humanSeconds(rest),
        "",
        "",
      ]);
    }
  }
  return table(
    `On the critical path of ${run.label}; “twice as fast” is twice the bandwidth, half the latency, or a device of twice the speed`,
    [
      { title: "cause" },
      { title: "share", number: true },
      { title: "time per step", number: true },
      { title: "twice as fast", number: true },
      { title: "why it saves so little, or so much" },
    ],
    rows,
  );
}

function addCauses(page, section) {
  section.append(
    element(
      "p",
      { class: "lead" },
      "The ",
      word("critical path"),
      " says what was waited for, not what there would be to wait for instead: so each part is followed by what making " +
        "it twice as fast saves, simulated, and by why where that is far from half of its share.",
    ),
  );
  addByRun(page, section, (run) => {
    if (run.causes.length > 0) return [causesTable(run)];
    return [element("p", {}, kept(page.summary.runs[page.runs.indexOf(run)].words))];
  });
}
