// The state of the cluster at one time, from the columns of the data. Nothing here touches the document.
"use strict";

const [PENDING, RESERVED, ADMITTED, EVICTED, GONE] = [1, 2, 3, 4, 5];

// Returns the position of the last time that is not after `t`; -1 before the first one.
function lastAt(times, t) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function clusterMoments(data) {
  const {nodes, workloads, events} = data, size = workloads.name.length, cells = data.cells.length;
  const limitOf = new Map(data.limits.map(one => [one.n * cells + one.c, one]));
  const rootOf = nodes.map((node, row) => {
    let at = row;
    while (nodes[at].parent >= 0) at = nodes[at].parent;
    return at;
  });
  const hasBelow = nodes.map(() => false);
  for (const node of nodes) if (node.parent >= 0) hasBelow[node.parent] = true;
  const times = [...new Set(events.t)].filter(t => t >= 0 && t <= data.end).sort((a, b) => a - b);

  // The workloads in the order of Kueue's queues: by priority, then by time of creation; and by time of creation alone.
  const all = Array.from({length: size}, (_, i) => i), {priority, created} = workloads;
  const byTime = all.slice().sort((a, b) => created[a] - created[b] || a - b);
  const byPriority = byTime.slice().sort((a, b) => priority[b] - priority[a]);

  // Returns the state of each workload, the row of `events` that set it, and the number of workloads by node.
  function states(t) {
    const state = new Uint8Array(size), row = new Int32Array(size).fill(-1);
    const pending = new Int32Array(nodes.length), running = new Int32Array(nodes.length);
    for (let i = 0; i < size; i++) {
      let at = -1;
      for (let k = events.first[i]; k < events.first[i + 1] && events.t[k] <= t; k++) at = k;
      if (at < 0) continue;
      state[i] = events.state[at];
      row[i] = at;
      const node = workloads.queue[i];
      if (node < 0) continue;
      if (state[i] === PENDING) pending[node]++; else if (state[i] < GONE) running[node]++;
    }
    for (let node = nodes.length - 1; node >= 0; node--) {
      const up = nodes[node].parent;
      if (up < 0) continue;
      pending[up] += pending[node];
      running[up] += running[node];
    }
    return {state, row, pending, running};
  }

  function valuesAt(series, pair, t) {
    const found = new Float64Array(nodes.length);
    for (const one of series) {
      if (one.c !== pair) continue;
      const at = lastAt(one.t, t);
      if (at >= 0) found[one.n] = one.v[at];
    }
    return found;
  }

  // Returns the quota of each node for one flavor and resource. Nominal quota and usage of a Cohort are sums over the
  // queues below, with its own quota. Kueue does not record whose quota a queue borrows: what the queues of a tree
  // borrow is divided among those that may lend, in proportion to their unused quota.
  function quota(pair, t) {
    const nominal = valuesAt(data.nominal, pair, t), used = valuesAt(data.used, pair, t);
    const borrowed = new Float64Array(nodes.length), lent = new Float64Array(nodes.length);
    const asked = new Float64Array(nodes.length), free = new Float64Array(nodes.length);
    nodes.forEach((node, row) => {
      if (node.parent < 0 && !hasBelow[row]) return;
      borrowed[row] = node.kind === "ClusterQueue" ? Math.max(0, used[row] - nominal[row]) : 0;
      const most = limitOf.get(row * cells + pair), unused = Math.max(0, nominal[row] - used[row]);
      lent[row] = most && most.lend !== null ? Math.min(unused, most.lend) : unused;
      asked[rootOf[row]] += borrowed[row];
      free[rootOf[row]] += lent[row];
    });
    const lenders = new Map(), shared = new Set();
    nodes.forEach((_, row) => { if (lent[row] > 0) lenders.set(rootOf[row], (lenders.get(rootOf[row]) || 0) + 1); });
    nodes.forEach((_, row) => {
      const root = rootOf[row];
      if (lenders.get(root) > 1 && asked[root] < free[root]) shared.add(row);
      lent[row] *= free[root] ? Math.min(1, asked[root] / free[root]) : 0;
    });
    for (let row = nodes.length - 1; row >= 0; row--) {
      if (nodes[row].kind === "Cohort") { // what flows within a Cohort is neither borrowed nor lent by it
        const net = lent[row] - borrowed[row];
        [lent[row], borrowed[row]] = [Math.max(0, net), Math.max(0, -net)];
      }
      const up = nodes[row].parent;
      if (up < 0) continue;
      nominal[up] += nominal[row];
      used[up] += used[row];
      borrowed[up] += borrowed[row];
      lent[up] += lent[row];
    }
    return {nominal, used, borrowed, lent, shared};
  }

  // Returns the largest value in each of `steps` intervals, from changes [time, difference] of a sum.
  function largest(changes, at) {
    changes.sort((a, b) => a[0] - b[0]);
    let total = 0, k = 0;
    return Float64Array.from(at, end => {
      let top = total;
      while (k < changes.length && changes[k][0] <= end) {
        const t = changes[k][0];
        for (; k < changes.length && changes[k][0] === t; k++) total += changes[k][1];
        top = Math.max(top, total);
      }
      return top;
    });
  }

  // Returns the largest total usage, total nominal quota and number of pending workloads in each of `steps` intervals.
  function overview(pair, steps) {
    const at = Array.from({length: steps + 1}, (_, i) => data.end * i / steps);
    const sums = series => {
      const changes = [];
      for (const one of series) if (one.c === pair) one.t.forEach((t, k) => changes.push([t, one.v[k] - (k ? one.v[k - 1] : 0)]));
      return largest(changes, at);
    };
    const pending = [];
    for (let i = 0; i < size; i++) {
      let was = 0;
      for (let k = events.first[i]; k < events.first[i + 1]; k++) {
        const is = events.state[k] === PENDING ? 1 : 0;
        if (is !== was) pending.push([events.t[k], is - was]);
        was = is;
      }
    }
    return {at, used: sums(data.used), nominal: sums(data.nominal), pending: largest(pending, at)};
  }

  // Returns whether a node is another one or below it.
  function isBelow(node, above) {
    for (let at = node; at >= 0; at = nodes[at].parent) if (at === above) return true;
    return false;
  }

  return {states, quota, overview, isBelow, hasBelow, times, all, byTime, byPriority};
}
