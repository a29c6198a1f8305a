//! Symbolic factorization.

use super::ordering::{Graph, minimum_degree};
use crate::nlp::SparsityPattern;

/// A group of unknowns that are eliminated together in one dense matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    /// First and one past the last unknown of this front, in elimination order.
    pub first: usize,
    pub end: usize,
    /// Later unknowns that these touch, rising.
    pub rows: Vec<u32>,
    /// Fronts whose remainder is added into this one.
    pub children: Vec<u32>,
    /// Where the values of the original matrix go: (position of the value, row, column) within the front.
    pub entries: Vec<(u32, u32, u32)>,
    /// Where `rows` are within the parent.
    pub rows_in_parent: Vec<u32>,
}

impl Front {
    /// Place of an unknown among `first..end` and `rows`.
    fn local(&self, unknown: u32) -> u32 {
        if (unknown as usize) < self.end {
            return unknown - self.first as u32;
        }
        let row = self.rows.partition_point(|&r| r < unknown);
        debug_assert_eq!(self.rows.get(row), Some(&unknown));
        (self.end - self.first + row) as u32
    }
}

/// Fronts of a symmetric pattern with a good elimination order. Valid for all matrices with that pattern.
#[derive(Clone, Debug)]
pub struct SymbolicFactorization {
    /// Which unknown goes at each step.
    pub(super) order: Vec<u32>,
    pub(super) fronts: Vec<Front>,
    /// Fronts `0..bins[0]` and `bins[0]..bins[1]` do not depend on each other; what comes later is on both.
    pub(super) bins: [usize; 2],
    pub(super) num_values: usize,
    /// Number of entries of L, including the diagonal, without delayed pivots.
    pub num_factor: usize,
    /// Number of operations of one factorization, without delayed pivots.
    pub num_operations: f64,
}

/// Part of a front that may be zeros, when fronts are joined to save the moving of numbers between them, and number
/// of zeros that are always allowed. Found by trial on swing-ups of 5 to 20 links (`examples/swing_up_bench.rs`).
const ZERO_PART: f64 = 0.3;
const FEW_ZEROS: usize = 16;

impl SymbolicFactorization {
    /// Analyses the lower triangle of a symmetric matrix.
    ///
    /// `groups` is a coarse order (lower first), if the structure of the matrix is known. `pairs` are two unknowns to
    /// be eliminated together because the first may have no pivot of its own, such as a multiplier and a variable of
    /// its constraint.
    pub fn new(lower: &SparsityPattern, groups: Option<&[u32]>, pairs: &[(u32, u32)]) -> Self {
        let order = order_unknowns(lower, groups, pairs);
        Self::with_order(lower, order)
    }

    /// Analyses with a given elimination order.
    pub fn with_order(lower: &SparsityPattern, order: Vec<u32>) -> Self {
        let n = lower.rows();
        let mut place = vec![0u32; n];
        for (k, &i) in order.iter().enumerate() {
            place[i as usize] = k as u32;
        }
        // Columns of the permuted lower triangle, and the same by rows for the elimination tree.
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut left: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (r, c) in lower.places() {
            let (a, b) = (place[r].max(place[c]), place[r].min(place[c]));
            if a != b {
                below[b as usize].push(a);
                left[a as usize].push(b);
            }
        }
        let parent = elimination_tree(&left);
        drop(left);

        let (nodes, root_nodes) = supernodes(&parent, below);
        let (order, fronts) = arrange(nodes, root_nodes, &order);
        let mut this = SymbolicFactorization {
            order,
            fronts,
            bins: [0, 0],
            num_values: lower.len(),
            num_factor: 0,
            num_operations: 0.0,
        };
        this.place_entries(lower);
        this.divide();
        for f in &this.fronts {
            let (k, m) = (f.end - f.first, f.end - f.first + f.rows.len());
            this.num_factor += k * m - k * (k.max(1) - 1) / 2;
            this.num_operations += (m - k..m).map(|i| (i * i) as f64).sum::<f64>();
        }
        this
    }

    /// Number of unknowns.
    pub fn dimension(&self) -> usize {
        self.order.len()
    }

    fn place_entries(&mut self, lower: &SparsityPattern) {
        let n = self.order.len();
        let mut place = vec![0u32; n];
        let mut front_of = vec![0u32; n];
        for (k, &i) in self.order.iter().enumerate() {
            place[i as usize] = k as u32;
        }
        for (f, front) in self.fronts.iter().enumerate() {
            front_of[front.first..front.end].fill(f as u32);
        }
        for (v, (r, c)) in lower.places().enumerate() {
            let (a, b) = (place[r].max(place[c]), place[r].min(place[c]));
            let front = &mut self.fronts[front_of[b as usize] as usize];
            let local = front.local(a);
            front.entries.push((v as u32, local, b - front.first as u32));
        }
        for f in 0..self.fronts.len() {
            for c in self.fronts[f].children.clone() {
                let map = self.fronts[c as usize].rows.iter().map(|&r| self.fronts[f].local(r)).collect();
                self.fronts[c as usize].rows_in_parent = map;
            }
        }
    }

