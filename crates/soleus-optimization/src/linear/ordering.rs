//! Elimination order with little fill-in.

use soleus_math::Random;
use std::collections::BTreeSet;

/// A graph whose nodes are to be eliminated.
pub struct Graph {
    /// Neighbours of each node, without itself and without duplicates.
    pub neighbors: Vec<Vec<u32>>,
    /// Number of unknowns of each node.
    pub weight: Vec<u32>,
    /// Groups: nodes of a lower group are eliminated before all nodes of a higher one.
    pub group: Vec<u32>,
}

/// Approximate minimum degree within each group, group after group.
///
/// Source: Amestoy, Davis & Duff (1996), *An approximate minimum degree ordering algorithm*: a quotient graph whose
/// elements are the cliques left by eliminated nodes, element absorption, mass elimination, merging of
/// indistinguishable nodes, and the degree bounded from above. Groups are an extension: only nodes of the lowest
/// remaining group are candidates. Ties are resolved by index, so the order depends on the graph only.
pub fn minimum_degree(graph: Graph) -> Vec<u32> {
    let mut q = Quotient::new(graph);
    q.merge_initial_twins();
    let mut groups: Vec<u32> = q.group.clone();
    groups.sort_unstable();
    groups.dedup();
    let mut order = Vec::with_capacity(q.variables.len());
    let mut members: Vec<(u32, u32)> = q.group.iter().zip(0u32..).map(|(&g, i)| (g, i)).collect();
    members.sort_unstable();
    let mut next = 0;
    for &current in &groups {
        q.current = current;
        q.queue.clear();
        while next < members.len() && members[next].0 == current {
            let i = members[next].1;
            if q.kind[i as usize] == Kind::Variable {
                q.queue.insert((q.degree[i as usize], i));
            }
            next += 1;
        }
        while let Some((_, pivot)) = q.queue.pop_first() {
            q.eliminate(pivot, &mut order);
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Variable,
    Element,
    Gone,
}

/// The quotient graph.
struct Quotient {
    kind: Vec<Kind>,
    group: Vec<u32>,
    /// Weight of a variable with all that merged into it.
    weight: Vec<u32>,
    degree: Vec<u32>,
    /// Neighbouring variables of a variable; the variables of an element.
    variables: Vec<Vec<u32>>,
    /// Neighbouring elements of a variable.
    elements: Vec<Vec<u32>>,
    /// Nodes merged into a variable.
    merged: Vec<Vec<u32>>,
    /// Variables of the current group by degree.
    queue: BTreeSet<(u32, u32)>,
    current: u32,
    mark: Vec<u32>,
    stamp: u32,
    /// Weight of an element outside the newest one, valid where `outside_stamp` is current.
    outside: Vec<u32>,
    outside_stamp: Vec<u32>,
    left: u32,
}

impl Quotient {
    fn new(graph: Graph) -> Self {
        let n = graph.neighbors.len();
        let mut q = Quotient {
            kind: vec![Kind::Variable; n],
            degree: vec![0; n],
            elements: vec![Vec::new(); n],
            merged: vec![Vec::new(); n],
            queue: BTreeSet::new(),
            current: 0,
            mark: vec![0; n],
            stamp: 0,
            outside: vec![0; n],
            outside_stamp: vec![0; n],
            left: graph.weight.iter().sum(),
            variables: graph.neighbors,
            weight: graph.weight,
            group: graph.group,
        };
        for i in 0..n {
            q.degree[i] = q.variables[i].iter().map(|&j| q.weight[j as usize]).sum();
        }
        q
    }

    fn next_stamp(&mut self) -> u32 {
        self.stamp += 1;
        self.stamp
    }

    /// Merges nodes that have the same closed neighbourhood from the start.
    fn merge_initial_twins(&mut self) {
        let n = self.variables.len();
        let mut keys: Vec<(u32, u64, u32)> = (0..n)
            .map(|i| {
                let sum =
                    self.variables[i].iter().map(|&j| spread(j)).fold(spread(i as u32), u64::wrapping_add);
                (self.group[i], sum, i as u32)
            })
            .collect();
        keys.sort_unstable();
        for run in keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (at, &(.., i)) in run.iter().enumerate() {
                if self.kind[i as usize] != Kind::Variable {
                    continue;
                }
                let stamp = self.next_stamp();
                self.mark[i as usize] = stamp;
                for &j in &self.variables[i as usize] {
                    self.mark[j as usize] = stamp;
                }
                for &(.., j) in &run[at + 1..] {
                    let alive = self.kind[j as usize] == Kind::Variable;
                    let same = self.variables[j as usize].len() == self.variables[i as usize].len()
                        && self.mark[j as usize] == stamp
                        && self.variables[j as usize].iter().all(|&k| self.mark[k as usize] == stamp);
                    if alive && same {
                        self.merge(i, j);
                    }
                }
            }
        }
    }

    /// j becomes part of i.
    fn merge(&mut self, i: u32, j: u32) {
        let (i, j) = (i as usize, j as usize);
        if self.group[j] == self.current {
            self.queue.remove(&(self.degree[j], j as u32));
        }
        self.kind[j] = Kind::Gone;
        self.weight[i] += self.weight[j];
        self.degree[i] = self.degree[i].saturating_sub(self.weight[j]);
        let theirs = std::mem::take(&mut self.merged[j]);
        self.merged[i].push(j as u32);
        self.merged[i].extend(theirs);
        self.variables[j] = Vec::new();
        self.elements[j] = Vec::new();
    }

    /// Eliminates a pivot that has left the queue, and whatever goes along with it.
    fn eliminate(&mut self, pivot: u32, order: &mut Vec<u32>) {
        let p = pivot as usize;
        self.take_out(pivot, order);

        // The new element: everything the pivot touches, directly or through older elements.
        let stamp = self.next_stamp();
        self.mark[p] = stamp;
        let mut clique = Vec::new();
        for j in std::mem::take(&mut self.variables[p]) {
            if self.kind[j as usize] == Kind::Variable && self.mark[j as usize] != stamp {
                self.mark[j as usize] = stamp;
                clique.push(j);
            }
        }
        for e in std::mem::take(&mut self.elements[p]) {
            if self.kind[e as usize] != Kind::Element {
                continue;
            }
            for j in std::mem::take(&mut self.variables[e as usize]) {
                if self.kind[j as usize] == Kind::Variable && self.mark[j as usize] != stamp {
                    self.mark[j as usize] = stamp;
                    clique.push(j);
                }
            }
            self.kind[e as usize] = Kind::Gone;
        }
        self.kind[p] = Kind::Element;

        // Weight of every touched element outside the new one.
        for &i in &clique {
            for k in 0..self.elements[i as usize].len() {
                let e = self.elements[i as usize][k] as usize;
                if self.kind[e] != Kind::Element {
                    continue;
                }
                if self.outside_stamp[e] != stamp {
                    self.outside_stamp[e] = stamp;
                    let weights =
                        self.variables[e].iter().filter(|&&j| self.kind[j as usize] == Kind::Variable);
                    self.outside[e] = weights.map(|&j| self.weight[j as usize]).sum();
                }
                self.outside[e] -= self.weight[i as usize];
            }
        }
        let mut total: u32 = clique.iter().map(|&i| self.weight[i as usize]).sum();

        // Degrees of the members, and those that can go at once.
        let mut keys = Vec::with_capacity(clique.len());
        for &i in &clique {
            let v = i as usize;
            let queued = self.group[v] == self.current && self.queue.remove(&(self.degree[v], i));
            let mut elements = std::mem::take(&mut self.elements[v]);
            elements.retain(|&e| {
                let e = e as usize;
                if self.kind[e] == Kind::Element && self.outside[e] == 0 {
                    self.kind[e] = Kind::Gone;
                    self.variables[e] = Vec::new();
                }
                self.kind[e] == Kind::Element
            });
            let mut variables = std::mem::take(&mut self.variables[v]);
            variables.retain(|&j| self.kind[j as usize] == Kind::Variable && self.mark[j as usize] != stamp);
            if queued && elements.is_empty() && variables.is_empty() {
                // Indistinguishable from the pivot: it fills nothing that the pivot has not.
                total -= self.weight[v];
                self.take_out(i, order);
                continue;
            }
            let around: u32 = elements.iter().map(|&e| self.outside[e as usize]).sum::<u32>()
                + variables.iter().map(|&j| self.weight[j as usize]).sum::<u32>();
            let key = elements.iter().chain(&variables).map(|&j| spread(j)).fold(0, u64::wrapping_add);
            elements.push(pivot);
            self.elements[v] = elements;
            self.variables[v] = variables;
            self.degree[v] = around;
            keys.push((self.group[v], key, i));
        }
        clique.retain(|&i| self.kind[i as usize] == Kind::Variable);
        for &i in &clique {
            let v = i as usize;
            let bound = self.degree[v] + total - self.weight[v];
            self.degree[v] = bound.min(self.left.saturating_sub(self.weight[v]));
        }

        // Members that became indistinguishable from each other merge.
        keys.sort_unstable();
        for run in keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (at, &(.., i)) in run.iter().enumerate() {
                if run.len() < 2 || self.kind[i as usize] != Kind::Variable {
                    continue;
                }
                let stamp = self.next_stamp();
                for &j in self.elements[i as usize].iter().chain(&self.variables[i as usize]) {
                    self.mark[j as usize] = stamp;
                }
                for &(.., j) in &run[at + 1..] {
                    let (a, b) = (i as usize, j as usize);
                    let same = self.kind[b] == Kind::Variable
                        && self.elements[a].len() == self.elements[b].len()
                        && self.variables[a].len() == self.variables[b].len()
                        && self.elements[b]
                            .iter()
                            .chain(&self.variables[b])
                            .all(|&k| self.mark[k as usize] == stamp);
                    if same {
                        self.merge(i, j);
                    }
                }
            }
        }
        clique.retain(|&i| self.kind[i as usize] == Kind::Variable);
        for &i in &clique {
            if self.group[i as usize] == self.current {
                self.queue.insert((self.degree[i as usize], i));
            }
        }
        if clique.is_empty() {
            self.kind[p] = Kind::Gone;
        }
        self.variables[p] = clique;
    }

    fn take_out(&mut self, i: u32, order: &mut Vec<u32>) {
        order.push(i);
        order.append(&mut self.merged[i as usize]);
        self.left -= self.weight[i as usize];
        self.kind[i as usize] = Kind::Gone;
    }
}

