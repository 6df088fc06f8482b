//! Writes `include/barewire.h` from the source; with `--check` it only says whether the file is up to date.

use std::path::Path;
use std::process::ExitCode;

/// What the header says first.
const PREAMBLE: &str = include_str!("preamble.txt");

/// What the header offers in C alone, after everything else.
const HELPERS: &str = include_str!("helpers.h");

/// Longest line of a declaration.
const LONGEST: usize = 110;

/// The parts of the header, by the functions that they begin with.
const PARTS: [(&str, &str); 22] = [
    ("bw_version", "Versions and numbers"),
    ("bw_server_new", "Servers: life, time, byte streams"),
    ("bw_server_add_tool", "Servers: what is offered"),
    ("bw_server_respond", "Servers: answers, questions, notices, sessions"),
    ("bw_server_config_new", "Servers: configuration"),
    ("bw_server_http_new", "Servers: HTTP"),
    ("bw_server_respond_text", "Servers: the commonest results"),
    ("bw_event_kind", "Events: members"),
    ("bw_event_revision", "Events: who sent a request, and what came with it"),
    ("bw_event_watches", "Events: lists"),
    ("bw_client_new", "Clients: life, time, byte streams"),
    ("bw_client_request", "Clients: requests, questions, subscriptions"),
    ("bw_client_config_new", "Clients: configuration"),
    ("bw_client_http_new", "Clients: HTTP"),
    ("bw_authorization_new", "Authorization: clients"),
    ("bw_authorization_config_new", "Authorization: configuration"),
    ("bw_resource_server_config_new", "Authorization: protected servers"),
    ("bw_child_shutdown_new", "The end of a child process"),
    ("bw_json_check", "JSON: readers"),
    ("bw_json_writer_init", "JSON: a writer"),
    ("bw_error_name", "Errors"),
    ("bw_revision_count", "Revisions, severities, capabilities"),
];

fn main() -> ExitCode {
    let check = std::env::args().nth(1).is_some_and(|argument| argument == "--check");
    match run(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

#[allow(clippy::disallowed_macros, reason = "a program")]
fn fail(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

fn run(check: bool) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no folder above")?;
    let header = header(folder)?;
    let place = folder.join("include/barewire.h");
    if !check {
        return std::fs::write(&place, header).map_err(|error| error.to_string());
    }
    if std::fs::read_to_string(&place).is_ok_and(|kept| kept == header) {
        return Ok(());
    }
    Err("include/barewire.h is not what the source says: run `make c-header`".into())
}

/// The text of the header.
fn header(folder: &Path) -> Result<String, String> {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_crate(folder)
        .with_header(PREAMBLE.trim_end())
        .with_after_include(version())
        .generate()
        .map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    let end = text.rfind("#endif  /* BAREWIRE_H */").ok_or("no include guard")?;
    let (body, guard) = text.split_at(end);
    let blocks: Vec<_> = body.split("\n\n").map(titled).collect();
    Ok(format!("{}{}\n\n{HELPERS}\n{guard}", blocks.join("\n\n").trim_end(), title("Texts")))
}

/// A block of the header, with its declarations on one line where they fit, and a title where a part begins.
fn titled(block: &str) -> String {
    let begins = |name: &str| block.contains(&format!(" {name}(")) || block.contains(&format!(" *{name}("));
    let part = PARTS.iter().find(|(first, _)| begins(first)).map(|(_, name)| title(name));
    let mut text = part.map(|part| part.trim_start().to_owned() + "\n\n").unwrap_or_default();
    text.push_str(&joined(block));
    text
}

fn title(name: &str) -> String {
    format!("\n\n/* ---- {name} {} */", "-".repeat(100 - name.len()))
}

/// Puts a declaration that was broken into lines on one, if it fits.
fn joined(block: &str) -> String {
    let Some(open) =
        block.lines().position(|line| line.starts_with(char::is_alphabetic) && line.ends_with(','))
    else {
        return block.to_owned();
    };
    let lines: Vec<_> = block.lines().collect();
    let declaration: Vec<_> = lines[open..].iter().map(|line| line.trim()).collect();
    let declaration = declaration.join(" ");
    if declaration.len() > LONGEST || !declaration.ends_with(");") {
        return block.to_owned();
    }
    let above: String = lines[..open].iter().flat_map(|line| [line, "\n"]).collect();
    above + &declaration
}

/// The version as macros.
fn version() -> String {
    let macros = [
        ("/** The version of this header; compare what `bw_version` gives. */", ""),
        ("#define BW_VERSION ", concat!("\"", env!("CARGO_PKG_VERSION"), "\"")),
        ("#define BW_VERSION_MAJOR ", env!("CARGO_PKG_VERSION_MAJOR")),
        ("#define BW_VERSION_MINOR ", env!("CARGO_PKG_VERSION_MINOR")),
        ("#define BW_VERSION_PATCH ", env!("CARGO_PKG_VERSION_PATCH")),
        ("/** The version of this header as one number; compare what `bw_version_number` gives. */", ""),
        ("#define BW_VERSION_NUMBER ", "(BW_VERSION_MAJOR << 16 | BW_VERSION_MINOR << 8 | BW_VERSION_PATCH)"),
    ];
    macros.iter().fold(String::new(), |text, (name, value)| text + "\n" + name + value)
}
