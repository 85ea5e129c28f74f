/** The library's facts, what its last check found, notices, and a place to make a backup. */
function libraryHealth(model) {
  const facts = el("div", { class: "wb-ledger-facts", role: "list" });
  const mark = el("i", { "aria-hidden": "true" });
  const verdict = el("strong");
  const when = el("small");
  const check = el("button", { type: "button", class: "wb-plain wb-outlined", onclick: () => act(model, "check") }, "Check the library");
  const findings = el("ul", { class: "wb-findings" });
  const notices = el("ul", { class: "wb-findings wb-notices" });
  const path = el("input", { type: "text", class: "wb-entry", placeholder: "Folder or new file for the backup", "aria-label": "Where to write the backup", autocomplete: "off" });
  const save = el("button", { type: "submit", class: "wb-plain wb-outlined" }, "Back up");
  const form = el("form", { class: "wb-backup", onsubmit: (event) => {
    event.preventDefault();
    if (!save.disabled) act(model, "back_up", { path: path.value });
  } }, path, save);
  const box = el("section", { class: "wb-ledger-health", "aria-label": "The library" }, facts,
    el("div", { class: "wb-verdict" }, el("div", { role: "status" }, mark, verdict, when), check, form), findings, notices);

  const ready = () => {
    save.disabled = model.get("saving") || !path.value.trim();
    save.textContent = model.get("saving") ? "Writing…" : "Back up";
  };
  path.addEventListener("input", ready);
  const drawHealth = () => {
    const { state, at, findings: found = [] } = model.get("health");
    box.dataset.health = state || "unknown";
    verdict.textContent = { checking: "Checking…", good: "The library is healthy", bad: `${counted(found.length, "thing")} to look into` }[state] || "Not checked yet";
    when.textContent = state === "checking" ? "It reads the whole library; you can go on working." : at ? `checked ${timeText(at)}` : state ? "" : "The check reads the whole library, which takes a while with thousands of papers.";
    check.disabled = state === "checking";
    findings.hidden = found.length === 0;
    findings.replaceChildren(...found.map(({ what, todo, line }) => el("li", { title: line }, el("b", {}, what), " ", todo)));
  };
  const drawNotices = () => {
    const lines = model.get("notices");
    notices.hidden = lines.length === 0;
    notices.replaceChildren(...lines.map((line) => el("li", {}, line)));
  };
  const stops = [
    watch(model, ["facts"], () => facts.replaceChildren(...model.get("facts").map(({ label, value, note }) => el("div", { role: "listitem" }, el("small", {}, label), el("strong", { title: value }, value), el("span", { title: note }, note))))),
    watch(model, ["health"], drawHealth), watch(model, ["notices"], drawNotices), watch(model, ["saving"], ready),
    watch(model, ["told"], () => { if (model.get("told").startsWith("A checked copy")) { path.value = ""; ready(); } }),
  ];
  return { box, stop: () => stops.forEach((stop) => stop()) };
}
