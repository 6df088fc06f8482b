//! The rules of the layout that the compiler does not check: who imports whom, sizes, words with one home.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One layer of `core/src`: its modules may name the layers up to `below`, and the extra paths.
struct Layer {
    modules: &'static [&'static str],
    below: usize,
    also: &'static [&'static str],
}

/// Lowest first. Modules of one layer do not know each other; `lib.rs` knows all.
const LAYERS: [Layer; 9] = [
    // 0: values that know nothing of ours.
    Layer {
        modules: &["json", "limits", "memory", "seed", "sorted", "time", "trace", "uri", "uri_template"],
        below: 0,
        also: &[],
    },
    // 1: envelopes.
    Layer { modules: &["jsonrpc"], below: 1, also: &[] },
    // 2: what the revisions say, and typed values of it.
    Layer { modules: &["model", "revision"], below: 2, also: &[] },
    // 3: errors name revisions and capabilities.
    Layer { modules: &["error"], below: 3, also: &[] },
    // 4: the words roles and transports share.
    Layer { modules: &["cache", "logging", "machine", "mirror"], below: 4, also: &[] },
    // 5: the parts both roles are made of.
    Layer {
        modules: &["config", "pending", "queues", "request_state", "rounds", "session", "subscription"],
        below: 5,
        also: &[],
    },
    // 6: the roles, which do not know each other.
    Layer { modules: &["client", "server"], below: 6, also: &[] },
    // 7: transports, generic over the role.
    Layer { modules: &["transport"], below: 5, also: &["config"] },
    // 8: authorization, which exchanges HTTP values and knows no message.
    Layer { modules: &["auth"], below: 1, also: &["error", "revision::Revision", "transport::http"] },
];

/// Longest source file, in lines.
const LONGEST_FILE: usize = 800;

/// What counts as a source file.
const SOURCE_EXTENSIONS: [&str; 11] =
    ["rs", "py", "pyi", "sh", "js", "mjs", "ts", "mts", "kt", "rb", "swift"];

/// Folders without files of ours, beside hidden ones; in `esm` lies what is made of the sources for Node.
const SKIPPED_FOLDERS: [&str; 8] =
    ["target", "corpus", "artifacts", "node_modules", "__pycache__", "dist", "esm", "build"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A text file of the repository.
struct File {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl File {
    fn is_source(&self) -> bool {
        let extension = Path::new(&self.path).extension().unwrap_or_default().to_string_lossy();
        SOURCE_EXTENSIONS.contains(&extension.as_ref())
    }

    /// Unit tests of the core in a file of their own; they may name and quote what they like.
    fn is_unit_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    fn is_rust_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder) && self.path.ends_with(".rs")
    }

    /// The lines without `//` comments, numbered from one.
    fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, without_comment(line)))
    }
}

/// Cuts a line at `//`, unless that follows a colon as in a URL.
fn without_comment(line: &str) -> &str {
    let mut from = 0;
    while let Some(found) = line[from..].find("//") {
        let at = from + found;
        if at == 0 || line.as_bytes()[at - 1] != b':' {
            return &line[..at];
        }
        from = at + 2;
    }
    line
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') && name != ".ci" {
            continue;
        }
        if path.is_dir() {
            if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                collect(&path, files);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            files.push(File { path, text });
        }
    }
}

/// Every text file of the repository, in order of path.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    collect(&root(), &mut files);
    assert!(files.iter().any(|file| file.path == "core/src/lib.rs"), "the walk starts at the root");
    files
}

fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}: {faults:#?}");
}

/// The module of `core/src` that a file belongs to: `core/src/client/event.rs` to `client`.
fn module_of(path: &str) -> &str {
    let inside = path.strip_prefix("core/src/").unwrap();
    inside.split(['/', '.']).next().unwrap()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.modules.contains(&module))
}

/// How many `super::` lead from a file to the crate root: one for `core/src/time.rs` and `core/src/client/mod.rs`.
fn depth_of(path: &str) -> usize {
    path.matches('/').count() - 1 - usize::from(path.ends_with("/mod.rs"))
}

