const SUPPORT = { supported: "supported", partly: "partly supported", unsupported: "not supported by this page", pending: "", "": "" };

function drawChat(model, root) {
  const card = citationCard(root);
  const empty = emptyThread(model);
  const list = el("div", { class: "wb-turns" });
  const thread = el("div", { class: "wb-thread", role: "log", "aria-label": "Questions and answers", tabIndex: -1 },
    el("div", { class: "wb-column" }, empty.box, list));
  const problem = errorLine(model);
  const compose = composer(model);
  const head = threadHead(model);
  root.append(head.box, thread, el("div", { class: "wb-compose" }, el("div", { class: "wb-column" }, problem.line, compose.box)), card.box);

  let drawn = [];
  let shown = -1; // the thread whose turns are drawn
  const turnAt = (index) => {
    const live = model.get("live");
    const turn = model.get("turns")[index] ?? {};
    return live.index === index ? { ...turn, ...live, citations: model.get("live_citations") } : turn;
  };

  const draw = () => {
    const turns = model.get("turns");
    const active = model.get("active");
    const at = thread.scrollTop, before = drawn.length;
    const another = shown !== model.get("thread");
    const anew = another || turns.length < before || drawn.some((view, index) => view.question !== turns[index].question);
    if (anew) {
      drawn = [];
      list.replaceChildren();
      shown = model.get("thread");
    }
    // Another window's turn is added in silence: who reads here keeps the place.
    const asked = turns.length > drawn.length && (another || !before || turns.at(-1).state === "searching");
    turns.forEach((_, index) => {
      const turn = turnAt(index);
      if (!drawn[index]) {
        drawn[index] = turnView(model, card, index, turn.question);
        list.append(drawn[index].article);
      }
      drawn[index].draw(turn);
      drawn[index].activate(active.turn === index ? active.k : -1);
    });
    empty.box.hidden = turns.length > 0 || !model.get("scopes").length || model.get("reading");
    if (asked) thread.scrollTop += list.lastElementChild.getBoundingClientRect().top - thread.getBoundingClientRect().top - 20; // its question comes on top
    else if (anew) thread.scrollTop = at;
  };
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const hidden = card.hide();
    if (model.get("streaming")) act(model, "stop");
    else if (!hidden) return;
    event.stopPropagation();
  });
  thread.addEventListener("scroll", () => card.scrolled(), { passive: true });
  const stops = [watch(model, ["turns", "live", "live_citations", "active", "scopes", "known", "thread", "reading"], draw), head.stop, empty.stop, compose.stop, problem.stop, card.stop];
  return () => stops.forEach((stop) => stop());
}

/** The conversation's title, whose chat it is, and its export. */
function threadHead(model) {
  const exports = exporter(model, () => model.get("conversation"));
  const kind = el("span", { class: "wb-chip" }), title = el("bdi"), menu = el("span", { class: "wb-head-menu" });
  const box = el("div", { class: "wb-head" }, kind, el("h2", {}, title), menu);
  const kinds = { project: ["Project chat", "Sees the papers of this project"], paper: ["Paper chat", "Sees this paper alone; gone 24 hours after its last use"] };
  const stop = watch(model, ["title", "kind", "conversation"], () => {
    const [name, meaning] = kinds[model.get("kind")] ?? ["", ""];
    kind.hidden = !name;
    kind.textContent = name;
    kind.title = meaning;
    title.textContent = title.parentElement.title = model.get("title");
    menu.replaceChildren(...(model.get("conversation") ? moreMenu(model.get("title"), exports.items) : []));
  });
  return { box, stop: () => { stop(); exports.stop(); } };
}

/** What an empty thread shows: what to do, and questions to begin with. */
function emptyThread(model) {
  const questions = el("div", { class: "wb-suggestions" });
  const hint = el("p");
  const title = el("h2");
  const box = el("div", { class: "wb-empty" }, title, hint, questions);
  const stop = watch(model, ["suggestions", "kind"], () => {
    title.textContent = model.get("kind") === "paper" ? "Ask this paper" : "Ask across your papers";
    const texts = model.get("suggestions");
    hint.textContent = texts.length
      ? "Every claim in an answer carries a number. Click it to read the page it came from."
      : "Add papers on the left, then ask a question that needs more than one of them.";
    questions.replaceChildren(...texts.map((text) => el("button", {
      type: "button", onclick: () => { if (!model.get("streaming")) act(model, "ask", { question: text }); },
    }, text)));
  });
  return { box, stop };
}