    /// Finds two sets of subtrees of about equal work that do not depend on each other.
    fn divide(&mut self) {
        let n = self.fronts.len();
        if n == 0 {
            return;
        }
        let mut work = vec![0.0; n];
        let mut size = vec![1usize; n];
        let mut has_parent = vec![false; n];
        for f in 0..n {
            let front = &self.fronts[f];
            let m = (front.end - front.first + front.rows.len()) as f64;
            work[f] += (front.end - front.first) as f64 * m * m;
            for &c in &front.children {
                work[f] += work[c as usize];
                size[f] += size[c as usize];
                has_parent[c as usize] = true;
            }
        }
        // Go down from the roots as long as one child carries nearly everything; heavy children come first
        // in `arrange`, so what is below starts at front zero.
        let mut level: Vec<usize> = (0..n).filter(|&f| !has_parent[f]).collect();
        loop {
            let total: f64 = level.iter().map(|&f| work[f]).sum();
            let Some(&heavy) = level.first() else { return };
            if work[heavy] > 0.6 * total && !self.fronts[heavy].children.is_empty() {
                level = self.fronts[heavy].children.iter().map(|&c| c as usize).collect();
                continue;
            }
            let mut sum = 0.0;
            let mut end = 0;
            let mut halves = [0, 0];
            for &f in &level {
                // The subtree of f is the run of fronts that ends with it.
                if f + 1 != end + size[f] {
                    break;
                }
                if halves[0] == 0 || sum + 0.5 * work[f] < 0.5 * total {
                    halves[0] = f + 1;
                }
                sum += work[f];
                end = f + 1;
                halves[1] = end;
            }
            self.bins = halves;
            return;
        }
    }
}

/// Order of unknowns: pairs are ordered as one.
fn order_unknowns(lower: &SparsityPattern, groups: Option<&[u32]>, pairs: &[(u32, u32)]) -> Vec<u32> {
    let n = lower.rows();
    let mut unit = vec![u32::MAX; n];
    let mut members: Vec<[u32; 2]> = Vec::with_capacity(n);
    for &(a, b) in pairs {
        if a != b && unit[a as usize] == u32::MAX && unit[b as usize] == u32::MAX {
            unit[a as usize] = members.len() as u32;
            unit[b as usize] = members.len() as u32;
            members.push([a, b]);
        }
    }
    for i in 0..n {
        if unit[i] == u32::MAX {
            unit[i] = members.len() as u32;
            members.push([i as u32, u32::MAX]);
        }
    }
    let group: Vec<u32> = match groups {
        Some(g) => members
            .iter()
            .map(|m| if m[1] == u32::MAX { g[m[0] as usize] } else { g[m[0] as usize].max(g[m[1] as usize]) })
            .collect(),
        None => vec![0; members.len()],
    };
    // The last group touches nearly everything and goes as it stands: its edges would be looked at in every step, for nothing.
    let is_last = |u: u32| group[u as usize] == u32::MAX;
    let mut neighbors: Vec<Vec<u32>> = vec![Vec::new(); members.len()];
    for (r, c) in lower.places() {
        let (a, b) = (unit[r], unit[c]);
        if a != b && !is_last(a) && !is_last(b) {
            neighbors[a as usize].push(b);
            neighbors[b as usize].push(a);
        }
    }
    for list in &mut neighbors {
        list.sort_unstable();
        list.dedup();
    }
    let weight = members.iter().map(|m| if m[1] == u32::MAX { 1 } else { 2 }).collect();
    let order = minimum_degree(Graph { neighbors, weight, group });
    order.iter().flat_map(|&u| members[u as usize]).filter(|&i| i != u32::MAX).collect()
}

/// Parent of each column in the elimination tree (Liu 1990), `u32::MAX` for roots.
fn elimination_tree(left: &[Vec<u32>]) -> Vec<u32> {
    let n = left.len();
    let mut parent = vec![u32::MAX; n];
    let mut ancestor = vec![u32::MAX; n];
    for j in 0..n {
        for &i in &left[j] {
            let mut k = i as usize;
            while ancestor[k] != u32::MAX && ancestor[k] as usize != j {
                let up = ancestor[k] as usize;
                ancestor[k] = j as u32;
                k = up;
            }
            if ancestor[k] == u32::MAX {
                ancestor[k] = j as u32;
                parent[k] = j as u32;
            }
        }
    }
    parent
}

/// A front before it has its final place.
#[derive(Default)]
struct Node {
    columns: Vec<u32>,
    rows: Vec<u32>,
    children: Vec<usize>,
    /// Places that are zero, because of fronts that were joined.
    zeros: usize,
}

