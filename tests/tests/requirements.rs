//! Every `MUST` of the specification that is in scope is proved by a test or listed as unproved with its reason.
//!
//! The files and the form of a proof are described in `tests/requirements/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use barewire_tests::vectors::Vector;

/// Reason given to rows that `UPDATE_UNPROVED` adds to the list.
const NOT_YET: &str = "not proved yet";

/// Where proofs are looked for, from the root of the repository.
const SOURCES: [&str; 3] = ["core/src", "tests", "bindings-python/tests"];

/// What holds no sources of ours.
const SKIPPED_FOLDERS: [&str; 6] = ["target", "corpus", "artifacts", "node_modules", "__pycache__", ".work"];

/// Extension of a source file and how a comment line begins in it.
const COMMENTS: [(&str, &str); 6] =
    [("rs", "//"), ("js", "//"), ("mjs", "//"), ("ts", "//"), ("py", "#"), ("sh", "#")];

struct Row {
    area: String,
    level: String,
}

impl Row {
    /// Whether an unproved row of this level has to be listed with a reason.
    fn is_mandatory(&self) -> bool {
        self.level == "MUST" || self.level == "MUST NOT"
    }
}

type Rows = BTreeMap<String, Row>;

/// Id to the `file:line` places that claim to prove it.
type Proofs = BTreeMap<String, Vec<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn folder() -> PathBuf {
    root().join("tests/requirements")
}

/// The lines below the heading, split at tabs; panics unless each has as many fields as the heading.
fn read_table(file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let heading = lines.next().unwrap_or_default();
    let rows: Vec<_> = lines.collect();
    for row in &rows {
        assert_eq!(row.len(), heading.len(), "{file}: wrong number of fields in {row:?}");
    }
    rows
}

fn read_rows() -> Rows {
    let mut rows = Rows::new();
    for file in ["requirements-base.tsv", "requirements-features.tsv"] {
        for row in read_table(file) {
            let [id, area, _role, level, _revisions, _requirement, _page] =
                <[String; 7]>::try_from(row).unwrap();
            assert!(!rows.contains_key(&id), "{file}: {id} stands twice");
            rows.insert(id, Row { area, level });
        }
    }
    rows
}

/// The ids that `scope.tsv` takes out of scope; an entry that matches nothing is an error.
fn read_out_of_scope(rows: &Rows) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for entry in read_table("scope.tsv") {
        let (what, reason) = (&entry[0], &entry[1]);
        let matched: Vec<_> = match what.split_once("..") {
            Some((first, last)) => {
                rows.range(first.to_owned()..=last.to_owned()).map(|(id, _)| id.clone()).collect()
            }
            None => rows
                .iter()
                .filter(|(id, row)| *id == what || row.area == *what)
                .map(|(id, _)| id.clone())
                .collect(),
        };
        assert!(!matched.is_empty(), "scope.tsv: {what} is neither an area nor an id");
        assert!(!reason.trim().is_empty(), "scope.tsv: {what} has no reason");
        out.extend(matched);
    }
    out
}

fn read_unproved() -> BTreeMap<String, String> {
    let mut listed = BTreeMap::new();
    for row in read_table("unproved.tsv") {
        let previous = listed.insert(row[0].clone(), row[1].clone());
        assert!(previous.is_none(), "unproved.tsv: {} stands twice", row[0]);
    }
    listed
}

fn visit(path: &Path, proofs: &mut Proofs) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if !(entry.is_dir() && SKIPPED_FOLDERS.contains(&name.as_str())) {
                visit(&entry, proofs);
            }
        }
        return;
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    if extension == "jsonl" {
        return visit_vectors(path, proofs);
    }
    let Some((_, comment)) = COMMENTS.iter().find(|(known, _)| *known == extension) else { return };
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (number, line) in text.lines().enumerate() {
        let Some(ids) = line
            .trim_start()
            .strip_prefix(comment)
            .and_then(|rest| rest.trim_start().strip_prefix("proves:"))
        else {
            continue;
        };
        let place = format!("{}:{}", path.strip_prefix(root()).unwrap().display(), number + 1);
        for id in ids.split([' ', ',']).filter(|id| !id.is_empty()) {
            proofs.entry(id.to_owned()).or_default().push(place.clone());
        }
    }
}

/// Takes in what vectors prove. One that is known to fail proves nothing.
fn visit_vectors(path: &Path, proofs: &mut Proofs) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.strip_prefix(root()).unwrap().display(), number + 1);
        let vector = Vector::read(line).unwrap_or_else(|error| panic!("{place}: {error}"));
        for id in vector.proves.into_iter().filter(|_| vector.fault.is_none()) {
            proofs.entry(id).or_default().push(place.clone());
        }
    }
}

