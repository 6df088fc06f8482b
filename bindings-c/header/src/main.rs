//! Writes `include/barewire.h` from the source; with `--check` it only says whether the file is up to date.

use std::path::Path;
use std::process::ExitCode;

/// What the header says first.
const PREAMBLE: &str = include_str!("preamble.txt");

/// What the header offers in C alone, after everything else.
const HELPERS: &str = include_str!("helpers.h");

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
    Ok(format!("{body}{HELPERS}\n{guard}"))
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
