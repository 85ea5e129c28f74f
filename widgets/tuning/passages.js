ICONS.check = ["M3.2 8.6l3.2 3.1 6.4-7"];

/** A question asked before, and what the numbers do to its passages. */
function passageReplay(model) {
  const picker = questionPicker(model);
  const told = el("div", { class: "wb-moves", role: "status" });
  const notes = el("div", { class: "wb-notes" });
  const list = el("ol", { class: "wb-seats", "aria-label": "Passages with these numbers" });
  const gone = el("ul", { class: "wb-seats wb-gone", "aria-labelledby": "wb-gone-heading" });
  const goneHeading = el("h3", { class: "wb-heading", id: "wb-gone-heading" });
  const nothing = el("p", { class: "wb-hint wb-nothing" }, "No passage passes these numbers. Lower the least relevance, or go back to the usual numbers.");
  const empty = el("div", { class: "wb-blank" }, el("h2", {}, "No questions asked here yet"), el("p", {}, "Ask one in Chat, then tune it here: its passages are found again with other numbers, before any chat model is asked."));
  const marking = el("p", { class: "wb-marking" }, icon("check"), "marks a page that answers the question");
  const shown = el("div", {}, picker.box, el("div", { class: "wb-moves-row" }, told, marking), notes, list, nothing, goneHeading, gone);
  const box = el("div", { class: "wb-replay" }, shown, empty);

  const draw = () => {
    const replay = model.get("replay");
    const rows = replay.rows ?? [];
    const glide = gliding(box);
    const focus = focusKeeper(box);
    list.replaceChildren(...rows.flatMap((row, index) => (row.change === "leaves" ? [] : [seat(model, row, index)])));
    gone.replaceChildren(...rows.flatMap((row, index) => (row.change === "leaves" ? [seat(model, row, index)] : [])));
    goneHeading.textContent = `Out with these numbers: ${replay.left}`;
    goneHeading.hidden = gone.hidden = !replay.left;
    nothing.hidden = !replay.rows || list.childElementCount > 0;
    told.replaceChildren(...movesText(replay));
    notes.replaceChildren(...[...(replay.changed ?? []), ...(replay.warnings ?? [])].map((line) => el("div", {}, line)));
    focus();
    glide();
  };
  const stops = [picker.stop, watch(model, ["replay", "marked"], draw),
    watch(model, ["replaying"], () => box.classList.toggle("wb-replaying", model.get("replaying"))),
    watch(model, ["questions", "loaded"], () => {
      const any = model.get("questions").length > 0;
      shown.hidden = !any;
      empty.hidden = any || !model.get("loaded");
    })];
  return { box, stop: () => stops.forEach((stop) => stop()) };
}

/** The question with what it was asked with, and ways to the others. */
function questionPicker(model) {
  const select = el("select", { "aria-label": "Past question", onchange: () => act(model, "choose", { id: Number(select.value) }) });
  const place = el("span");
  const newer = el("button", { type: "button", class: "wb-icon wb-framed", "aria-label": "Newer question", title: "Newer question", onclick: () => step(-1) }, icon("back"));
  const older = el("button", { type: "button", class: "wb-icon wb-framed", "aria-label": "Older question", title: "Older question", onclick: () => step(1) }, icon("forward"));
  const text = el("h2", { class: "wb-asked-text" });
  const facts = el("span");
  const again = el("button", { type: "button", class: "wb-link", title: "Set the controls to the numbers that this question was asked with", onclick: () => act(model, "as_asked") }, "Set so");
  const at = () => model.get("questions").findIndex((question) => question.id === model.get("chosen"));
  const step = (by) => {
    const next = model.get("questions")[at() + by];
    if (next) act(model, "choose", { id: next.id });
  };
  const box = el("header", { class: "wb-picker" },
    el("div", { class: "wb-picker-row" }, el("label", { class: "wb-pick" }, place, icon("down"), select), newer, older), text, el("p", { class: "wb-asked-facts" }, facts, again));
  const draw = () => {
    const questions = model.get("questions"), index = at();
    select.replaceChildren(...questions.map((question) => el("option", { value: String(question.id) }, `${question.text.length > 90 ? `${question.text.slice(0, 89)}…` : question.text}  (${timeText(question.when)})`)));
    select.value = String(model.get("chosen"));
    place.textContent = `Past question ${index + 1} of ${questions.length}`;
    newer.disabled = index <= 0;
    older.disabled = index < 0 || index >= questions.length - 1;
    text.textContent = questions[index]?.text ?? "";
    facts.textContent = questions[index] ? dotted(timeText(questions[index].when), model.get("replay").rows && `asked with ${model.get("replay").asked_with || "the usual numbers"}`) : "";
    again.hidden = !model.get("replay").rows || model.get("replay").as_asked;
  };
  return { box, stop: watch(model, ["questions", "chosen", "replay"], draw) };
}