/** One question with its answer. `draw` takes the turn as it is now and touches only what changed. */
function turnView(model, card, index, question) {
  const status = el("div", { class: "wb-status" });
  const asked = el("div", { class: "wb-asked" });
  const body = el("div", { class: "wb-answer" });
  const notes = el("div", { class: "wb-notes" });
  const foot = turnFoot(model, index);
  const article = el("article", { class: "wb-turn" }, el("div", { class: "wb-question" }, question), asked, status, body, notes, foot.box, foot.coverage, foot.passages);
  const citationOf = (chip) => turn.citations?.[Number(chip.dataset.k)];
  let turn = {};
  let last = "";

  const onChip = (type, use) => body.addEventListener(type, (event) => {
    const chip = event.target.closest?.(".wb-cite");
    if (chip) use(chip);
  });
  onChip("click", (chip) => { card.hide(); act(model, "cite", { turn: index, k: Number(chip.dataset.k) }); });
  for (const type of ["pointerover", "focusin"]) onChip(type, (chip) => card.show(chip, citationOf(chip)));
  for (const type of ["pointerout", "focusout"]) onChip(type, () => card.hideSoon());

  const draw = (now) => {
    const told = ["done", "refused", "stopped"].includes(now.state) ? model.get("known") : [];
    const own = now.notes.filter((note) => !told.includes(note)); // what the header tells is not told again
    const key = JSON.stringify([now.state, now.html, own, now.asked, now.citations?.length]);
    if (key === last) return;
    last = key;
    turn = now;
    const said = { searching: "Reading the papers", stopped: "Stopped", failed: "No answer" }[turn.state];
    article.setAttribute("aria-busy", String(turn.state === "searching" || turn.state === "answering"));
    article.dataset.state = turn.state;
    status.hidden = !said;
    status.textContent = said ?? "";
    asked.hidden = !turn.asked;
    asked.textContent = turn.asked ?? "";
    body.innerHTML = turn.html; // markdown rendered and sanitised in richtext.py; nothing else is HTML
    card.settle();
    for (const chip of body.querySelectorAll(".wb-cite")) {
      const citation = citationOf(chip);
      if (citation) chip.setAttribute("aria-label", `Citation ${citation.n}: ${dotted(citation.title, pageText(citation), SUPPORT[citation.support])}`);
    }
    notes.replaceChildren(...own.map((note) => el("div", {}, note)));
    foot.draw(turn);
  };
  const activate = (k) => {
    for (const chip of body.querySelectorAll(".wb-cite")) chip.classList.toggle("wb-on", Number(chip.dataset.k) === k);
  };
  return { article, question, draw, activate };
}

