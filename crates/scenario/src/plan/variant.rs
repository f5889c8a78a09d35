//! Variants: what is compared, with laws and transport resolved.

use crate::document::format::{Document, Mismatch, Variant};
use crate::document::transport::Transport;
use crate::plan::law::{self, RouterChoice, SenderChoice};
use knee_input::problem::{Fault, KeyPath};
use knee_laws::laws::Laws;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A variant, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub name: String,
    pub sender: SenderChoice,
    pub router: Arc<RouterChoice>,
    /// The variant's options over the scenario's.
    pub transport: Transport,
    pub mismatch: Mismatch,
    /// Is the network with its aggregates?
    pub aggregates: bool,
    /// The key that chose the laws, for messages.
    pub at: KeyPath,
}

/// Every variant of the document, in order.
pub(crate) fn resolve(document: &Document, laws: &Laws) -> Result<Vec<Resolved>, Fault> {
    let root = KeyPath::root();
    let alone = Variant {
        protocol: document.protocol.clone(),
        sender: document.sender.clone(),
        router: document.router.clone(),
        ..Variant::default()
    };
    if document.variant.is_empty() {
        if alone == Variant::default() {
            return Err(root.fault("missing key `protocol` (or `[[variant]]`s to compare)"));
        }
        return Ok(vec![one(&alone, (document, laws), &root)?]);
    }
    let given = [
        ("protocol", alone.protocol.is_some()),
        ("sender", alone.sender.is_some()),
        ("router", alone.router.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
        return Err(root.key(key).fault("with `[[variant]]`s, it belongs in each of them"));
    }
    let mut names = BTreeSet::new();
    let mut variants = Vec::new();
    for (index, variant) in document.variant.iter().enumerate() {
        let at = KeyPath::element("variant", index);
        let resolved = one(variant, (document, laws), &at)?;
        if !names.insert(resolved.name.clone()) {
            let at = if variant.name.is_some() { at.key("name") } else { at };
            return Err(
                at.fault(format!("there are two variants `{}`; give one a `name`", resolved.name))
            );
        }
        variants.push(resolved);
    }
    Ok(variants)
}

fn one(
    variant: &Variant,
    (document, laws): (&Document, &Laws),
    at: &KeyPath,
) -> Result<Resolved, Fault> {
    let protocol = variant.protocol.as_deref().map(|text| match text.split_once('/') {
        Some((sender, router)) => (sender.trim(), Some(router.trim())),
        None => (text.trim(), None),
    });
    let protocol_at = at.key("protocol");

    if variant.aggregates.is_some() && document.aggregate.is_empty() {
        return Err(at.key("aggregates").fault("there are no [[aggregate]]s"));
    }
    let sender_at = at.key("sender");
    let (name, name_at) = match (&variant.sender, protocol) {
        (Some(spec), _) if spec.law().is_some() => {
            (spec.law().unwrap_or_default(), law::name_at(spec, &sender_at))
        }
        (_, Some((sender, _))) => (sender, protocol_at.clone()),
        (_, None) => return Err(at.fault("missing key `protocol` (or `sender`)")),
    };
    let sender = law::sender(laws, (name, &name_at), (variant.sender.as_ref(), &sender_at))?;

    let router_at = at.key("router");
    let (name, name_at) = match (&variant.router, protocol) {
        (Some(spec), _) if spec.law().is_some() => {
            (spec.law().unwrap_or_default(), law::name_at(spec, &router_at))
        }
        (_, Some((_, Some(router)))) => (router, protocol_at.clone()),
        _ => (sender.router.as_str(), name_at),
    };
    let router = law::router(laws, (name, &name_at), (variant.router.as_ref(), &router_at))?;

    let name = variant.name.clone().unwrap_or_else(|| {
        if router.name == sender.router {
            sender.name.clone()
        } else {
            format!("{}/{}", sender.name, router.name)
        }
    });
    let at = match (&variant.router, &variant.protocol) {
        (Some(_), _) => router_at,
        (None, Some(_)) => protocol_at,
        (None, None) => sender_at,
    };
    Ok(Resolved {
        name,
        sender,
        router: Arc::new(router),
        transport: variant.transport.or(&document.transport),
        mismatch: variant.mismatch.unwrap_or(Mismatch::Refuse),
        aggregates: variant.aggregates.unwrap_or(true),
        at,
    })
}
