for (const table of document.querySelectorAll("table[data-sortable]")) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.title = "Sort by this column";
    head.append(button);
    button.addEventListener("click", () => {
      const body = table.tBodies[0], place = head.cellIndex;
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
      const value = (row) => {
        const cell = row.cells[place];
        return cell.dataset.v === undefined ? cell.textContent : +cell.dataset.v;
      };
      const order = (a, b) => { const x = value(a), y = value(b); return down * (x < y ? -1 : x > y ? 1 : 0); };
      body.append(...[...body.rows].sort(order));
    });
  }
}