/// Every path below the crate root that the code names, with the groups of `use crate::{a, b::c}` taken apart.
///
/// A chain of `super::` that reaches the root is followed when a module of [`LAYERS`] comes after it.
fn crate_paths(code: &str, depth: usize) -> Vec<String> {
    let mut paths = paths_after("crate::", code);
    let to_root = "super::".repeat(depth);
    paths.extend(paths_after(&to_root, code).into_iter().filter(|path| layer_of(first_name(path)).is_some()));
    paths
}

fn paths_after(prefix: &str, code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => paths.extend(group_members(group)),
            None => paths.push(leading_path(rest).to_owned()),
        }
    }
    paths
}

fn first_name(path: &str) -> &str {
    path.split("::").next().unwrap()
}

fn leading_path(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    text[..end].trim_end_matches(':')
}

fn group_members(group: &str) -> Vec<String> {
    let mut members = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                members.push(leading_path(group[start..at].trim_start()).to_owned());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members.retain(|member| !member.is_empty());
    members
}

/// Whether `importer` may name `path` (below `crate::`).
fn may_import(importer: &str, path: &str) -> Result<bool, String> {
    let target = first_name(path);
    if importer == "lib" || importer == target {
        return Ok(true);
    }
    let layer = layer_of(importer).ok_or_else(|| format!("{importer} is in no layer of this table"))?;
    let layer = &LAYERS[layer];
    if layer.also.iter().any(|also| path == *also || path.starts_with(&format!("{also}::"))) {
        return Ok(true);
    }
    match layer_of(target) {
        Some(target) => Ok(target < layer.below),
        None => Err(format!("crate::{path} is not a path into a module of this table; name its module")),
    }
}

#[test]
fn modules_import_only_what_their_layer_allows() {
    let mut faults = BTreeSet::new();
    for file in files().iter().filter(|file| file.is_rust_below("core/src/") && !file.is_unit_test()) {
        let importer = module_of(&file.path);
        let code: String = file.code_lines().map(|(_, line)| format!("{line}\n")).collect();
        for path in crate_paths(&code, depth_of(&file.path)) {
            match may_import(importer, &path) {
                Ok(true) => {}
                Ok(false) => {
                    faults.insert(format!("{}: may not import crate::{path}", file.path));
                }
                Err(fault) => {
                    faults.insert(format!("{}: {fault}", file.path));
                }
            }
        }
    }
    assert_none("imports inside the core", &faults.into_iter().collect::<Vec<_>>());
}

#[test]
fn the_import_rules_can_fail() {
    assert_eq!(may_import("client", "machine::Input"), Ok(true));
    assert_eq!(may_import("client", "client::event::Event"), Ok(true));
    assert_eq!(may_import("client", "server::Event"), Ok(false));
    assert_eq!(may_import("transport", "client::Client"), Ok(false));
    assert_eq!(may_import("transport", "machine::Machine"), Ok(true));
    assert_eq!(may_import("auth", "transport::http::HttpRequest"), Ok(true));
    assert_eq!(may_import("auth", "transport::stdio::Stdio"), Ok(false));
    assert!(may_import("client", "Event").is_err());
    assert!(may_import("nowhere", "json").is_err());
    let code =
        "use crate::{json::{Json, scan}, error::Error, time};\nlet x = crate::limits::Limits::DEFAULT;";
    assert_eq!(crate_paths(code, 1), ["json", "error::Error", "time", "limits::Limits::DEFAULT"]);
    let code = "use super::super::{server::Event, Verb};\nuse super::event::Event;";
    assert_eq!(crate_paths(code, depth_of("core/src/client/legacy.rs")), ["server::Event"]);
    assert_eq!(crate_paths("use super::error::Error;", depth_of("core/src/client/mod.rs")), ["error::Error"]);
    assert_eq!(without_comment("let url = \"https://a\"; // crate::server"), "let url = \"https://a\"; ");
}

#[test]
fn the_core_is_no_std_and_safe() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is_rust_below("core/")) {
        for (number, line) in file.code_lines() {
            let words: BTreeSet<_> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            if words.contains("unsafe") {
                faults.push(format!("{}:{number}", file.path));
            }
        }
        if file.path == "core/src/lib.rs" {
            for attribute in ["#![no_std]", "#![forbid(unsafe_code)]", "#![deny(missing_docs)]"] {
                assert!(file.text.contains(attribute), "{}: lost {attribute}", file.path);
            }
        }
    }
    assert_none("unsafe code in the core", &faults);
}