/** Below an answer: how well it is supported, where it comes from, and the passages it could use. */
function turnFoot(model, index) {
  const box = el("div", { class: "wb-foot" });
  const coverage = el("div", { class: "wb-coverage" });
  const why = whyPanel(model, index);

  const copy = (text) => el("button", { type: "button", class: "wb-link", onclick: async (event) => {
    const button = event.currentTarget;
    button.textContent = (await copyText(text)) ? "Copied" : "Not allowed";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");

  const again = () => el("button", { type: "button", class: "wb-link wb-again", title: "Another answer to this question; this one stays",
    onclick: () => { if (!model.get("streaming")) act(model, "ask_again"); } }, "Ask again");

  const draw = (turn) => {
    const facts = turn.foot ?? {};
    const judged = turn.state !== "refused"; // the nearest passages of a refusal support nothing
    const quoted = judged && facts.extractive;
    const count = (number, name, text) => number > 0 && el("span", { class: name }, `${text.replace("#", number)}`);
    box.hidden = !turn.foot && !turn.text && !["failed", "stopped"].includes(turn.state); // these can be asked again
    box.replaceChildren(...[
      quoted && count(facts.quotes, "", facts.quotes === 1 ? "# quote, on its page" : "# quotes, each on its page"),
      judged && !quoted && count(facts.supported, "wb-ok", "✓ # supported"),
      judged && count(facts.partly, "wb-part", "◐ # partly"),
      judged && count(facts.unsupported, "wb-no", "✗ # not supported"),
      judged && count(facts.uncited, "", "○ # without citation"),
      turn.foot && el("span", { class: "wb-foot-scope" }, `⊙ ${facts.scope}`),
      turn.foot && el("span", {}, dotted(facts.provider, facts.seconds > 0 && `${facts.seconds} s`)),
      el("span", { class: "wb-foot-actions" }, why.draw(turn), turn.text && copy(turn.text), again()),
    ].filter(Boolean));
    drawCoverage(turn.coverage ?? {}, turn.message > 0);
  };
  const drawCoverage = ({ line, silent, titles }, stored) => {
    coverage.hidden = !line;
    coverage.replaceChildren(...[
      line && el("span", {}, line),
      silent > 0 && stored && el("button", {
        type: "button", class: "wb-link", title: `No passage of ${titles}`,
        onclick: () => { if (!model.get("streaming")) act(model, "ask_silent", { turn: index }); },
      }, silent === 1 ? "Ask the silent paper" : `Ask the ${silent} silent papers`),
    ].filter(Boolean));
  };
  return { box, coverage, passages: why.box, draw };
}

/** The card beside a marker: what it cites. */
function citationCard(root) {
  const title = el("b"), facts = el("div", { class: "wb-card-facts" }), quote = el("q"), support = el("div", { class: "wb-card-support" });
  const box = el("div", { class: "wb-card", role: "tooltip", id: `wb-card-${Math.random().toString(36).slice(2)}`, hidden: true }, title, facts, quote, support);
  let timer = 0;
  let chipNow = null;
  const escaped = (event) => { if (event.key === "Escape") hide(); }; // also where the keyboard is elsewhere
  const hide = () => {
    clearTimeout(timer);
    document.removeEventListener("keydown", escaped);
    const was = !box.hidden;
    box.hidden = true;
    chipNow?.removeAttribute("aria-describedby");
    chipNow = null;
    return was;
  };
  const show = (chip, citation) => {
    if (chip === chipNow) return clearTimeout(timer);
    hide();
    if (!citation) return;
    chipNow = chip;
    document.addEventListener("keydown", escaped);
    title.textContent = citation.title;
    facts.textContent = dotted(citation.byline, pageText(citation));
    quote.textContent = citation.quote.length > 420 ? `${citation.quote.slice(0, 420)}…` : citation.quote;
    support.textContent = SUPPORT[citation.support] ? `This sentence is ${SUPPORT[citation.support]}.` : "";
    support.dataset.support = citation.support;
    support.hidden = !support.textContent;
    box.hidden = false;
    chip.setAttribute("aria-describedby", box.id);
    place();
  };
  const place = () => {
    const at = chipNow.getBoundingClientRect(), frame = root.getBoundingClientRect();
    const left = Math.max(12, Math.min(at.left - frame.left - 40, frame.width - box.offsetWidth - 12));
    const below = at.bottom - frame.top + 8;
    const above = at.top - frame.top - box.offsetHeight - 8;
    box.style.left = `${left}px`;
    const fits = below + box.offsetHeight <= frame.height - 8;
    box.style.top = `${fits ? below : above > 8 ? above : Math.max(8, frame.height - box.offsetHeight - 8)}px`;
  };
  /** A card that the keyboard opened stays beside its marker, which comes into sight by scrolling. */
  const scrolled = () => { if (chipNow && chipNow === document.activeElement) place(); else hide(); };
  const hideSoon = () => { clearTimeout(timer); timer = setTimeout(hide, 140); };
  const settle = () => { if (chipNow && !chipNow.isConnected) hideSoon(); }; // the text that streams was drawn anew
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", hideSoon);
  return { box, show, hide, hideSoon, scrolled, settle, stop: hide };
}

export default panel("wb-chat", drawChat);
