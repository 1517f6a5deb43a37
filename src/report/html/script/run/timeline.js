// An animated step: computations, waits, and messages of each node, with a moving time marker.

const kLanes = [
  { name: "computing", says: "computes", part: kParts.compute, from: 0, to: 0.5 },
  { name: "waiting", says: "waits for", part: kParts.waiting, from: 0.12, to: 0.38 },
  { name: "sending", says: "sends", part: kParts.bandwidth, from: 0.52, to: 0.74 },
  { name: "receiving", says: "receives", part: kParts.down, from: 0.76, to: 0.98 },
];
const kRowHeight = 30;
const kPlaySeconds = [4, 8, 16, 32];

/** The span of [begin, end, label] spans, in order, that a date lies in; null: none. */
function spanAt(spans, date) {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][0] <= date) low = middle + 1;
    else high = middle;
  }
  return low > 0 && date < spans[low - 1][1] ? spans[low - 1] : null;
}

/** What a node does at a date: "computes fc1 forward; sends gather fc1". */
function doingOf(play, node, date) {
  const all = kLanes.flatMap(({ name, says }) => {
    const span = spanAt(node[name], date);
    if (!span) return [];
    const label = play.labels[span[2]].replace(/^wait for /, "");
    return [`${says} ${label}`];
  });
  return all.join("; ") || "does nothing";
}

/** All dates at which something begins or ends. */
function datesOf(play) {
  const dates = new Set([0, play.units]);
  for (const node of play.nodes) {
    for (const { name } of kLanes) for (const [begin, end] of node[name]) dates.add(begin).add(Math.min(end, play.units));
  }
  return [...dates].sort((a, b) => a - b);
}