/// Columns with the same structure below, joined; small ones joined with their parents.
fn supernodes(parent: &[u32], mut below: Vec<Vec<u32>>) -> (Vec<Node>, Vec<usize>) {
    let n = parent.len();
    let mut column_children: Vec<Vec<u32>> = vec![Vec::new(); n];
    for j in 0..n {
        if parent[j] != u32::MAX {
            column_children[parent[j] as usize].push(j as u32);
        }
    }
    let mut mark = vec![u32::MAX; n];
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_of = vec![usize::MAX; n];
    for j in 0..n {
        // Structure of column j: its own places and those of its children.
        let mut rows = std::mem::take(&mut below[j]);
        mark[j] = j as u32;
        rows.retain(|&r| std::mem::replace(&mut mark[r as usize], j as u32) != j as u32);
        let children: Vec<usize> = {
            let mut list: Vec<usize> = column_children[j].iter().map(|&c| node_of[c as usize]).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        for &c in &children {
            for &r in &nodes[c].rows {
                if mark[r as usize] != j as u32 {
                    mark[r as usize] = j as u32;
                    rows.push(r);
                }
            }
        }
        // It joins children as long as few zeros come in with them.
        let mut columns = Vec::new();
        let mut kept = Vec::new();
        for c in children {
            let zeros = nodes[c].columns.len() * (rows.len() + 1 - nodes[c].rows.len());
            if zeros == 0 && columns.is_empty() {
                let child = std::mem::take(&mut nodes[c]);
                columns.extend(child.columns);
                kept.extend(child.children);
            } else {
                kept.push(c);
            }
        }
        columns.push(j as u32);
        let id = nodes.len();
        for &c in &columns {
            node_of[c as usize] = id;
        }
        nodes.push(Node { columns, rows, children: kept, zeros: 0 });
    }
    // Joining with parents, from the leaves up: children of a node are settled before the node.
    for p in 0..nodes.len() {
        if nodes[p].columns.is_empty() {
            continue;
        }
        let children = std::mem::take(&mut nodes[p].children);
        let mut kept = Vec::new();
        let mut columns = Vec::new();
        let mut zeros = nodes[p].zeros;
        for c in children {
            // With the child's columns the front has k columns of up to `height` places.
            let height = nodes[p].columns.len() + nodes[p].rows.len();
            let new =
                nodes[c].columns.len() * (columns.len() + height - nodes[c].rows.len()) + nodes[c].zeros;
            let k = nodes[c].columns.len() + columns.len() + nodes[p].columns.len();
            let places = k * (k + nodes[p].rows.len()) - k * (k - 1) / 2;
            if zeros + new <= FEW_ZEROS || (zeros + new) as f64 <= ZERO_PART * places as f64 {
                zeros += new;
                let child = std::mem::take(&mut nodes[c]);
                columns.extend(child.columns);
                kept.extend(child.children);
            } else {
                kept.push(c);
            }
        }
        nodes[p].zeros = zeros;
        columns.append(&mut nodes[p].columns);
        nodes[p].columns = columns;
        nodes[p].children = kept;
    }
    let mut is_child = vec![false; nodes.len()];
    for node in &nodes {
        for &c in &node.children {
            is_child[c] = true;
        }
    }
    let roots = (0..nodes.len()).filter(|&i| !is_child[i] && !nodes[i].columns.is_empty()).collect();
    (nodes, roots)
}

/// Numbers the fronts so that children come before parents, subtrees are runs, and heavy subtrees come first.
fn arrange(mut nodes: Vec<Node>, mut roots: Vec<usize>, order: &[u32]) -> (Vec<u32>, Vec<Front>) {
    let mut work = vec![0.0f64; nodes.len()];
    for i in 0..nodes.len() {
        let (k, m) = (nodes[i].columns.len() as f64, (nodes[i].columns.len() + nodes[i].rows.len()) as f64);
        work[i] = k * m * m + nodes[i].children.iter().map(|&c| work[c]).sum::<f64>();
    }
    let heavy_first =
        |list: &mut Vec<usize>| list.sort_by(|&a, &b| work[b].total_cmp(&work[a]).then(a.cmp(&b)));
    heavy_first(&mut roots);
    for node in &mut nodes {
        heavy_first(&mut node.children);
    }
    let mut sequence = Vec::new();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in roots {
        stack.push((root, 0));
        while let Some((node, next)) = stack.pop() {
            if next < nodes[node].children.len() {
                stack.push((node, next + 1));
                stack.push((nodes[node].children[next], 0));
            } else {
                sequence.push(node);
            }
        }
    }
    let mut number = vec![0u32; nodes.len()];
    let mut place = vec![0u32; order.len()];
    let mut new_order = Vec::with_capacity(order.len());
    for (f, &node) in sequence.iter().enumerate() {
        number[node] = f as u32;
        for &c in &nodes[node].columns {
            place[c as usize] = new_order.len() as u32;
            new_order.push(order[c as usize]);
        }
    }
    let mut first = 0;
    let fronts = sequence
        .iter()
        .map(|&node| {
            let node = &nodes[node];
            let mut rows: Vec<u32> = node.rows.iter().map(|&r| place[r as usize]).collect();
            rows.sort_unstable();
            let end = first + node.columns.len();
            let children = node.children.iter().map(|&c| number[c]).collect();
            let front = Front { first, end, rows, children, ..Default::default() };
            first = end;
            front
        })
        .collect();
    (new_order, fronts)
}
