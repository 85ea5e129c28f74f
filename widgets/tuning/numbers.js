let controlsDrawn = 0; // so that labels find their own control where a panel is shown twice

/**
 * Sends the newest numbers as soon as the replay of the ones before has come back, so that passages follow a
 * slider as fast as they are found. Without an answer it sends again after a second.
 */
function sender(model, values) {
  let waiting = 0, more = false;
  const send = () => {
    more = false;
    clearTimeout(waiting);
    waiting = model.get("chosen") ? setTimeout(free, 1000) : 0;
    act(model, "tune", { numbers: values() });
  };
  const free = () => { clearTimeout(waiting); waiting = 0; if (more) send(); };
  const settled = () => { if (!model.get("replaying")) free(); };
  model.on("change:replaying", settled);
  return { send: () => { if (waiting) more = true; else send(); }, stop: () => { clearTimeout(waiting); model.off("change:replaying", settled); } };
}

const sameNumbers = (one, other) => Object.keys(one).every((name) => one[name] === other[name]);

/** A number as the controls show it: "15", "0.05", "automatic". */
function numberText(value) {
  return value === null || value === undefined ? "automatic" : String(Math.round(value * 1000) / 1000);
}

/** The numbers of a search, each with a slider, a field, its meaning and its usual value. */
function numberControls(model) {
  let values = { ...model.get("numbers") };
  const sending = sender(model, () => values);
  const set = (name, value) => {
    values = { ...values, [name]: value };
    views.find((view) => view.name === name).draw();
    told();
    sending.send();
  };
  const views = model.get("controls").map((control) => numberControl(model, control, { value: () => values[control.name], set: (value) => set(control.name, value) }));
  const state = el("p", { class: "wb-trial", role: "status" });
  const reset = el("button", { type: "button", class: "wb-link", onclick: () => act(model, "reset") }, "Reset");
  const told = () => {
    const same = sameNumbers(model.get("in_force"), values);
    const where = model.get("name") || "here", preset = model.get("preset");
    state.dataset.trial = String(!same);
    const used = preset ? `“${preset}”` : "the settings' numbers";
    state.textContent = state.title = same ? `In force in ${where}: ${used}.` : `A trial. ${where} still uses ${used}.`;
    reset.disabled = same;
  };
  const box = el("section", { class: "wb-numbers", "aria-label": "Numbers of the search" },
    el("h2", { class: "wb-heading" }, "Numbers", reset), state, el("div", { class: "wb-controls" }, ...views.map((view) => view.box)));
  const placed = () => { values = { ...model.get("numbers") }; views.forEach((view) => view.draw()); told(); };
  const stops = [watch(model, ["placed", "loaded"], placed), watch(model, ["in_force", "preset", "name", "place"], told), sending.stop];
  return { box, stop: () => stops.forEach((stop) => stop()) };
}

/** One control. `value()` is what it has, `set` is called with what a person gives it. */
function numberControl(model, control, { value, set }) {
  const id = `wb-number-${(controlsDrawn += 1)}`;
  const usual = model.get("usual")[control.name];
  const slider = el("input", { type: "range", id, min: control.low, max: control.reach, step: control.step, "aria-describedby": `${id}-meaning`,
    oninput: () => set(Number(slider.value)) });
  const field = el("input", { type: "number", class: "wb-field", min: control.low, max: control.high, step: control.step,
    "aria-label": `${control.label}, exactly`, placeholder: "auto", onchange: () => exact(),
    onkeydown: (event) => { if (event.key === "Enter") exact(); } }); // JupyterLab keeps Enter from being a change
  const back = el("button", { type: "button", class: "wb-link wb-usual", onclick: () => set(usual) });
  const automatic = control.automatic && el("input", { type: "checkbox", "aria-label": `${control.label} automatic`, onchange: () => set(automatic.checked ? null : 0.5) });
  const bound = el("b", { class: "wb-bound", role: "status" });
  const exact = () => {
    if (field.value === numberText(value())) return; // a change that Enter has told of already
    if (field.value === "") { draw(); return; }
    const asked = Number(field.value), given = Math.min(control.high, Math.max(control.low, asked));
    set(control.step === 1 ? Math.round(given) : given);
    if (asked !== given) bound.textContent = asked > given ? `At most ${numberText(control.high)}. ` : `At least ${numberText(control.low)}. `;
  };
  const draw = () => {
    const now = value();
    const none = now === null || now === undefined;
    slider.max = Math.max(control.reach, none ? 0 : now);
    slider.value = none ? 0.5 : now;
    slider.setAttribute("aria-valuetext", numberText(now));
    slider.classList.toggle("wb-auto", none);
    field.value = none ? "" : numberText(now);
    if (automatic) automatic.checked = none;
    back.textContent = now === usual ? `Usually ${numberText(usual)}.` : `Back to ${numberText(usual)}`;
    back.disabled = now === usual;
    bound.textContent = "";
  };
  const box = el("div", { class: "wb-control", "data-name": control.name },
    el("div", { class: "wb-control-head" }, el("label", { for: id, title: control.explained }, control.label), automatic && el("label", { class: "wb-check" }, automatic, "automatic"), field), slider,
    el("small", {}, bound, el("span", { id: `${id}-meaning` }, `${control.explained} `), back));
  draw();
  return { name: control.name, box, draw };
}

