//! A server where all memory is one small block: what sessions cost, and that nothing fails, leaks or goes unanswered when
//! the block is full.
#![expect(unsafe_code, reason = "an allocator is unsafe by nature")]
#![expect(clippy::disallowed_macros, reason = "the numbers are for the reader of the test's output")]

mod arena;
mod host;
mod lines;

use std::collections::BTreeMap;

use arena::{Allocator, Arena, outside, within};
use barewire_tests::{Choices, Random, mutate};
use host::Host;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The memory that a whole session has to fit in.
const SMALL: usize = 16 << 10;

/// Answers by id: how often there was a result, and how often an error.
fn answers(sent: &str) -> BTreeMap<String, (usize, usize)> {
    let mut answers = BTreeMap::<_, (usize, usize)>::new();
    for line in sent.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a message is JSON");
        for message in line.as_array().cloned().unwrap_or_else(|| vec![line]) {
            if message.get("method").is_none() {
                let count = answers.entry(message["id"].to_string()).or_default();
                count.0 += usize::from(message.get("result").is_some());
                count.1 += usize::from(message.get("error").is_some());
            }
        }
    }
    answers
}

// Every request of whole sessions of both eras is served in the small block.
#[test]
fn whole_sessions_fit_into_a_small_block() {
    for lines in [lines::legacy(), lines::modern()] {
        let mut arena = Arena::new(SMALL);
        let (sent, size) = within(&mut arena, || {
            let mut host = Host::start(SMALL, false).expect("there is room for a server");
            for line in &lines {
                assert!(host.line(line.as_bytes()), "{line}");
            }
            assert!(host.end());
            outside(|| (host.sent.clone(), size_of_val(&host.server)))
        });
        println!("peak {} of heap, and {size} of the server itself", arena.peak_of_all);
        assert_eq!((arena.refused, arena.live()), (0, 0));
        let answers = answers(&sent);
        assert_eq!(answers.len(), lines.iter().filter(|line| line.contains("\"id\"")).count());
        assert!(answers.values().all(|&count| count == (1, 0)), "{answers:?}\n{sent}");
    }
}

/// Plays lines in an arena of `bytes`; what was sent, if the server could be started, whether every line was taken in or
/// refused, and whether there was room for the end.
fn play(bytes: usize, lines: &[Vec<u8>]) -> Option<(String, bool, bool)> {
    let mut arena = Arena::new(bytes);
    let played = within(&mut arena, || {
        let mut host = Host::start(bytes, false)?;
        let all = lines.iter().all(|line| host.line(line));
        let ended = host.end();
        outside(|| Some((host.sent.clone(), all, ended)))
    });
    assert_eq!(arena.refused, 0, "an allocation failed in {bytes} bytes");
    assert_eq!(arena.live(), 0, "{bytes} bytes leak");
    played
}

// In memory of every size, from too small for a server to plenty.
#[test]
fn whoever_is_not_served_is_told() {
    let (mut refused, mut served, mut stuck, mut open, mut none) = (0, 0, 0, 0, 0);
    for bytes in (1_024..20_000).step_by(24) {
        for lines in [lines::legacy(), lines::modern()] {
            let whole: Vec<_> = lines.iter().map(|line| line.clone().into_bytes()).collect();
            let Some((sent, all, ended)) = play(bytes, &whole) else {
                none += 1;
                continue;
            };
            let answers = answers(&sent);
            assert!(answers.values().all(|&(results, errors)| results + errors == 1), "{answers:?}");
            if all {
                assert_eq!(
                    answers.len(),
                    lines.iter().filter(|line| line.contains("\"id\"")).count(),
                    "{bytes}: {sent}"
                );
            } else {
                stuck += 1;
            }
            open += usize::from(!ended);
            refused += answers.values().map(|count| count.1).sum::<usize>();
            served += answers.values().map(|count| count.0).sum::<usize>();
        }
    }
    println!("no server {none}, held up {stuck}, not ended {open}, served {served}, refused {refused}");
    assert!(served > 1_000 && refused > 1_000 && none > 100);
    // Beyond a size there is room for all.
    assert!(stuck + open < 100);
}

