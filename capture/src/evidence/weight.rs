//! What is kept of something from outside weighs, by and large, and which names
//! are too long to be kept at all.

use protocol::page::{
    Answer, Block, Inline, Look, Observation, Place, StreamReport, Turn, TurnId, TurnKey, What,
};
use serde_json::Value;

use crate::limits::{ADDRESS_BYTES_MAX, MARKS_MAX, NAME_BYTES_MAX};

/// A map's entries lie in nodes that have room for eleven and hold five or more,
/// save where there are fewer in all.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>());
const NODE_ENTRIES_MIN: usize = 5;

/// Bytes that a value of JSON holds.
pub(super) fn of_value(value: &Value) -> usize {
    let within = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(of_value).sum(),
        Value::Object(map) => {
            let entries = map.iter().map(|(name, one)| name.len() + of_value(one));
            entries.sum::<usize>() + map.len().div_ceil(NODE_ENTRIES_MIN) * NODE_BYTES
        }
    };
    size_of::<Value>() + within
}

/// Bytes that a tree of blocks holds.
pub(super) fn of_blocks(blocks: &[Block]) -> usize {
    blocks.iter().map(of_block).sum()
}

fn of_block(block: &Block) -> usize {
    let within = match block {
        Block::Paragraph { c } | Block::Heading { c, .. } => of_inlines(c),
        Block::List { items, .. } => {
            let lists = items.len() * size_of::<Vec<Block>>();
            lists + items.iter().map(|item| of_blocks(item)).sum::<usize>()
        }
        Block::Quote { c } => of_blocks(c),
        Block::Code { lang, text, .. } => lang.as_ref().map_or(0, String::len) + text.len(),
        Block::Table { align, rows } => {
            let cells = rows.iter().flatten();
            let cells = cells.map(|cell| size_of::<Vec<Inline>>() + of_inlines(cell));
            align.len() + rows.len() * size_of::<Vec<Vec<Inline>>>() + cells.sum::<usize>()
        }
        Block::Math { source } => source.len(),
        Block::Rule => 0,
        Block::Unknown { tag, text } => tag.len() + text.len(),
    };
    size_of::<Block>() + within
}

fn of_inlines(inlines: &[Inline]) -> usize {
    inlines.iter().map(of_inline).sum()
}

fn of_inline(inline: &Inline) -> usize {
    let within = match inline {
        Inline::Text { v } | Inline::Code { v } => v.len(),
        Inline::Emph { c } | Inline::Strong { c } | Inline::Strike { c } => of_inlines(c),
        Inline::Link { href, title, c } => {
            href.len() + title.as_ref().map_or(0, String::len) + of_inlines(c)
        }
        Inline::Image { src, alt } => src.len() + alt.len(),
        Inline::Math { source, .. } => source.len(),
        Inline::Break => 0,
        Inline::Unknown { tag, text } => tag.len() + text.len(),
    };
    size_of::<Inline>() + within
}

/// Whether every name in an observation may be kept. A longer one is nobody's:
/// what carries it counts as not understood.
pub(super) fn names_fit(observation: &Observation) -> bool {
    match &observation.what {
        What::Look(look) => look_fits(look),
        What::Stream(StreamReport { request, .. }) => fits(request),
        What::Answer {
            answer: Answer::Copied { turn, .. },
            ..
        } => id_fits(turn),
        What::Answer { .. }
        | What::Attached(_)
        | What::Beat(_)
        | What::Malformed { .. }
        | What::Lost(_)
        | What::Dialog { .. } => true,
    }
}

fn look_fits(look: &Look) -> bool {
    let place = match &look.place {
        Place::Transient(id) => fits(id),
        Place::Conversation(id) => fits(&id.0),
        Place::Fresh | Place::Elsewhere => true,
    };
    let marks = look.missing.len() <= MARKS_MAX && look.missing.iter().all(|mark| fits(mark));
    let address = look.address.len() <= ADDRESS_BYTES_MAX;
    place && marks && address && look.tail.iter().all(turn_fits)
}

fn turn_fits(turn: &Turn) -> bool {
    let key = match &turn.key {
        TurnKey::Settled(id) => id_fits(id),
        TurnKey::Provisional => true,
    };
    let reply = turn.reply.as_ref().is_none_or(|reply| {
        fits(&reply.print) && reply.error.as_ref().is_none_or(|error| fits(&error.mark))
    });
    key && reply
}

fn id_fits(id: &TurnId) -> bool {
    fits(&id.0)
}

/// Whether a name from outside is as short as names are.
pub(super) fn fits(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
}
