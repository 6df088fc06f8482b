//! Event streams are read alike however they are cut, as the standard says, and what is written reads back.

use barewire_tests::{Choices, Random, event_streams, mutate};

const SEEDS: [&[u8]; 5] = [
    b"\xef\xbb\xbf: keep-alive\r\n\r\nretry: 1500\r\nid: s1-0\r\ndata:\r\n\r\nevent: ping\r\ndata: 123\r\n\r\n",
    b"id: s1-1\r\ndata: {\"a\":\r\ndata: [],\r\ndata: \"b\":1}\r\n\r\ndata:\"two\xf0\x9f\x98\x80\"\n\n",
    b"unknown: field\rid: s1-2\revent: message\rdata: {}\r\rdata: {\"never\":1}",
    b"id\ndata\ndata\n\nevent\nretry\ndatas: 1\n data: 2\nid: 1\0\nid: \xff\ndata: \xc3\n\n:\xff\n",
    b"data: 123456789012\n\ndata: 1234567890123\nid: 7\n\nevent: 1234567890123\ndata: 1\n\nid: 1234567890123\n\n",
];

/// Bytes that mean something in a stream.
const PARTS: [&[u8]; 20] = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b":",
    b" ",
    b"data",
    b"data: ",
    b"event:",
    b"id: ",
    b"id:",
    b"retry:",
    b"7",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xf0\x9f",
    b"\x98\x80",
    b"x",
    b"message",
    b"ev",
];

/// Fewer bytes than `bound`.
fn random_bytes(random: &mut Random, bound: usize) -> Vec<u8> {
    (0..random.below(bound)).map(|_| random.below(256) as u8).collect()
}

// proves: BASE-278
#[test]
fn streams_are_read_alike_however_they_are_cut() {
    for mut random in Random::seeds(2_000) {
        let mut bytes = vec![random.below(256) as u8];
        if random.below(2) == 0 {
            let changes = random_bytes(&mut random, 40);
            bytes.extend(mutate(&mut Choices::new(&changes), random.pick::<&[u8]>(&SEEDS)));
        } else {
            for _ in 0..random.below(40) {
                bytes.extend_from_slice(random.pick::<&[u8]>(&PARTS));
            }
        }
        event_streams::check(&bytes);
    }
    for seed in SEEDS {
        for limit in [0, 1] {
            event_streams::check(&[&[limit], seed].concat());
        }
    }
}

#[test]
fn what_is_written_reads_back() {
    for mut random in Random::seeds(2_000) {
        event_streams::check_written(&random_bytes(&mut random, 40));
    }
}
