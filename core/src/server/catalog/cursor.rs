//! Cursors: where a list goes on, in a form that clients do not take apart.
//!
//! A cursor names the last definition of a page by its number in the order of registration. Every server
//! that registers the same definitions in the same order gives and takes the same cursors, and removals in
//! between shift nothing. The checksum is no secret: it only tells cursors from other text.

use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::jsonrpc::parse::decode_string;
use crate::revision::Definition;

const CHECKSUM: usize = 4;
const LENGTH: usize = 1 + 8 + CHECKSUM;

/// Appends the cursor behind definition `sequence` of a list.
pub(super) fn write(out: &mut String, list: Definition, sequence: u64) {
    URL_SAFE_NO_PAD.encode_string(bytes(list, sequence), out);
}

/// The number of the last definition that was given, from the JSON text of a cursor.
pub(super) fn read(list: Definition, text: &str) -> Option<u64> {
    let cursor = decode_string(text)?;
    let mut decoded = [0; LENGTH + 3];
    let length = URL_SAFE_NO_PAD.decode_slice(cursor.as_bytes(), &mut decoded).ok()?;
    let decoded = decoded.get(..length)?;
    let sequence = u64::from_be_bytes(decoded.get(1..9)?.try_into().ok()?);
    (decoded == bytes(list, sequence)).then_some(sequence)
}

fn bytes(list: Definition, sequence: u64) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[0] = match list {
        Definition::Tool => b't',
        Definition::Resource => b'r',
        Definition::Template => b'u',
        Definition::Prompt => b'p',
    };
    bytes[1..9].copy_from_slice(&sequence.to_be_bytes());
    let checksum = Sha256::digest(&bytes[..9]);
    bytes[9..].copy_from_slice(&checksum[..CHECKSUM]);
    bytes
}
