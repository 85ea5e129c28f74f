const QUESTION_LOST_AFTER = 10000; // milliseconds

/** Scope, question and the button: Enter asks, Shift+Enter breaks the line, Escape stops. */
function composer(model) {
  const chip = el("select", { class: "wb-scope-choice", "aria-label": "Papers this question sees",
    onchange: () => {
      act(model, "choose_scope", { value: Number(chip.value) });
      chip.value = String(model.get("scope")); // until it is set, which a deleted project may prevent
    } });
  const scope = el("label", { class: "wb-scope" }, el("i", { "aria-hidden": "true" }, "⊙"), chip, icon("down"));
  const text = el("textarea", { rows: 1, placeholder: "Ask across these papers…", "aria-label": "Question", spellcheck: true });
  const button = el("button", { type: "button", class: "wb-primary wb-ask" });
  const hint = el("div", { class: "wb-hint", "aria-hidden": "true" }, "Enter to ask · Shift+Enter for a new line");
  const told = el("div", { class: "wb-told-line", role: "status" });
  const box = el("div", {}, told, scope, el("div", { class: "wb-box", onclick: (event) => { if (event.target === event.currentTarget) text.focus(); } }, text, button), hint);

  let late; // runs while nobody has taken the question that was sent
  let waiting = -1; // the thread that is still being read, to be asked what stands here once it is there
  const fit = () => { text.style.height = "auto"; text.style.height = `${Math.min(text.scrollHeight, 160)}px`; };
  const refresh = () => {
    const streaming = model.get("streaming");
    if (streaming) clearTimeout(late);
    button.replaceChildren(streaming ? "Stop" : "Ask");
    button.classList.toggle("wb-stop", streaming);
    button.disabled = !streaming && (model.get("reading") || !text.value.trim());
    hint.textContent = streaming ? "Esc to stop" : "Enter to ask · Shift+Enter for a new line";
    if (waiting === model.get("thread") && !model.get("reading")) ask();
  };
  const write = (value) => { text.value = value; fit(); refresh(); text.focus(); };
  const ask = () => {
    waiting = model.get("reading") ? model.get("thread") : -1;
    if (model.get("streaming") || model.get("reading") || !text.value.trim()) return;
    const question = text.value;
    act(model, "ask", { question });
    write("");
    clearTimeout(late);
    late = setTimeout(() => { if (!text.value) { text.value = question; fit(); refresh(); } }, QUESTION_LOST_AFTER);
  };
  const refused = () => clearTimeout(late);
  model.on("change:error", refused);
  button.addEventListener("click", () => (model.get("streaming") ? act(model, "stop") : ask()));
  text.addEventListener("input", () => { waiting = -1; fit(); refresh(); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); ask(); }
    if (event.key !== "Escape") event.stopPropagation();
  });

  const drawScopes = () => {
    chip.replaceChildren(...model.get("scopes").map((choice) => el("option", { value: String(choice.value) }, choice.label)));
    chip.value = String(model.get("scope"));
    chip.title = chip.selectedOptions[0]?.textContent ?? "";
    scope.hidden = model.get("fixed"); // the chat of a project or a paper sees that alone, and its head names it
  };
  const pulse = () => {
    scope.classList.remove("wb-pulse");
    void scope.offsetWidth; // lets the animation begin again
    scope.classList.add("wb-pulse");
  };
  const begun = () => text.focus();
  model.on("change:pulse", pulse);
  model.on("change:begun", begun);
  const stops = [watch(model, ["scopes", "scope", "fixed"], drawScopes), watch(model, ["streaming", "reading"], refresh),
    watch(model, ["kind"], () => { text.placeholder = model.get("kind") === "paper" ? "Ask this paper…" : "Ask across these papers…"; }),
    watch(model, ["told"], () => { told.textContent = model.get("told"); told.hidden = !model.get("told"); })];
  return { box, stop: () => { stops.forEach((stop) => stop()); model.off("change:pulse", pulse); model.off("change:begun", begun); model.off("change:error", refused); clearTimeout(late); } };
}
