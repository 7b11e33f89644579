// Elements of the page. Every text of the data becomes a text node, never markup.
"use strict";

const STEP = 20; // rows that a table shows at first, and that each press of its button adds

function make(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") made.textContent = value;
    else if (name in made && name !== "role") made[name] = value;
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function drawn(tag, facts = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A bar of one node: its own quota in use, what it lends, what is free, and after the mark what it borrows. The whole
// bar is the nominal quota or the usage, whichever is larger.
function quotaBar(look) {
  const bar = make("span", {className: "bar", role: "img"}), parts = {};
  for (const name of ["own", "lent", "free", "mark", "over"]) bar.append(parts[name] = make("i", {className: `${name} ${look}`}));
  let shown = "";
  bar.show = (facts, label) => {
    if (label === shown) return;
    shown = label;
    bar.setAttribute("aria-label", label);
    const whole = Math.max(facts.nominal, facts.used), own = Math.min(facts.used, facts.nominal);
    const lent = Math.min(facts.lent, facts.nominal - own), over = facts.used - facts.nominal;
    for (const [name, amount] of [["own", own], ["lent", lent], ["free", facts.nominal - own - lent], ["over", over]]) {
      parts[name].style.width = `${whole > 0 && amount > 0 ? Math.min(100, 100 * amount / whole) : 0}%`;
    }
    parts.mark.hidden = !(over > 0 && facts.nominal > 0);
  };
  return bar;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A table whose rows are used again for other workloads, because drawing a time must be quick. A column is [heading,
// class, function of a row that returns its text]; the first one is a button that calls `open` with the row.
function listing(caption, columns, open) {
  const table = make("table", {role: "table", className: "rows"});
  const head = make("tr", {role: "row"}, ...columns.map(([text, kind]) => make("th", {text, className: kind, scope: "col", role: "columnheader"})));
  const body = make("tbody", {role: "rowgroup"}), title = make("h2", {tabIndex: -1});
  const more = make("button", {type: "button", className: "more"}), none = make("p", {className: "kq-quiet"});
  const lines = [];
  let all = [], shown = STEP;
  table.setAttribute("aria-label", caption);
  table.append(make("thead", {role: "rowgroup"}, head), body);
  const newLine = () => {
    const line = {row: null}, cells = columns.map(([text, kind], column) => {
      const box = make("td", {className: kind, role: "cell"}), inside = make("bdi");
      box.dataset.label = text;
      if (column) box.append(inside);
      else {
        const button = make("button", {type: "button", className: "open"}, inside);
        button.addEventListener("click", () => open(line.row));
        box.append(button);
      }
      return {box, inside};
    });
    line.node = make("tr", {role: "row"}, ...cells.map(one => one.box));
    line.show = row => {
      line.row = row;
      columns.forEach(([, , text], column) => setText(cells[column].inside, text(row)));
    };
    return line;
  };
  const fill = () => {
    const size = Math.min(shown, all.length);
    while (lines.length < size) {
      lines.push(newLine());
      body.append(lines[lines.length - 1].node);
    }
    lines.forEach((line, place) => {
      line.node.hidden = place >= size;
      if (place < size) line.show(all[place]);
    });
    more.hidden = all.length <= shown;
    setText(more, `Show ${kqNumbers.count(Math.min(STEP, all.length - shown))} more of ${kqNumbers.count(all.length - shown)}`);
    table.hidden = !all.length;
    none.hidden = !!all.length;
  };
  more.addEventListener("click", () => { shown += STEP; fill(); });
  return {
    parts: [title, none, table, more],
    show(rows, heading, empty) {
      all = rows;
      setText(title, heading);
      setText(none, empty);
      fill();
    },
    first() { shown = STEP; },
  };
}

// The causes of an explanation as nested lists; long lists are folded.
function causeList(causes, indices) {
  const most = 8, items = indices.map(index => {
    const [text, below] = causes[index], item = make("li", {text});
    if (below.length) item.append(causeList(causes, below));
    return item;
  });
  const list = make("ul", {}, ...items.slice(0, most));
  if (items.length <= most) return list;
  const rest = make("details", {}, make("summary", {text: `${items.length - most} more`}), make("ul", {}, ...items.slice(most)));
  list.append(make("li", {}, rest));
  return list;
}

// A chart over time with a mark at the selected time: an area, and a line that limits it.
function strip(title, at, values, limit, text) {
  const wide = 1000, high = 60, top = Math.max(1e-9, ...values, ...(limit || [0]));
  const x = i => (wide * i / (at.length - 1)).toFixed(1), y = value => (high * (1 - value / top)).toFixed(1);
  const steps = list => [...list].map((value, i) => (i ? `H${x(i)}` : `M${x(0)} ${y(value)}`) + `V${y(value)}`).join("");
  const chart = drawn("svg", {viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}; largest value ${text(Math.max(0, ...values))}`});
  chart.append(Object.assign(drawn("title", {}), {textContent: title}));
  const mark = drawn("line", {class: "now", y1: 0, y2: high});
  chart.append(drawn("path", {class: "area", d: `${steps(values)}V${high}H0Z`}));
  if (limit) chart.append(drawn("path", {class: "limit", d: steps(limit)}));
  chart.append(mark);
  const caption = make("figcaption", {text: `${title}; top of the scale: ${text(top)}`});
  return {
    node: make("figure", {className: "strip"}, caption, chart),
    move(share) { for (const end of ["x1", "x2"]) mark.setAttribute(end, wide * share); },
  };
}

// The ticks below charts over time, with their unit: at most eight, and fewer on narrow screens.
function timeAxis(end) {
  const steps = [1, 10, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000, 7776000];
  const gap = steps.find(step => step >= end / 8) || end, unit = ["d", 86400, "h", 3600, "min", 60, "s", 1];
  let place = 0;
  while (unit[place + 1] > gap) place += 2;
  const axis = make("div", {className: "axis kq-quiet", "aria-hidden": "true"});
  for (let at = 0; at <= end; at += gap) {
    const tick = make("span", {text: `${+(at / unit[place + 1]).toFixed(1)} ${unit[place]}`});
    tick.style.left = `${100 * at / end}%`;
    if (at / end > 0.95) tick.className = "last";
    axis.append(tick);
  }
  return axis;
}

// The domains of one topology: hosts as boxes within the domains above them.
function rackList(rack) {
  const {count, number} = kqNumbers, lowest = rack.levels.length - 1, users = new Map();
  for (const [domain, workload, pods] of rack.uses) {
    if (!users.has(domain)) users.set(domain, []);
    users.get(domain).push([workload, pods]);
  }
  const top = make("ul", {className: "racks"}), lists = [top];
  rack.domains.forEach(([depth, name, nodes, capacity, outside, used], row) => {
    const all = used + outside, amount = value => number(value / rack.per);
    const other = outside ? ` (${amount(used)} by workloads, ${amount(outside)} by other pods)` : "";
    const text = `${name}: ${amount(all)} of ${amount(capacity)} ${rack.unit} used${other}`;
    const over = all > capacity ? [make("strong", {className: "kq-bad", text: `, ${amount(all - capacity)} above the capacity`})] : [];
    const item = make("li"), bar = make("span", {className: "bar", "aria-hidden": "true"});
    for (const [kind, value] of [["own", used], ["other", outside], ["free", Math.max(0, capacity - all)]]) {
      const part = make("i", {className: kind});
      part.style.width = `${value && 100 * value / Math.max(all, capacity)}%`;
      bar.append(part);
    }
    if (depth < lowest) {
      const below = make("ul", {className: depth + 1 === lowest ? "hosts" : "racks"});
      item.append(make("span", {className: "domain", text: `${text}, ${count(nodes)} node${nodes === 1 ? "" : "s"}`}, ...over), bar, below);
      lists[depth + 1] = below;
    } else {
      const mine = users.get(row) || [];
      const inside = mine.map(([workload, pods]) => make("li", {text: `${workload}: ${pods} pod${pods === 1 ? "" : "s"}`}));
      item.append(make("details", {},
        make("summary", {}, make("span", {text}, ...over), bar),
        inside.length ? make("ul", {}, ...inside) : make("p", {text: "No workload is placed here by a topology request."})));
    }
    lists[depth].append(item);
  });
  return top;
}