/// Spreads small numbers over 64 bits, so that sums tell sets apart.
fn spread(i: u32) -> u64 {
    Random::new(0).bits_after(u64::from(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(n: usize, edges: &[(u32, u32)]) -> Graph {
        let mut neighbors = vec![Vec::new(); n];
        for &(a, b) in edges {
            neighbors[a as usize].push(b);
            neighbors[b as usize].push(a);
        }
        Graph { neighbors, weight: vec![1; n], group: vec![0; n] }
    }

    #[test]
    fn analytic_star_goes_from_the_outside() {
        // Taking the hub first would join all five rays.
        let order = minimum_degree(graph(6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]));
        let hub = order.iter().position(|&i| i == 0).unwrap();
        assert!(hub >= 4, "{order:?}");
    }

    #[test]
    fn identity_order_is_a_permutation_that_respects_groups() {
        let edges: Vec<_> = (0..39u32).map(|i| (i, i + 1)).chain((0..35).map(|i| (i, i + 5))).collect();
        let mut g = graph(40, &edges);
        g.group = (0..40u32).map(|i| (i * 7) % 4).collect();
        let group = g.group.clone();
        let order = minimum_degree(g);
        let mut seen = order.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
        assert!(order.windows(2).all(|w| group[w[0] as usize] <= group[w[1] as usize]));
    }
}
