/** Asks before papers leave the library, with what will and what will not be lost. */
function removalDialog(model) {
  const title = el("h3");
  const lost = el("ul"), kept = el("ul");
  const yes = el("button", { type: "button", class: "wb-primary wb-danger" }, "Remove");
  const box = el("dialog", { class: "wb-removal", role: "alertdialog", "aria-label": "Remove from the library" }, title,
    el("h4", {}, "What goes"), lost, el("h4", {}, "What stays"), kept,
    el("footer", {}, el("button", { type: "button", class: "wb-plain", onclick: () => box.close() }, "Cancel"), yes));
  let ids = [];
  yes.addEventListener("click", () => { box.close(); act(model, "remove", { ids }); });
  box.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab's keys stay out
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });

  /** `about`: ids, a title where it is one paper, pages in words, names of projects, number of notes, and of
   * papers that are only shared by others. */
  const ask = (about) => {
    const many = about.ids.length - (about.borrowed || 0) !== 1;
    ids = about.ids;
    title.textContent = about.title ? `Remove “${about.title}” from the library?` : `Remove ${counted(about.ids.length - (about.borrowed || 0), "paper")} from the library?`;
    const items = (list, texts) => list.replaceChildren(...texts.filter(Boolean).map((text) => el("li", {}, text)));
    items(lost, [
      `${many ? "Their" : "Its"} text and passages (${about.pages}): questions no longer find ${many ? "them" : "it"}.`,
      about.projects.length > 0 && `${many ? "Their places" : "Its place"} in ${about.projects.join(", ")}.`,
      `Your chat about ${many ? "each of them" : "it"}, and ${many ? "their rows" : "its row"} in tables of answers.`,
      about.notes > 0 && `${about.notes === 1 && !many ? "The note" : counted(about.notes, "note")}: notes have no file to add again.`,
    ]);
    items(kept, [
      about.notes < about.ids.length && `The ${many ? "files" : "file"} that you added ${many ? "them" : "it"} from. Add ${many ? "them" : "it"} again at any time.`,
      "Earlier answers with their quotes, but their numbers no longer open a page.",
      "Copies that other users of this library have.",
      about.borrowed > 0 && `${counted(about.borrowed, "paper")} shared by others: only they can take ${about.borrowed === 1 ? "it" : "them"} away.`,
    ]);
    box.showModal();
    box.querySelector(".wb-plain").focus();
  };
  return { box, ask };
}
