/** Export forms as menu items, and what saves the file that the panel hands over. */
function exporter(model, idOf) {
  let asked = false; // of two views of one panel only the one that asked saves the file
  const item = (label, form) => ({ label, run: () => { asked = true; act(model, "export", { id: idOf(), form }); } });
  const save = () => {
    const file = model.get("download");
    if (!asked || !file.name) return;
    asked = false;
    const link = el("a", { href: URL.createObjectURL(new Blob([file.text], { type: file.type })), download: file.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    act(model, "taken");
  };
  const failed = () => { if (model.get("error")) asked = false; };
  model.on("change:download", save);
  model.on("change:error", failed);
  return {
    items: [item("Export as Markdown", "markdown"), item("Export as notebook", "notebook"), item("Export sources as BibTeX", "bibtex")],
    stop: () => { model.off("change:download", save); model.off("change:error", failed); },
  };
}
