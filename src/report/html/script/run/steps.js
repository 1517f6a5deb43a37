// The time and bytes of a step, run by run.

/**
 * The parts of a step's time that the result tells apart. The busy part of the compute stream may be split into
 * compressing and the rest, the part that stands still into waiting for other workers and the rest.
 */
function stepParts(runs) {
  const has = (name) => runs.some((run) => isNumber(run[name]));
  const less = (whole, part) =>
    runs.map((run) => (isNumber(run[whole]) ? Math.max(0, run[whole] - (run[part] ?? 0)) : null));
  const parts = [
    {
      label: has("compression_seconds") ? "compute without compression" : "compute",
      part: kParts.compute,
      values: less("compute_seconds", "compression_seconds"),
    },
  ];
  if (has("compression_seconds")) {
    parts.push({
      label: "compression",
      part: kParts.compression,
      values: runs.map((run) => run.compression_seconds ?? null),
    });
  }
  parts.push({
    label: "exposed communication",
    part: kParts.communication,
    values: less("exposed_seconds", "waiting_seconds"),
  });
  if (has("waiting_seconds")) {
    parts.push({
      label: "waiting for others",
      part: kParts.waiting,
      values: runs.map((run) => run.waiting_seconds ?? null),
    });
  }
  return parts;
}

/** A table with a row a run and a column a part. */
function partsTable(page, caption, parts, text, total = null) {
  const columns = [{ title: "run" }, ...parts.map((part) => ({ title: part.label, number: true }))];
  if (total) columns.push({ title: total.title, number: true });
  const rows = page.runs.map((run, i) => {
    const row = [run.label, ...parts.map((part) => text(part.values[i]))];
    if (total) row.push(text(total.values[i]));
    return row;
  });
  return table(caption, columns, rows);
}

/** Without a step there is nothing to draw. */
const stepsTaken = (runs) => runs.some((run) => isNumber(run.step_seconds));

function addStepTimes(page, section) {
  if (!stepsTaken(page.runs)) return;
  const parts = stepParts(page.runs);
  const totals = page.runs.map((run) => run.step_seconds);
  const caption =
    page.turn === "round"
      ? "A round: workers that take part computing, and waiting for the network or for others"
      : "A step of the worker that ends last: busy computing, and standing still for the network or for others";
  const description =
    "Stacked bars: " +
    page.runs.map((run) => `${run.label} ${humanSeconds(run.step_seconds)} a ${page.turn}`).join("; ") +
    ".";
  const figure = chartFigure(description, [], () =>
    partsTable(page, caption, parts, humanSeconds, { title: page.turn, values: totals }),
  );
  section.append(lead(`${caption}; mean over the run.`), key(parts), figure.figure);
  const sums = page.runs.map((_, i) => parts.reduce((sum, part) => sum + (part.values[i] ?? 0), 0));
  const ends = parts.map(() => null);
  ends[ends.length - 1] = sums.map((sum, i) => ({ at: sum, text: humanSeconds(totals[i]) }));
  bars(figure, { labels: page.runs.map((run) => run.label), parts, stacked: true, kind: "seconds", title: "", ends });
}

function addStepBytes(page, section) {
  if (!stepsTaken(page.runs)) return;
  const runs = page.runs;
  const parts = [
    { label: "up (sent)", part: kParts.up, values: runs.map((run) => run.bytes_up_per_worker) },
    { label: "down (received)", part: kParts.down, values: runs.map((run) => run.bytes_down_per_worker) },
  ];
  const caption = `Payload that a worker sends and receives in a ${page.turn}`;
  const described = runs.map(
    (run, i) => `${run.label} ${humanBytes(parts[0].values[i])} up, ${humanBytes(parts[1].values[i])} down`,
  );
  let redraw = null;
  const controls = [checkbox("Logarithmic", false, (log) => redraw({ log, ends: ends(log) }))];
  const figure = chartFigure(`Bars: ${described.join("; ")}.`, controls, () =>
    partsTable(page, `${caption}; mean over workers and ${page.turn}s`, parts, humanBytes),
  );
  section.append(lead(`${caption}; mean over workers and ${page.turn}s.`), key(parts), figure.figure);
  // A logarithmic axis has no place for zero, hence no text.
  const ends = (log) =>
    parts.map((part) =>
      part.values.map((value) =>
        isNumber(value) && (value > 0 || !log) ? { at: value, text: humanBytes(value) } : null,
      ),
    );
  const labels = runs.map((run) => run.label);
  redraw = bars(figure, { labels, parts, stacked: false, kind: "bytes", title: "", ends: ends(false) });
}