function addPlayedStep(page, section) {
  const plays = (page.timelines ?? []).map((play) => ({ play, run: page.runs[play.run] }));
  if (plays.length === 0) return;
  let { play } = (plays.find(({ run }) => run === ranked(page.runs)[0]) ?? plays[0]);
  let dates = datesOf(play);
  let date = 0; // in time units of the animation
  let seconds = kPlaySeconds[1];
  let running = null; // function that cancels the next frame
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  const canvas = element("canvas", { role: "img" });
  const drawing = element("div", { class: "drawing" }, canvas);
  const said = element("p", { class: "readout" });
  // Screen readers get the state of all nodes whenever the animation pauses.
  const told = element("p", { class: "unseen", "aria-live": "polite" });
  const button = element("button", { type: "button", click: () => (running ? stop() : start()) }, "Play");
  const position = element("input", {
    id: newId("position"),
    type: "range",
    min: 0,
    max: play.units,
    step: "any",
    value: 0,
    input: () => {
      stop();
      show(Number(position.value));
    },
    keydown: (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      stop();
      show((way > 0 ? dates.find((d) => d > date) : dates.findLast((d) => d < date)) ?? date);
      tell();
    },
  });
  const text = element("output", { for: position.id });
  let ground = null; // the static part of the drawing

  const geometry = () => {
    const width = drawing.clientWidth;
    const names = width < 560 ? 0 : 190;
    return { width, left: names + 4, across: width - names - 12, rowHeight: kRowHeight + (names ? 0 : 14), names };
  };

  function drawGround() {
    const { width, left, across, rowHeight, names } = geometry();
    if (!(across > 0)) return; // the element has no layout yet
    const height = play.nodes.length * rowHeight + 24;
    const scale = window.devicePixelRatio || 1;
    drawing.style.height = `${height}px`;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    ground = document.createElement("canvas");
    for (const one of [canvas, ground]) {
      one.width = Math.round(width * scale);
      one.height = Math.round(height * scale);
    }
    const pen = ground.getContext("2d");
    pen.scale(scale, scale);
    const { ink, soft, grid } = palette();
    pen.font = `12px ${Chart.defaults.font.family}`;
    pen.textBaseline = "middle";
    play.nodes.forEach((node, row) => {
      const top = row * rowHeight + (names ? 0 : 14);
      pen.fillStyle = ink;
      if (names) pen.fillText(shortened(node.name, 28), 0, top + kRowHeight / 2);
      else pen.fillText(shortened(node.name, 40), left, top - 6);
      pen.fillStyle = grid;
      pen.fillRect(left, top + kRowHeight - 1, across, 1);
      for (const lane of kLanes) {
        pen.fillStyle = filling(pen, lane.part);
        const [y, tall] = [top + 2 + lane.from * (kRowHeight - 4), (lane.to - lane.from) * (kRowHeight - 4)];
        for (const [begin, end] of node[lane.name]) {
          const x = left + (begin / play.units) * across;
          pen.fillRect(x, y, Math.max(0.75, ((Math.min(end, play.units) - begin) / play.units) * across), tall);
        }
      }
    });
    pen.fillStyle = soft;
    const bottom = height - 10;
    pen.textAlign = "left";
    pen.fillText("0", left, bottom);
    pen.textAlign = "right";
    pen.fillText(humanSeconds(play.seconds), left + across, bottom);
    drawDate();
  }

  function drawDate() {
    if (!ground?.width) return;
    const pen = canvas.getContext("2d");
    const scale = window.devicePixelRatio || 1;
    const { left, across, rowHeight, names } = geometry();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(ground, 0, 0);
    pen.scale(scale, scale);
    const x = left + (date / play.units) * across;
    const { ink, paper } = palette();
    // Draws activity after the time marker pale.
    pen.globalAlpha = 0.72;
    pen.fillStyle = paper;
    play.nodes.forEach((_, row) => {
      pen.fillRect(x, row * rowHeight + (names ? 0 : 14) + 1, left + across - x + 4, kRowHeight - 3);
    });
    pen.globalAlpha = 1;
    pen.fillStyle = ink;
    pen.fillRect(x - 0.75, 0, 1.5, play.nodes.length * rowHeight);
    play.nodes.forEach((node, row) => {
      const top = row * rowHeight + (names ? 0 : 14);
      for (const lane of kLanes) {
        if (!spanAt(node[lane.name], date)) continue;
        pen.fillStyle = palette().runs[lane.part.colour];
        pen.beginPath();
        pen.arc(x, top + 2 + ((lane.from + lane.to) / 2) * (kRowHeight - 4), 3.5, 0, 2 * Math.PI);
        pen.fill();
      }
    });
  }

  function show(to) {
    date = Math.min(play.units, Math.max(0, to));
    drawDate();
    position.value = date;
    const now = `${humanSeconds((date / play.units) * play.seconds)} of ${humanSeconds(play.seconds)}`;
    text.textContent = now;
    position.setAttribute("aria-valuetext", now);
    const counts = kLanes.map(({ name }) => play.nodes.filter((node) => spanAt(node[name], date)).length);
    said.textContent = `${counts[0]} compute, ${counts[1]} wait, ${counts[2]} send, ${counts[3]} receive, of ${play.nodes.length} shown.`;
  }

  function tell() {
    told.textContent = play.nodes.map((node) => `${node.name} ${doingOf(play, node, date)}`).join(". ");
  }

  function next(frame) {
    const id = requestAnimationFrame(frame);
    running = () => cancelAnimationFrame(id);
  }

  function later(frame, milliseconds) {
    const id = setTimeout(frame, milliseconds);
    running = () => clearTimeout(id);
  }

  function start() {
    if (date >= play.units) show(0);
    button.textContent = "Pause";
    told.textContent = "";
    let last = null;
    const frame = (now) => {
      if (!running) return;
      if (last !== null) show(date + ((now - last) / 1000 / seconds) * play.units);
      last = now;
      if (date >= play.units) return stop();
      next(frame);
    };
    // Readers who prefer reduced motion get a hundred still pictures.
    const still_frame = () => {
      show(date + play.units / 100);
      if (date >= play.units) return stop();
      later(still_frame, 10 * seconds * 4);
    };
    if (still.matches) later(still_frame, 0);
    else next(frame);
  }

  function stop() {
    if (!running) return;
    running();
    running = null;
    button.textContent = "Play";
    tell();
  }

  const describe = () =>
    canvas.setAttribute(
      "aria-label",
      `A step of ${humanSeconds(play.seconds)} as bars by node: ` +
        play.nodes
          .map((node) => {
            const sums = kLanes.map(({ name, says }) => {
              const sum = node[name].reduce((all, [begin, end]) => all + Math.min(end, play.units) - begin, 0);
              return `${says.split(" ")[0]} ${shareText(sum / play.units)}`;
            });
            return `${node.name} ${sums.join(", ")}`;
          })
          .join("; "),
    );

  const controls = element(
    "div",
    { class: "controls" },
    selection(
      "Run",
      plays.map((one) => ({ value: one.play, text: one.run.label })),
      play,
      (chosen) => {
        stop();
        play = chosen;
        dates = datesOf(play);
        position.max = play.units;
        describe();
        drawGround();
        show(play.units);
      },
    ),
    button,
    element(
      "span",
      { class: "choice slider" },
      element("label", { for: position.id }, "Date"),
      position,
      text,
    ),
    selection(
      "Played in",
      kPlaySeconds.map((value) => ({ value, text: `${value} s` })),
      seconds,
      (value) => (seconds = value),
    ),
  );
  const leftOut = play.left_out > 0 ? ` ${humanCount(play.left_out)} further workers are not shown.` : "";
  section.append(
    lead(
      `Step ${play.step}${play.cold ? ", on new connections" : ", on warm connections"}: above what a node computes or waits for, ` +
        `below what it sends and receives.${leftOut} The arrow keys on the date go from event to event.`,
    ),
    key(kLanes.map(({ name, part }) => ({ label: name, part }))),
    element("figure", {}, controls, drawing, said, told),
  );
  describe();
  drawn(drawGround);
  new ResizeObserver(() => drawGround()).observe(drawing);
  show(play.units); // shows the whole step, for print and before the first start
}