fn read_proofs() -> Proofs {
    let mut proofs = Proofs::new();
    for source in SOURCES {
        let path = root().join(source);
        if path.exists() {
            visit(&path, &mut proofs);
        }
    }
    proofs
}

/// Rows that have to be in `unproved.tsv`, no more and no fewer.
fn must_be_listed(rows: &Rows, out: &BTreeSet<String>, proofs: &Proofs) -> BTreeSet<String> {
    rows.iter()
        .filter(|(id, row)| row.is_mandatory() && !out.contains(*id) && !proofs.contains_key(*id))
        .map(|(id, _)| id.clone())
        .collect()
}

fn write_unproved(expected: &BTreeSet<String>, listed: &BTreeMap<String, String>) {
    let mut text = String::from("id\treason\n");
    for id in expected {
        let reason = listed.get(id).map_or(NOT_YET, String::as_str);
        writeln!(text, "{id}\t{reason}").unwrap();
    }
    fs::write(folder().join("unproved.tsv"), text).unwrap();
}

#[test]
fn proofs_name_rows_that_exist() {
    let rows = read_rows();
    let unknown: Vec<_> = read_proofs()
        .into_iter()
        .filter(|(id, _)| !rows.contains_key(id))
        .map(|(id, places)| format!("{id} in {}", places.join(", ")))
        .collect();
    assert!(unknown.is_empty(), "no such requirement: {unknown:#?}");
}

#[test]
fn every_mandatory_row_in_scope_is_proved_or_listed() {
    let rows = read_rows();
    let out = read_out_of_scope(&rows);
    let proofs = read_proofs();
    let listed = read_unproved();
    let expected = must_be_listed(&rows, &out, &proofs);
    if std::env::var_os("UPDATE_UNPROVED").is_some() {
        write_unproved(&expected, &listed);
        return;
    }
    let mut faults = Vec::new();
    for id in expected.iter().filter(|id| !listed.contains_key(*id)) {
        faults.push(format!("{id}: no test proves it and unproved.tsv does not list it"));
    }
    for (id, reason) in &listed {
        if let Some(places) = proofs.get(id) {
            faults.push(format!("{id}: listed as unproved, but proved in {}", places.join(", ")));
        } else if !expected.contains(id) {
            faults.push(format!("{id}: listed as unproved, but not a mandatory row in scope"));
        } else if reason.trim().is_empty() {
            faults.push(format!("{id}: listed as unproved without a reason"));
        }
    }
    assert!(faults.is_empty(), "see tests/requirements/README.md: {faults:#?}");
}

/// Rows in scope and how many of them are proved.
#[derive(Clone, Copy, Default)]
struct Tally {
    in_scope: usize,
    proved: usize,
}

impl Tally {
    fn add(&mut self, proved: bool) {
        self.in_scope += 1;
        self.proved += usize::from(proved);
    }
}

/// `make requirements` shows what this prints.
#[test]
#[expect(clippy::disallowed_macros, reason = "the table is for the reader of the test's output")]
fn table_of_proved_rows() {
    let rows = read_rows();
    let out = read_out_of_scope(&rows);
    let proofs = read_proofs();
    let levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"];
    let mut areas: BTreeMap<&str, [Tally; 5]> = BTreeMap::new();
    let mut total = [Tally::default(); 5];
    for (id, row) in rows.iter().filter(|(id, _)| !out.contains(*id)) {
        let level = levels.iter().position(|level| *level == row.level).expect("a known level");
        let proved = proofs.contains_key(id);
        areas.entry(&row.area).or_default()[level].add(proved);
        total[level].add(proved);
    }
    let cell = |tally: &Tally| match tally.in_scope {
        0 => format!("{:>11}", "-"),
        in_scope => format!("{:>11}", format!("{}/{in_scope}", tally.proved)),
    };
    let line = |name: &str, tallies: &[Tally; 5]| {
        println!("{name:<16}{}", tallies.iter().map(cell).collect::<String>());
    };
    println!("\nproved/in scope\n{:<16}{}", "area", levels.map(|level| format!("{level:>11}")).concat());
    for (area, tallies) in &areas {
        line(area, tallies);
    }
    line("total", &total);
    let in_scope: usize = total.iter().map(|tally| tally.in_scope).sum();
    let proved: usize = total.iter().map(|tally| tally.proved).sum();
    println!("{} rows, {in_scope} in scope, {proved} proved, {} out of scope\n", rows.len(), out.len());
    assert_eq!(in_scope + out.len(), rows.len());
}
