
"use strict";
// Everything here is a convenience: without it the page says the same. No storage, no network.
{
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const button = (label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  };

  // ── light and dark: the choice travels in the address of the links that are followed ──
  const themed = () => root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const theme = button("", () => {
    root.dataset.theme = themed() === "dark" ? "light" : "dark";
    name();
  });
  const name = () => {
    theme.textContent = themed() === "dark" ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${theme.textContent.toLowerCase()} colours`);
  };
  const chosen = location.search.slice(1);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  name();
  one(".bar-top").append(theme);
  const go = (link) => {
    if (root.dataset.theme && link.pathname !== location.pathname) link.search = root.dataset.theme;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (link) go(link);
  });

  // ── one submission ──
  for (const shown of all("pre[data-call]")) {
    if (!shown.dataset.call) continue;
    const row = document.createElement("div");
    row.className = "copies";
    shown.replaceWith(row);
    const copy = button("Copy", async () => {
      await copied(shown.dataset.call);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    copy.setAttribute("aria-label", "Copy the call");
    row.append(shown, copy);
  }
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a browser that gives a file no clipboard
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const folding = one(".folding");
  if (folding) {
    const fold = (open) => all("details.item").forEach((item) => { item.open = open; });
    folding.append(button("Open all", () => fold(true)), button("Close all", () => fold(false)));
    folding.hidden = false;
  }

  // ── the class ──
  const tools = one(".tools");
  if (tools) {
    const table = one(".map");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...one(".names", table).cells];
    const first = 4; // columns before the items
    const fields = tools.elements;
    const words = Object.fromEntries([...fields.outcome.options].map((option) => [option.value, option.text]));
    const text = rows.map((row) => row.cells[0].textContent.toLowerCase());

    const matches = (row, number) => {
      const { status, of, outcome, mistake } = fields;
      if (!text[number].includes(fields.search.value.trim().toLowerCase())) return false;
      if (status.value && !row.dataset.status.split(" ").includes(status.value)) return false;
      if (mistake.value && !row.dataset.mistakes.split(" ").includes(mistake.value)) return false;
      if (!outcome.value && !of.value) return true;
      const cells = of.value ? [row.cells[first + Number(of.value)]] : [...row.cells].slice(first);
      return cells.some(({ textContent: letter }) =>
        letter !== "·" && (!outcome.value || (outcome.value === "!" ? letter !== "H" : letter === outcome.value)));
    };
    const choose = () => {
      let shown = 0;
      rows.forEach((row, number) => {
        row.hidden = !matches(row, number);
        shown += !row.hidden;
      });
      fields.namedItem("count").value = `${shown} of ${rows.length}`;
    };
    for (const kind of ["input", "change"]) tools.addEventListener(kind, choose);
    tools.addEventListener("reset", () => setTimeout(choose));
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;

    for (const place of all(".filters")) {
      const pick = button("", () => {
        tools.reset();
        if (place.dataset.mistake) fields.mistake.value = place.dataset.mistake;
        else {
          fields.of.value = heads.findIndex((head) => head.dataset.id === place.dataset.item) - first;
          fields.outcome.value = "!";
        }
        setTimeout(choose);
        tools.scrollIntoView();
      });
      pick.append(...place.childNodes);
      pick.title = "Show these submissions";
      place.append(pick);
    }

    // Items sort from worst to best, numbers by value, the rest as text.
    const order = "URTBKMWH·";
    const key = (column) => (row) => {
      const said = row.cells[column].textContent;
      if (column >= first) return order.indexOf(said);
      const number = parseFloat(said);
      return column === 1 || column === 2 ? (Number.isNaN(number) ? -Infinity : number) : said.toLowerCase();
    };
    heads.forEach((head, column) => {
      const sort = button("", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = key(column);
        const keyed = rows.map((row, place) => [value(row), place, row]);
        keyed.sort(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1) || i - j);
        body.append(...keyed.map(([, , row]) => row));
      });
      sort.className = "sorts";
      sort.title = column < first ? "Sort" : head.dataset.id;
      sort.append(...head.childNodes);
      head.append(sort);
      head.setAttribute("aria-sort", column ? "none" : "ascending");
    });

    // Cells lead to the item on its submission's page: by mouse, or by arrows and Enter.
    const follow = (cell) => {
      const link = one("a", cell.parentNode.cells[0]);
      go(link);
      location.href = `${link.href}#${encodeURIComponent(heads[cell.cellIndex].dataset.id)}`;
    };
    const cellOf = (target) => {
      const cell = target.closest("tbody td");
      return cell && cell.cellIndex >= first ? cell : null;
    };
    const tell = (cell) => {
      cell.title = `${heads[cell.cellIndex].dataset.id}: ${words[cell.textContent] || "not asked"}`;
    };
    body.addEventListener("mouseover", (event) => { const cell = cellOf(event.target); if (cell) tell(cell); });
    body.addEventListener("click", (event) => { const cell = cellOf(event.target); if (cell) follow(cell); });
    let current = rows.length && rows[0].cells.length > first ? rows[0].cells[first] : null;
    if (current) current.tabIndex = 0;
    const focus = (cell) => {
      if (!cell || cell.cellIndex < first) return;
      current.removeAttribute("tabindex");
      current = cell;
      current.tabIndex = 0;
      tell(current);
      current.setAttribute("aria-label", current.title);
      current.focus();
    };
    const beside = (row, step) => {
      do row = step > 0 ? row.nextElementSibling : row.previousElementSibling; while (row && row.hidden);
      return row;
    };
    body.addEventListener("keydown", (event) => {
      const cell = cellOf(event.target);
      if (!cell) return;
      const row = cell.parentNode;
      const moves = {
        ArrowRight: () => cell.nextElementSibling,
        ArrowLeft: () => cell.previousElementSibling,
        ArrowDown: () => beside(row, 1)?.cells[cell.cellIndex],
        ArrowUp: () => beside(row, -1)?.cells[cell.cellIndex],
        Home: () => row.cells[first],
        End: () => row.cells[row.cells.length - 1],
      };
      if (event.key === "Enter") follow(cell);
      else if (event.key in moves) focus(moves[event.key]());
      else return;
      event.preventDefault();
    });
  }
}
