//! Where a network's links are: by name, and by the node that they leave.

use knee_input::interrupt::{Interrupt, Interrupted};
use knee_laws::quantities::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A network's links, found without a search. It is of the links that were there when it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The place of each link.
    links: BTreeMap<String, usize>,
    /// The number of each node; numbers sort as names do.
    nodes: BTreeMap<String, usize>,
    /// Links that leave each node, those of aggregates first.
    leaving: Vec<Vec<Edge>>,
    /// The aggregate that a link is, if it is one.
    aggregates: BTreeMap<usize, usize>,
}

/// A link as ways see it.
#[derive(Clone, Copy, Debug)]
struct Edge {
    link: usize,
    to: usize,
    delay: Span,
}

/// The way to a node that is the best so far.
#[derive(Clone, Copy, Debug)]
struct Reached {
    delay: Span,
    links: usize,
    /// The last link, and the node that it leaves; nothing where the way begins.
    last: Option<(usize, usize)>,
}

impl Index {
    /// Of links by their name, the nodes at their ends and their delay; some of them, by place, are aggregates.
    pub fn new<'a>(
        links: impl Iterator<Item = (&'a str, [&'a str; 2], Span)> + Clone,
        aggregates: impl Iterator<Item = usize>,
    ) -> Self {
        let ends = links.clone().flat_map(|(_, ends, _)| ends);
        let mut nodes: BTreeMap<String, usize> = ends.map(|name| (name.to_owned(), 0)).collect();
        nodes.values_mut().enumerate().for_each(|(number, node)| *node = number);
        let aggregates: BTreeMap<usize, usize> =
            aggregates.enumerate().map(|(place, link)| (link, place)).collect();
        let mut leaving = vec![Vec::new(); nodes.len()];
        let numbered = || links.clone().enumerate();
        let (carried, plain): (Vec<_>, Vec<_>) =
            numbered().partition(|(link, _)| aggregates.contains_key(link));
        for (link, (_, [from, to], delay)) in carried.into_iter().chain(plain) {
            leaving[nodes[from]].push(Edge { link, to: nodes[to], delay });
        }
        let links = numbered().map(|(place, (name, ..))| (name.to_owned(), place));
        Self { links: links.collect(), nodes, leaving, aggregates }
    }

    /// The place of a link.
    pub fn link(&self, name: &str) -> Option<usize> {
        self.links.get(name).copied()
    }

    /// The aggregate that a link is, if it is one.
    pub fn aggregate(&self, link: usize) -> Option<usize> {
        self.aggregates.get(&link).copied()
    }

    /// Is there a node of this name?
    pub fn has_node(&self, name: &str) -> bool {
        self.nodes.contains_key(name)
    }

    /// Names of the nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &str> + Clone {
        self.nodes.keys().map(String::as_str)
    }

    /// The way of least delay; of fewest links among equals, an aggregate counting as one, then of
    /// aggregates, then of the links that come first. Nothing if no links lead there.
    pub fn shortest(
        &self,
        from: &str,
        to: &str,
        interrupt: Interrupt,
    ) -> Result<Option<Vec<usize>>, Interrupted> {
        let (Some(&from), Some(&to)) = (self.nodes.get(from), self.nodes.get(to)) else {
            return Ok(None);
        };
        let mut best: Vec<Option<Reached>> = vec![None; self.leaving.len()];
        let mut open = BinaryHeap::from([Reverse((Span::ZERO, 0, from))]);
        best[from] = Some(Reached { delay: Span::ZERO, links: 0, last: None });
        while let Some(Reverse((delay, links, node))) = open.pop() {
            interrupt.check()?;
            if node == to {
                break;
            }
            if best[node].is_some_and(|found| (found.delay, found.links) < (delay, links)) {
                continue;
            }
            for edge in &self.leaving[node] {
                let reached = (delay + edge.delay, links + 1);
                let found = &mut best[edge.to];
                if found.is_none_or(|found| reached < (found.delay, found.links)) {
                    let last = Some((edge.link, node));
                    *found = Some(Reached { delay: reached.0, links: reached.1, last });
                    open.push(Reverse((reached.0, reached.1, edge.to)));
                }
            }
        }
        let Some(mut reached) = best[to] else { return Ok(None) };
        let mut way = Vec::with_capacity(reached.links);
        while let Some((link, node)) = reached.last {
            way.push(link);
            let Some(before) = best[node] else { break };
            reached = before;
        }
        way.reverse();
        Ok(Some(way))
    }
}
