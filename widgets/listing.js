// What long lists in tabs share: a line about what was done last, and turning through pages of rows.

/** A line for the panel's `told`, gone when it is dismissed. */
function toldLine(model) {
  const text = el("span");
  const line = el("div", { class: "wb-said", role: "status" }, text,
    el("button", { type: "button", "aria-label": "Dismiss", onclick: () => act(model, "dismiss_told") }, icon("close")));
  const stop = watch(model, ["told"], () => {
    text.textContent = model.get("told");
    line.hidden = !model.get("told");
  });
  return { line, stop };
}

/** "1–50 of 2,000" with the pages before and after. */
function pageTurner(model, noun) {
  const where = el("span", { role: "status" });
  const turn = (by) => () => { const { start, size } = model.get("page"); act(model, "look", { start: start + by * size }); };
  const back = el("button", { type: "button", class: "wb-icon", "aria-label": `Previous ${noun}`, title: `Previous ${noun}`, onclick: turn(-1) }, icon("back"));
  const forward = el("button", { type: "button", class: "wb-icon", "aria-label": `Next ${noun}`, title: `Next ${noun}`, onclick: turn(1) }, icon("forward"));
  const bar = el("nav", { class: "wb-pager", "aria-label": `Pages of ${noun}` }, where, back, forward);
  const stop = watch(model, ["page", "loaded"], () => {
    const { start = 0, size = 1, matches = 0, rows = [] } = model.get("page");
    bar.hidden = matches === 0;
    where.textContent = matches > size ? `${(start + 1).toLocaleString("en")}–${(start + rows.length).toLocaleString("en")} of ${matches.toLocaleString("en")}` : `${matches.toLocaleString("en")} shown`;
    back.hidden = forward.hidden = matches <= size;
    back.disabled = start === 0;
    forward.disabled = start + rows.length >= matches;
  });
  return { bar, stop };
}