// Whatever is sent, in memory of every size.
#[test]
fn hostile_messages_break_nothing_where_memory_ends() {
    let (mut stuck, mut open, mut started) = (0, 0, 0);
    for mut random in Random::seeds(3_000) {
        let bytes = 2_048 + random.below(20_000);
        let lines = hostile(&mut random);
        if let Some((_, all, ended)) = play(bytes, &lines) {
            started += 1;
            stuck += usize::from(!all);
            open += usize::from(!ended);
        }
    }
    println!("started {started}, held up {stuck}, not ended {open}");
    assert!(started > 1_000 && stuck < started / 10);
}

// Many lines arrive in one piece, and the link takes a few bytes at once.
#[test]
fn pieces_of_many_lines_break_nothing_where_memory_ends() {
    let (mut stuck, mut started) = (0, 0);
    for mut random in Random::seeds(600) {
        let bytes = 2_048 + random.below(20_000);
        let mut lines = hostile(&mut random);
        lines.extend((0..random.below(40)).map(|_| b"1\n".to_vec()));
        let (stream, most, link) = (lines.concat(), 1 + random.below(3_000), 1 + random.below(40));
        let mut arena = Arena::new(bytes);
        within(&mut arena, || {
            let Some(mut host) = Host::start(bytes, false) else { return };
            host.link = link;
            let all = stream.chunks(most).all(|piece| host.piece(piece));
            host.end();
            outside(|| {
                started += 1;
                stuck += usize::from(!all);
            });
        });
        assert_eq!(arena.refused, 0, "an allocation failed in {bytes} bytes");
        assert_eq!(arena.live(), 0, "{bytes} bytes leak");
    }
    println!("started {started}, held up {stuck}");
    assert!(started > 200 && stuck < started / 10);
}

// With plenty of memory and small bounds, so that nothing is refused and all is measured.
#[test]
fn no_step_takes_more_than_it_says() {
    let mut taken = BTreeMap::new();
    let mut measure = |lines: &[Vec<u8>]| {
        let mut arena = Arena::new(256 << 10);
        within(&mut arena, || {
            let mut host = Host::start(SMALL, true).expect("there is room for a server");
            for line in lines {
                outside(|| host.taken.clear());
                assert!(host.line(line));
                outside(|| {
                    for (name, &(over, grown, needed)) in &host.taken {
                        let line = String::from_utf8_lossy(line);
                        assert!(over <= 0, "{name} takes {grown}, not {needed}: {line}");
                        let entry = taken.entry(*name).or_insert((over, grown, needed));
                        *entry = (*entry).max((over, grown, needed));
                    }
                });
            }
            assert!(host.end());
            outside(|| assert!(host.taken["settle"].0 <= 0, "{:?}", host.taken));
        });
    };
    let strange = [lines::legacy(), lines::strange(), lines::strange()].concat();
    for lines in [lines::legacy(), lines::modern(), strange, lines::strange()] {
        measure(&lines.into_iter().map(String::into_bytes).collect::<Vec<_>>());
    }
    for mut random in Random::seeds(2_000) {
        measure(&hostile(&mut random));
    }
    println!("{taken:#?}");
}

/// Lines of both eras, sound and otherwise.
fn hostile(random: &mut Random) -> Vec<Vec<u8>> {
    let sound = if random.below(2) == 0 { lines::legacy() } else { lines::modern() };
    let strange = lines::strange();
    let mut lines = vec![sound[0].clone().into_bytes()];
    for _ in 0..20 {
        let from = if random.below(3) == 0 { &strange } else { &sound };
        let line = random.pick(from).clone().into_bytes();
        let noise: Vec<u8> = (0..64).map(|_| random.number() as u8).collect();
        let mut line = if random.below(2) == 0 { line } else { mutate(&mut Choices::new(&noise), &line) };
        line.push(b'\n');
        lines.push(line);
    }
    lines
}
