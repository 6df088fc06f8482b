//! Valid messages made strange.

use crate::Choices;

/// Pieces that parsers stumble over.
const PIECES: [&[u8]; 34] = [
    b"null",
    b"true",
    b"1e400",
    b"-0",
    b"1.0",
    b"9007199254740993",
    b"-1",
    b"0",
    b"\"\"",
    b"\"\\ud800\"",
    b"\"\\u0000\"",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"{}",
    b"[]",
    b"[[[[[[[[[[[[[[[[[[[[",
    b"{\"a\":",
    b"}",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b" ",
    b"\r",
    b"\n",
    b"\"id\":1,",
    b"\"id\":null,",
    b"\"method\":\"ping\",",
    b"\"result\":{},",
    b"\"error\":{},",
    b"\"params\":[],",
];

/// A line with a few changes.
pub fn mutate(choices: &mut Choices<'_>, line: &[u8]) -> Vec<u8> {
    let mut bytes = line.to_vec();
    for _ in 0..=choices.below(3) {
        change(choices, &mut bytes);
    }
    bytes
}

fn change(choices: &mut Choices<'_>, bytes: &mut Vec<u8>) {
    let at = choices.below(bytes.len() + 1);
    match choices.below(8) {
        0 => bytes.truncate(at),
        1 => {
            bytes.drain(..at);
        }
        2 if at < bytes.len() => bytes[at] = choices.byte(),
        3 if at < bytes.len() => bytes[at] ^= 1 << choices.below(8),
        4 => {
            let end = (at + 1 + choices.below(8)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        5 => replace_value(choices, bytes, at),
        6 => double_member(bytes, at),
        _ => {
            let piece = *choices.pick(&PIECES);
            bytes.splice(at..at, piece.iter().copied());
        }
    }
}

/// Replaces what stands after the next colon, up to the next comma or brace.
fn replace_value(choices: &mut Choices<'_>, bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = find(bytes, at, b":").map(|colon| colon + 1) else { return };
    let end = find(bytes, start, b",}]").unwrap_or(bytes.len());
    let piece = *choices.pick(&PIECES);
    bytes.splice(start..end, piece.iter().copied());
}

/// Writes the next member twice.
fn double_member(bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = find(bytes, at, b"{,").map(|start| start + 1) else { return };
    let Some(end) = find(bytes, start, b",") else { return };
    let member = bytes[start..=end].to_vec();
    bytes.splice(start..start, member);
}

fn find(bytes: &[u8], from: usize, any_of: &[u8]) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| any_of.contains(byte)).map(|at| from + at)
}