/** A project's presets: look at one, use it, save the numbers as one, delete one. */
function presetList(model) {
  const list = el("ul", { class: "wb-presets" });
  const none = el("p", { class: "wb-hint" }, "Presets belong to projects. Choose a project at the left to save numbers for it; everywhere else the settings' numbers hold.");
  const name = el("input", { type: "text", maxLength: 100, placeholder: "Name, such as Narrow", "aria-label": "Name of the preset", autocomplete: "off", oninput: () => label() });
  const save = el("button", { type: "submit", class: "wb-primary" }, "Save");
  const atOnce = el("input", { type: "checkbox", checked: true });
  const form = el("form", { class: "wb-save", onsubmit: (event) => {
    event.preventDefault();
    if (!name.value.trim()) { name.focus(); return; }
    act(model, "save", { name: name.value, choose: atOnce.checked });
    name.value = "";
    label();
  } }, el("div", {}, name, save), el("label", { class: "wb-check" }, atOnce, "use it in this project at once"));
  const known = () => model.get("presets").some((preset) => preset.name.toLowerCase() === name.value.trim().toLowerCase());
  const label = () => { save.textContent = known() ? "Replace" : "Save"; };

  const entry = ({ name: called, said }) => {
    const current = model.get("preset") === called;
    const title = called || "The settings' numbers";
    return el("li", { class: current ? "wb-on" : undefined },
      el("button", { type: "button", class: "wb-preset", "data-name": called, title: "Set the controls to these numbers", onclick: () => act(model, "load", { name: called }) },
        el("b", {}, title), el("small", {}, said || "the same as the settings'")),
      current ? el("span", { class: "wb-chip wb-good" }, "in force")
        : el("button", { type: "button", class: "wb-link", "aria-label": `Use ${title}`, title: "Search with these numbers in this project", onclick: () => act(model, "use", { name: called }) }, "Use"),
      ...(called ? moreMenu(called, [{ label: "Delete…", danger: true, yes: "Delete", run: () => act(model, "delete", { name: called }),
        confirm: current ? `“${called}” is deleted, and the settings' numbers are in force again.` : `“${called}” is deleted. Nothing else changes.` }]) : []));
  };
  const box = el("section", { class: "wb-preset-box", "aria-label": "Presets" }, el("h2", { class: "wb-heading" }, "Presets"), none, list, form);
  let drawn; // the place whose presets are shown: their menus mean it
  const draw = () => {
    drawn = model.get("place");
    const project = drawn > 0;
    none.hidden = project;
    list.hidden = form.hidden = !project;
    const usual = model.get("usual");
    const focused = list.contains(document.activeElement) && document.activeElement.dataset.name;
    list.replaceChildren(...[{ name: "", said: `${usual.top_k} passages, ${usual.max_per_paper} from a paper, as elsewhere` }, ...model.get("presets")].map(entry));
    if (focused !== false && focused !== undefined) list.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    label();
  };
  return { box, stop: watch(model, ["place", "presets", "preset", "usual"], betweenMenus(list, draw, () => model.get("place") === drawn)) };
}