/** "+ 2 enter  − 3 leave  10 stay (4 move)". */
function movesText(replay) {
  if (!replay.rows) return [];
  const part = (name, text) => el("span", { class: name }, text);
  if (!replay.entered && !replay.left && !replay.moved) return [part("wb-same", `The same ${counted(replay.stayed, "passage")} as it had.`)];
  return [
    replay.entered > 0 && part("wb-in", `+ ${replay.entered} ${replay.entered === 1 ? "enters" : "enter"}`),
    replay.left > 0 && part("wb-out", `− ${replay.left} ${replay.left === 1 ? "leaves" : "leave"}`),
    part("", `${replay.stayed} ${replay.stayed === 1 ? "stays" : "stay"}${replay.moved ? ` (${replay.moved} ${replay.moved === 1 ? "moves" : "move"})` : ""}`),
  ].filter(Boolean);
}

/** One passage: its number and how it moved, what it is, its relevance, and the mark of a right page. */
function seat(model, row, index) {
  const leaves = row.change === "leaves", stays = row.change === "stays";
  const by = stays ? row.was - row.n : 0;
  const move = row.change === "enters" ? "new" : leaves ? "out" : by ? `${by > 0 ? "↑" : "↓"} ${Math.abs(by)}` : "";
  const spoken = row.change === "enters" ? "enters" : leaves ? "leaves" : by ? `was ${row.was}` : "stays";
  const marked = model.get("marked").includes(row.key);
  const score = row.score ?? row.was_score;
  const facts = dotted(row.byline, row.page > 0 && pageText({ page: row.page, label: "", unit: row.unit }), ranksText(row));
  const open = el("button", { type: "button", class: "wb-seat-body", "data-part": "open", disabled: !row.page, title: row.page ? "Open its page" : "", onclick: () => act(model, "open_page", { index }) },
    el("span", { class: "wb-seat-title" }, row.title), el("small", {}, facts), row.text && el("q", {}, row.text), row.why && el("span", { class: "wb-why" }, row.why));
  const mark = row.page > 0 && el("button", { type: "button", class: "wb-icon wb-mark-right", "data-part": "mark", "aria-pressed": String(marked),
    "aria-label": `${leaves ? "This page" : `[${row.n}]`} answers the question`, title: marked ? "Marked: this page answers the question. Press to take it back." : "Mark: this page answers the question", onclick: () => act(model, "mark", { index }) }, icon("check"));
  const bar = el("i");
  bar.style.width = `${Math.round(100 * Math.max(0, Math.min(1, score ?? 0)))}%`;
  return el("li", { class: "wb-seat", "data-key": String(row.key), "data-change": row.change },
    el("div", { class: "wb-seat-n" }, el("b", {}, leaves ? `[${row.was}]` : `[${row.n}]`), el("small", { "aria-hidden": "true" }, move), el("span", { class: "wb-visually-hidden" }, spoken)),
    open, el("div", { class: "wb-seat-side" }, el("span", { class: "wb-score", title: "Relevance, 0 to 1" }, score === null || score === undefined ? "" : score.toFixed(2)), el("div", { class: "wb-bar" }, bar), mark));
}

/** Where each half of the search has it: "meaning 2nd, words 5th". */
function ranksText(row) {
  const nth = (n) => `${n}${{ 1: "st", 2: "nd", 3: "rd" }[n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? "th"}`;
  return row.ranks.filter((entry) => entry.rank > 0).map((entry) => `${nth(entry.rank)} by ${entry.by}`).join(", ");
}

/** Remembers which part of which passage has the focus, and gives it back after the list is drawn anew. */
function focusKeeper(box) {
  const held = box.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.closest("[data-key]")?.dataset.key, part = held?.dataset.part;
  return () => { if (key) box.querySelector(`[data-key="${key}"] [data-part="${part}"]`)?.focus({ preventScroll: true }); };
}

/** Lets passages glide to their new places; those that enter fade in. */
function gliding(box) {
  const before = new Map([...box.querySelectorAll("[data-key]")].map((node) => [node.dataset.key, node.getBoundingClientRect().top]));
  return () => {
    if (!before.size || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const node of box.querySelectorAll("[data-key]")) {
      const from = before.get(node.dataset.key);
      const by = from === undefined ? 0 : from - node.getBoundingClientRect().top;
      if (from === undefined) node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 220, easing: "ease-out" });
      else if (Math.abs(by) > 1) node.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 220, easing: "ease-out" });
    }
  };
}