#[test]
fn only_the_c_interface_has_unsafe_blocks() {
    let mut faults = Vec::new();
    let bindings = ["bindings-python/", "bindings-node/", "bindings-uniffi/"];
    for file in files().iter().filter(|file| bindings.iter().any(|folder| file.is_rust_below(folder))) {
        for (number, line) in file.code_lines().filter(|(_, line)| line.contains("unsafe {")) {
            faults.push(format!("{}:{number}: {}", file.path, line.trim()));
        }
    }
    assert_none("unsafe blocks outside the C interface", &faults);
}

#[test]
fn source_files_are_short() {
    let faults: Vec<_> = files()
        .iter()
        .filter(|file| file.is_source())
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    assert_none("longer than 800 lines", &faults);
}

/// A word that may appear in the code (not the comments) of some files only.
struct Home {
    words: &'static [&'static str],
    /// Where the rule holds.
    within: &'static [&'static str],
    /// Where the word is at home.
    except: &'static [&'static str],
    why: &'static str,
}

const HOMES: [Home; 3] = [
    Home {
        words: &["\"2024-", "\"2025-", "\"2026-"],
        within: &[
            "core/src/",
            "bindings-c/src/",
            "bindings-python/src/",
            "bindings-python/python/",
            "bindings-node/native/",
            "bindings-node/src/",
            "bindings-uniffi/src/",
        ],
        except: &["core/src/revision/"],
        why: "a revision literal outside core/src/revision",
    },
    Home {
        words: &["\"Mcp-", "\"mcp-", "\"MCP-"],
        within: &[
            "core/src/",
            "bindings-c/src/",
            "bindings-python/src/",
            "bindings-python/python/",
            "bindings-node/native/",
            "bindings-node/src/",
            "bindings-uniffi/src/",
        ],
        // The second names in errors what the first reads and writes.
        except: &["core/src/transport/http/headers.rs", "core/src/server/headers.rs"],
        why: "a header name outside the two files of headers",
    },
    Home {
        words: &[
            "\"completion/",
            "\"elicitation/",
            "\"initialize\"",
            "\"logging/",
            "\"notifications/",
            "\"ping\"",
            "\"prompts/",
            "\"resources/",
            "\"roots/",
            "\"sampling/",
            "\"server/",
            "\"subscriptions/",
            "\"tools/",
        ],
        within: &[
            "bindings-c/src/",
            "bindings-python/src/",
            "bindings-python/python/",
            "bindings-node/native/",
            "bindings-node/src/",
            "bindings-uniffi/src/",
        ],
        except: &[],
        why: "a method name in a binding",
    },
];

#[test]
fn words_stay_in_their_home() {
    let mut faults = Vec::new();
    for file in &files() {
        for home in &HOMES {
            let inside = home.within.iter().any(|folder| file.path.starts_with(folder));
            if !inside || file.is_unit_test() || home.except.iter().any(|place| file.path.starts_with(place))
            {
                continue;
            }
            for (number, line) in code_before_tests(file) {
                if let Some(word) = home.words.iter().find(|word| line.contains(**word)) {
                    faults.push(format!("{}:{number}: {word}…: {}", file.path, home.why));
                }
            }
        }
    }
    assert_none("words that have one home", &faults);
}

/// The code of a file up to its `#[cfg(test)]` module, which may quote what it likes.
fn code_before_tests(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.code_lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]")
}

#[test]
fn no_file_names_a_registry_or_this_machine() {
    // Put together here, so that this file does not hold them.
    let hosts =
        [["crates", ".io"], ["pypi", ".org"], ["pythonhosted", ".org"], ["npmjs", ".org"], ["npmjs", ".com"]];
    let places = [["/wo", "rk/"], ["/ro", "ot/"]];
    let words: Vec<String> = hosts.iter().chain(&places).map(|parts| parts.concat()).collect();
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| !file.path.ends_with("Cargo.lock")) {
        for (number, line) in file.text.lines().enumerate() {
            // `.work/` is a folder of the checkout.
            let line = line.replace(concat!(".wo", "rk/"), "");
            if let Some(word) = words.iter().find(|word| line.contains(word.as_str())) {
                faults.push(format!("{}:{}: {word}", file.path, number + 1));
            }
        }
    }
    assert_none("a registry host or a path of one machine", &faults);
}
